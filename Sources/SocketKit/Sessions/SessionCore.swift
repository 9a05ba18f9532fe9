import SocketCore

/// What every session is from its beginning to its end.
struct SessionCore {
    let id: SocketID
    /// A cycle, which ends with the session: a reference that is not counted here would be at every use.
    let engine: EngineState
    let opened: MonotonicTime

    init(_ id: SocketID, of engine: EngineState) {
        (self.id, self.engine) = (id, engine)
        opened = engine.now
    }
}

/// What every session has told its engine. It is not part of the core: if that could change, each use of its reference to
/// the engine would be counted.
struct SessionMarks {
    /// When the engine wakes it; none: at no time.
    var deadline = PackedTime()
    /// Whether it is among the sessions that changed since viewers were last told.
    var isNoted = false
}

/// A session of any kind. `Session` says which kinds there are; this is what they have in common.
protocol EngineSession: AnyObject {
    var core: SessionCore { get }
    var marks: SessionMarks { get set }
    /// Nothing has passed since it was last looked at until now: what passes next is measured from here.
    func recordIdle()
}

extension EngineSession {
    @inline(__always)
    var id: SocketID { core.id }

    @inline(__always)
    var engine: EngineState { core.engine }

    @inline(__always)
    var opened: MonotonicTime { core.opened }

    /// Notes, where anybody wants to be told, that this session looks different.
    func noteForViewers() {
        guard !marks.isNoted, engine.takesNotes else { return }
        marks.isNoted = true
        recordIdle()
        engine.note(id)
    }

    /// Asks to be woken then, if it is not earlier.
    @inline(__always)
    func wake(by deadline: MonotonicTime) {
        if marks.deadline.value.map({ deadline < $0 }) ?? true { wake(at: deadline) }
    }

    /// Asks to be woken then, and not before.
    @inline(__always)
    func wake(at deadline: MonotonicTime) {
        // In this order: the engine may ask at once.
        marks.deadline = PackedTime(deadline)
        engine.schedule(deadline, for: id)
    }

    /// Takes the deadline that has come. False if none has: the engine came for one that has moved closer since.
    func takeDeadline() -> Bool {
        guard let due = marks.deadline.value, due <= engine.now else { return false }
        marks.deadline = PackedTime()
        return true
    }
}
