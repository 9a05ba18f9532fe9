import Glibc
import SocketCore
import Synchronization

/// How a delegate's queue asks for much and wakes nobody: the thread that runs a batch of callbacks gathers what they ask
/// of the engine, and enters the engine with it when the batch is done. A callback may block, though, so all that was
/// gathered is carried out by a timer if that takes longer than a moment; and there is no gathering without the timer.
extension EngineState {
    /// How long what was gathered may have to wait.
    private static let watchTime = Duration.milliseconds(1)

    /// The end of a turn: where callbacks went to another queue, pumps may gather for a while.
    func beginWatch() {
        guard mailbox.takePumped(), watchDeadline == nil else { return }
        watchDeadline = now + Self.watchTime
        mailbox.watch(true)
    }

    /// The beginning of a turn: whoever still gathers has taken too long.
    func endWatch() {
        guard let watchDeadline, watchDeadline <= now else { return }
        self.watchDeadline = nil
        mailbox.watch(false)
    }

    /// When the timer has to come.
    var earliestDeadline: MonotonicTime? {
        guard let watchDeadline else { return deadlines.earliest }
        return deadlines.earliest.map { min($0, watchDeadline) } ?? watchDeadline
    }
}

extension SocketEngine {
    /// Callbacks went to another queue.
    func hasPumped() { mailbox.pumped() }

    /// Whether what this thread posts from now on waits until `endGathering`; not on the engine's own queue, where
    /// nobody need be woken.
    func beginGathering() -> Bool { !isOnQueue && mailbox.beginGathering() }

    /// Carries out what was gathered, on this thread, unless it was carried out already.
    func endGathering() {
        guard mailbox.endGathering() else { return }
        enterTurn()
    }
}
