import Glibc
import SocketCore
import Synchronization

/// How a delegate's queue makes many requests without waking a thread. The thread that runs a batch of callbacks
/// gathers their requests, and enters the engine with them when the batch is done. A callback may block, so a timer
/// carries out what was gathered if that takes longer than a moment. Without the timer, nothing is gathered.
extension EngineState {
    /// How long gathered requests may have to wait.
    private static let watchTime = Duration.milliseconds(1)

    /// Called at the end of a turn. If callbacks were sent to another queue, pumps may gather for a while.
    func beginWatch() {
        guard mailbox.takePumped(), watchDeadline == nil else { return }
        watchDeadline = now + Self.watchTime
        mailbox.watch(true)
    }

    /// Called at the start of a turn. A pump that still gathers has taken too long.
    func endWatch() {
        guard let watchDeadline, watchDeadline <= now else { return }
        self.watchDeadline = nil
        mailbox.watch(false)
    }

    /// When the timer must fire.
    var earliestDeadline: MonotonicTime? {
        guard let watchDeadline else { return deadlines.earliest }
        return deadlines.earliest.map { min($0, watchDeadline) } ?? watchDeadline
    }
}

extension SocketEngine {
    /// Notes that callbacks were sent to another queue.
    func hasPumped() { mailbox.pumped() }

    /// Returns whether this thread's posts wait from now on until `endGathering`. They don't on the engine's own queue,
    /// where no thread needs waking.
    func beginGathering() -> Bool { !isOnQueue && mailbox.beginGathering() }

    /// Carries out what was gathered on this thread, unless that was done already.
    func endGathering() {
        guard mailbox.endGathering() else { return }
        enterTurn()
    }
}
