import InspectorCore
import SocketKit

/// A listener that forwards every connection to a target, on the inspected engine.
///
/// Releasing the relay ends it and every connection that it relays.
package final class Relay: SocketListenerDelegate, FaultTarget {
    package let engine: SocketEngine
    private let request: RelayRequest
    private let pairs = Lock<[ObjectIdentifier: RelayedPair]>([:])
    private let listener = Lock<SocketListener?>(nil)

    /// The number of bytes queued for one leg at which reading from the other stops, until a quarter is left. One turn
    /// of the engine may add up to a megabyte.
    package static let highWatermark = 256 << 10

    /// How long a proxy client may take to send its request.
    private let patience: Duration
    private let control: FaultControl
    /// The number of connections so far.
    private let came = Lock<UInt64>(0)
    private let gate: AcceptGate

    package init(
        engine: SocketEngine, request: RelayRequest, patience: Duration = .seconds(30),
        control: FaultControl = FaultControl()
    ) {
        self.engine = engine
        self.request = request
        self.patience = patience
        self.control = control
        gate = AcceptGate(engine: engine)
    }

    /// Starts listening. Throws the listener's error.
    package func start() throws(SocketError) {
        let listener = SocketListener(engine: engine, delegate: self, configuration: configuration(name: request.name))
        try listener.listen(on: request.listen, tls: request.listenTLS)
        self.listener.withLock { $0 = listener }
        control.add(self)
        engine.post { @Sendable [weak self] in self?.rulesChanged() }
    }

    /// Called on the engine's queue when rules or breakpoints are added or removed.
    package func change(_ change: FaultChange) {
        for pair in pairs.withLock({ Array($0.values) }) { pair.change(change) }
        rulesChanged()
    }

    /// The pairs that a breakpoint holds.
    package var held: [any FaultedConnection] {
        pairs.withLock { Array($0.values) }.filter { $0.faulted?.isHeld == true }
    }

    private func rulesChanged() { gate.set(control.acceptRules, on: session) }

    /// The listener's session, or `nil` if it is not listening.
    package var session: SocketID? { listener.withLock { $0?.session } }

    /// Stops listening. Relayed connections continue.
    package func stop() { listener.withLock { $0 }?.stop() }

    private func configuration(name: String) -> SocketConfiguration {
        var configuration = SocketConfiguration.relayed(name: name)
        configuration.passesCuts = request.listenTLS != nil && request.targetTLS != nil
        return configuration
    }

    package func listener(_ listener: SocketListener, didAccept socket: AsyncSocket) {
        let number = came.withLock { came in
            came += 1
            return came
        }
        if let rule = control.refusal(of: number, socket.peerAddress?.ip) {
            socket.refuse(by: rule)
            return
        }
        let target = AsyncSocket(engine: engine, configuration: configuration(name: ""))
        let pair = RelayedPair(
            client: socket, target: target, request: request, patience: patience, number: number, control: control
        ) { @Sendable [weak self] pair in
            _ = self?.pairs.withLock { $0.removeValue(forKey: ObjectIdentifier(pair)) }
        }
        pairs.withLock { $0[ObjectIdentifier(pair)] = pair }
        socket.delegate = pair
        target.delegate = pair
        // A client that doesn't complete the handshake reaches no target.
        if request.listenTLS == nil { pair.begin() }
    }
}

extension SocketConfiguration {
    /// The settings of a relay's listener and of both legs.
    package static func relayed(name: String = "") -> SocketConfiguration {
        var configuration = SocketConfiguration()
        configuration.name = name
        configuration.allowsHalfOpen = true
        configuration.writeWatermarks = Watermarks(low: Relay.highWatermark / 4, high: Relay.highWatermark)
        // Small pieces are forwarded as they arrive, without waiting for acknowledgments in between.
        configuration.options.noDelay = true
        configuration.options.takesUrgentInLine = true
        return configuration
    }
}
