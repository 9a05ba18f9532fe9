import Dispatch
import SocketKit

/// A small world of real sockets on loopback, so that there is something to look at: never still, and bounded.
///
/// Each play is one situation that a network programmer knows. All of them live on one engine and are driven by one
/// timer; releasing the demo ends them.
final class Demo: Sendable {
    /// One situation. Its methods are called on the engine's queue.
    protocol Play: AnyObject, Sendable {
        /// Called ten times a second, counted from 0.
        func tick(_ count: Int)
    }

    /// Ten a second.
    static let tick = Duration.milliseconds(100)

    private let queue: DispatchQueue
    private let plays: [any Play]
    private let count = Counter()

    /// Opens the listeners and starts to tick. Throws what the first listener that cannot listen threw.
    init(engine: SocketEngine) throws(SocketError) {
        queue = engine.queue
        plays = [
            try EchoPlay(engine), try DripPlay(engine), try StallPlay(engine), try PatiencePlay(engine),
            try HalfClosePlay(engine), try EndingsPlay(engine),
        ]
        tick()
    }

    /// Plays on, as long as somebody holds the demo.
    private func tick() {
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(Self.tick.wholeNanoseconds))) { [weak self] in
            guard let self else { return }
            let number = count.next()
            for play in plays { play.tick(number) }
            tick()
        }
    }
}
