import SocketCore

/// The fields that an engine uses in every turn, checked in debug builds only, as those of `ConnectionStorage` are.
///
/// Proof: as there. A queue is emptied one element at a time, or swapped out whole, so that user code which runs for an element
/// can add to it. `leaving` and `ended` are cleared while the deinitializers of user values run: only `releaseRetired` uses
/// them, and it asserts that no user code is running.
class EngineStorage {
    #if DEBUG
    final var sessions = SessionTable<Session>()
    final var closed: ClosedSockets
    final var ring: EventRing
    final var meter = EngineMeter()
    final var deadlines = DeadlineHeap()
    /// Connections whose writes were queued in this turn. They are flushed together at its end.
    final var unflushed: [Connection] = []
    /// The connections being flushed. Kept between flushes for its memory.
    final var flushing: [Connection] = []
    /// Connections with a queued read for bytes that the last receive left in the kernel.
    final var unreceived: [Connection] = []
    /// The connections that receive now. Kept between turns for its memory.
    final var receiving: [Connection] = []
    /// Callbacks to make once all state is settled.
    final var outbox = Outbox()
    /// Handles retained until the outbox is empty.
    final var retainedHandles: [RetainedHandle] = []
    /// Ended sessions, and user values. They must not be destroyed before the end of the turn.
    final var retired: [AnyObject] = []
    /// The handles and objects being released. Kept between releases for their memory.
    final var leaving: [RetainedHandle] = []
    final var ended: [AnyObject] = []
    /// Jobs taken from the mailbox, and those already performed. The user values in them must not be destroyed within a step.
    final var jobs = MoveQueue<EngineJob>()
    final var doneJobs = MoveQueue<EngineJob>()
    /// Readiness reports that a turn had no budget for.
    final var unseen: [Readiness] = []
    /// Memory of large messages that were sent, reused for received ones.
    final var spares = LargeArrayPool()
    /// Memory of completed short reads and writes, reused for later reads.
    final var shorts = ShortArrayPool()
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
    @exclusivity(unchecked) final var retainedHandles: [RetainedHandle] = []
    @exclusivity(unchecked) final var retired: [AnyObject] = []
    @exclusivity(unchecked) final var leaving: [RetainedHandle] = []
    @exclusivity(unchecked) final var ended: [AnyObject] = []
    @exclusivity(unchecked) final var jobs = MoveQueue<EngineJob>()
    @exclusivity(unchecked) final var doneJobs = MoveQueue<EngineJob>()
    @exclusivity(unchecked) final var unseen: [Readiness] = []
    @exclusivity(unchecked) final var spares = LargeArrayPool()
    @exclusivity(unchecked) final var shorts = ShortArrayPool()
    #endif

    init(closed: ClosedSockets, ring: consuming EventRing) {
        self.closed = closed
        self.ring = ring
    }
}
