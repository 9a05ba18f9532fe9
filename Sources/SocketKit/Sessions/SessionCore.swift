import SocketCore

/// What stays the same for a session's whole life.
struct SessionCore {
    let id: SocketID
    /// Strong, because any other reference would be counted at every use. The cycle ends with the session.
    let engine: EngineState
    let opened: MonotonicTime

    init(_ id: SocketID, of engine: EngineState) {
        (self.id, self.engine) = (id, engine)
        opened = engine.now
    }
}

/// What a session has reported to its engine. It is not part of the core: if the core could change, each use of its
/// reference to the engine would be counted.
struct SessionMarks {
    /// When the engine wakes the session. Empty for never.
    var deadline = PackedTime()
    /// Whether the session is among those that changed since the last update to viewers.
    var isNoted = false
}

/// What all kinds of sessions have in common. `Session` lists the kinds.
protocol EngineSession: AnyObject {
    var core: SessionCore { get }
    var marks: SessionMarks { get set }
    /// Records that nothing has passed since the last sample, so that what passes next is measured from now.
    func recordIdle()
}

extension EngineSession {
    @inline(__always)
    var id: SocketID { core.id }

    @inline(__always)
    var engine: EngineState { core.engine }

    @inline(__always)
    var opened: MonotonicTime { core.opened }

    /// Notes a change of this session if there are viewers to update.
    func noteForViewers() {
        guard !marks.isNoted, engine.takesNotes else { return }
        marks.isNoted = true
        recordIdle()
        engine.note(id)
    }

    /// Schedules a wake-up, unless an earlier one is scheduled.
    @inline(__always)
    func wake(by deadline: MonotonicTime) {
        if marks.deadline.value.map({ deadline < $0 }) ?? true { wake(at: deadline) }
    }

    /// Schedules a wake-up at `deadline` and not before.
    @inline(__always)
    func wake(at deadline: MonotonicTime) {
        // Set this first, because the engine may read it at once.
        marks.deadline = PackedTime(deadline)
        engine.schedule(deadline, for: id)
    }

    /// Clears the deadline if it has passed. Returns false if it has not, as when an earlier one replaced it.
    func takeDeadline() -> Bool {
        guard let due = marks.deadline.value, due <= engine.now else { return false }
        marks.deadline = PackedTime()
        return true
    }
}
