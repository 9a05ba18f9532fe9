import Dispatch
import SocketKit

/// A small, bounded set of live sockets on loopback, for exploring the inspector.
///
/// Each play is a situation that network programmers know. All plays share one engine and one timer. Releasing the demo
/// ends them.
package final class Demo: Sendable {
    /// One situation. Its methods are called on the engine's queue.
    package protocol Play: AnyObject, Sendable {
        /// Called on each tick, counted from 0.
        func tick(_ count: Int)
    }

    /// Ten per second.
    package static let tick = Duration.milliseconds(100)

    /// The name of the first listener, which identifies the demo.
    package static let echoName = "echo"

    private let queue: DispatchQueue
    private let tick: Duration
    private let plays: [any Play]
    private let count = Counter()

    /// Opens the listeners and starts to tick. Throws the error of the first listener that fails.
    ///
    /// Timeouts of the plays are counted in ticks too, so a shorter tick plays exactly the same situations faster.
    package init(engine: SocketEngine, tick: Duration = Demo.tick) throws(SocketError) {
        queue = engine.queue
        self.tick = tick
        plays = [
            try EchoPlay(engine), try DripPlay(engine), try StallPlay(engine), try PatiencePlay(engine, tick),
            try HalfClosePlay(engine), try EndingsPlay(engine, tick),
        ]
        playOn()
    }

    /// Continues while the demo is retained.
    private func playOn() {
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(tick.wholeNanoseconds))) { [weak self] in
            guard let self else { return }
            let number = count.next()
            for play in plays { play.tick(number) }
            playOn()
        }
    }
}
