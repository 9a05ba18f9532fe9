import Dispatch
import SocketKit

/// A small world of real sockets on loopback, so that there is something to look at: never still, and bounded.
///
/// Each play is one situation that a network programmer knows. All of them live on one engine and are driven by one
/// timer; releasing the demo ends them.
final class Demo: Sendable {
    /// One situation. Its methods are called on the engine's queue.
    protocol Play: AnyObject, Sendable {
        /// Called once a tick, counted from 0.
        func tick(_ count: Int)
    }

    /// Ten a second.
    static let tick = Duration.milliseconds(100)

    /// The name of its first listener, by which it is known.
    static let echoName = "echo"

    private let queue: DispatchQueue
    private let tick: Duration
    private let plays: [any Play]
    private let count = Counter()

    /// Opens the listeners and starts to tick. Throws what the first listener that cannot listen threw.
    ///
    /// Timeouts of the plays are counted in ticks too, so a shorter tick plays the very same world faster.
    init(engine: SocketEngine, tick: Duration = Demo.tick) throws(SocketError) {
        queue = engine.queue
        self.tick = tick
        plays = [
            try EchoPlay(engine), try DripPlay(engine), try StallPlay(engine), try PatiencePlay(engine, tick),
            try HalfClosePlay(engine), try EndingsPlay(engine, tick),
        ]
        playOn()
    }

    /// Plays on, as long as somebody holds the demo.
    private func playOn() {
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(tick.wholeNanoseconds))) { [weak self] in
            guard let self else { return }
            let number = count.next()
            for play in plays { play.tick(number) }
            playOn()
        }
    }
}
