import Glibc
import InspectorShell
import SocketKit

/// The end of a run without a screen: the signal that ends it, and how long it may take.
struct Farewell {
    /// The signal that ends the run.
    private(set) var signal: Int32?
    /// When the run gives up on sockets that do not close and on a reader that accepts nothing, once it is ending.
    private(set) var end: ContinuousClock.Instant?
    /// Whether the last snapshots are being taken.
    private(set) var isClosing = false
    /// Whether a signal was passed to the running program.
    private var hasPassed = false

    /// How long the run takes to end: its sockets to close, and its reader to accept the last lines. The reader has
    /// `reading` of that at least.
    static let patience = Duration.milliseconds(900)
    static let reading = Duration.milliseconds(300)

    mutating func close() { (isClosing, end) = (true, end ?? .now + Self.patience) }

    /// Begins anew, because a program that was stopped has its last words. Returns when it ends.
    @discardableResult
    mutating func extend() -> ContinuousClock.Instant {
        let end = ContinuousClock.now + Self.patience
        self.end = end
        return end
    }

    /// Gives the reader its time after the last snapshots.
    mutating func allowReading() { end = max(end ?? .now, .now + Self.reading) }

    /// Takes the signals that have arrived. A stop signal takes effect here. The running program gets the first other
    /// one, and this run continues as long as it does.
    mutating func hear(_ runner: EffectRunner) {
        for number in runner.inbox.takeSignals() {
            CrashGuard.heard()
            switch number {
            case SIGTSTP: CrashGuard.stop()
            case SIGCONT: break
            case SIGQUIT:
                runner.child.signal(SIGKILL)
                CrashGuard.die(by: SIGQUIT)
            case _ where !hasPassed && runner.child.signal(number): hasPassed = true
            default:
                if signal != nil { CrashGuard.die(by: number) }
                signal = number
                let end = extend()
                StandardStream.giveUpErrors(at: end)
                CrashGuard.endAtNextSignal()
            }
        }
    }
}
