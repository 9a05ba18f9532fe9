import SocketCore

/// What an engine reaches within each turn. It is looked at as `ConnectionStorage` is, for the same reasons.
///
/// Proof: as there. A queue is emptied by taking one element after the other, or by taking the whole queue out, so that what
/// an element leads to may add to it.
class EngineStorage {
    #if DEBUG
    final var sessions = SessionTable<Session>()
    final var closed: ClosedSockets
    final var ring: EventRing
    final var meter = EngineMeter()
    final var deadlines = DeadlineHeap()
    /// Connections with writes that were queued in this turn: flushed together at its end.
    final var unflushed: [Connection] = []
    /// Those that are being flushed; between two times only its memory is of use.
    final var flushing: [Connection] = []
    /// Connections with reads for what the last receive left in the kernel.
    final var unreceived: [Connection] = []
    /// Those that receive right now; between two times only its memory is of use.
    final var receiving: [Connection] = []
    /// Callbacks to run when all state is settled.
    final var outbox = Outbox()
    /// Handles that are held until the outbox is empty.
    final var holding: [HeldHandle] = []
    /// Sessions that are over: what users gave them must not be destroyed before the turn has come to its end.
    final var retired: [AnyObject] = []
    /// Those of both that are let go of right now; between two times only their memory is of use.
    final var leaving: [HeldHandle] = []
    final var ended: [AnyObject] = []
    /// Jobs that were taken out of the mailbox, and those of them that are carried out: what users gave with them must not
    /// be destroyed in the midst of a step.
    final var jobs = MoveQueue<EngineJob>()
    final var doneJobs = MoveQueue<EngineJob>()
    /// Reports that a turn left over.
    final var unseen: [Readiness] = []
    /// Memory of large messages that went out, for those that come.
    final var spares = SpareArrays()
    /// Memory of short reads and writes that are done, for reads that follow.
    final var shorts = ShortArrays()
    #else
    @exclusivity(unchecked) final var sessions = SessionTable<Session>()
    @exclusivity(unchecked) final var closed: ClosedSockets
    @exclusivity(unchecked) final var ring: EventRing
    @exclusivity(unchecked) final var meter = EngineMeter()
    @exclusivity(unchecked) final var deadlines = DeadlineHeap()
    @exclusivity(unchecked) final var unflushed: [Connection] = []
    @exclusivity(unchecked) final var flushing: [Connection] = []
    @exclusivity(unchecked) final var unreceived: [Connection] = []
    @exclusivity(unchecked) final var receiving: [Connection] = []
    @exclusivity(unchecked) final var outbox = Outbox()
    @exclusivity(unchecked) final var holding: [HeldHandle] = []
    @exclusivity(unchecked) final var retired: [AnyObject] = []
    @exclusivity(unchecked) final var leaving: [HeldHandle] = []
    @exclusivity(unchecked) final var ended: [AnyObject] = []
    @exclusivity(unchecked) final var jobs = MoveQueue<EngineJob>()
    @exclusivity(unchecked) final var doneJobs = MoveQueue<EngineJob>()
    @exclusivity(unchecked) final var unseen: [Readiness] = []
    @exclusivity(unchecked) final var spares = SpareArrays()
    @exclusivity(unchecked) final var shorts = ShortArrays()
    #endif

    init(closed: ClosedSockets, ring: consuming EventRing) {
        self.closed = closed
        self.ring = ring
    }
}
