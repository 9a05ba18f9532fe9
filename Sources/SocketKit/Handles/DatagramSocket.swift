import Dispatch
import SocketCore

/// A UDP or Unix-domain datagram socket.
///
/// It is a handle, as `AsyncSocket` is, and you can use it from any thread. Sends are queued and return at once. All
/// other calls wait for the engine's queue, and can be made on it. A session begins with the first bind, connect or
/// send, and ends with `close` or the release of the last reference. If a bind doesn't choose a family, the socket has
/// a descriptor for each. An error of one datagram never ends the session. GCDAsyncSocket's sibling GCDAsyncUdpSocket.
public final class DatagramSocket: Sendable {
    /// The engine that owns the socket.
    public let engine: SocketEngine
    let state: Lock<DatagramHandleState>
    let shared = DatagramTraits()

    /// Creates a socket without a session. If `delegateQueue` is `nil`, callbacks run on the engine's queue.
    public init(
        engine: SocketEngine, delegate: (any DatagramSocketDelegate)? = nil, delegateQueue: DispatchQueue? = nil,
        configuration: DatagramConfiguration = DatagramConfiguration()
    ) {
        self.engine = engine
        state = Lock(
            DatagramHandleState(
                delegate: delegate, pump: .pump(to: delegateQueue, from: engine), configuration: configuration))
    }

    deinit {
        if let session { engine.post(.released(session)) }
    }

    // MARK: Settings

    /// The delegate, held weakly. A new delegate receives every callback that hasn't started yet.
    public var delegate: (any DatagramSocketDelegate)? {
        get { state.delegate }
        set { state.delegate = newValue }
    }

    /// The queue callbacks run on, or `nil` for the engine's queue.
    public var delegateQueue: DispatchQueue? {
        get { state.pump?.queue }
        set { state.pump = .pump(to: newValue, from: engine) }
    }

    /// Settings that outlive sessions. A change takes effect with the next session.
    public var configuration: DatagramConfiguration {
        get { state.configuration }
        set { state.configuration = newValue }
    }

    /// A value for your own use. The socket never reads it.
    public var userData: (any Sendable)? {
        get { state.userData }
        set { state.userData = newValue }
    }

    /// The filter for datagrams to send, or `nil` to send all. A change applies to datagrams that weren't filtered yet.
    public var sendFilter: DatagramSendFilter? {
        get { shared.sendFilter?.value }
        set { shared.sendFilter = newValue.map { Shared($0) } }
    }

    /// The filter for received datagrams, or `nil` to deliver all.
    public var receiveFilter: DatagramReceiveFilter? {
        get { shared.receiveFilter?.value }
        set { shared.receiveFilter = newValue.map { Shared($0) } }
    }

    // MARK: Facts

    /// The current session, or `nil` if there is none.
    public var session: SocketID? { present.id }

    private var present: PresentSession { state.withLock { $0.present } }

    /// Whether the socket has no descriptor.
    public var isClosed: Bool { fact { $0?.links.isEmpty ?? true } }

    /// Whether the socket is connected to one peer.
    public var isConnected: Bool { fact { $0?.peer != nil } }

    /// The connected peer's address, or `nil` if the socket isn't connected. It stays available after the session ends,
    /// so that `didClose` can read it, until the next session begins.
    public var peerAddress: SocketAddress? { fact { $0 == nil ? present.ended?.peer : $0?.peer } }

    /// The local address (the IPv4 one of two), or `nil` until `bind` or the first send binds the socket. It stays
    /// available until the next session begins.
    public var localAddress: SocketAddress? { localAddresses.first }

    /// The local addresses: one, or one for each family. They stay available until the next session begins.
    public var localAddresses: [SocketAddress] {
        let all = fact { session in
            session?.links.compactMap(\.local) ?? present.ended?.datagrams?.locals ?? []
        }
        return all.filter { $0.port != 0 && $0 != .unnamed }
    }

    /// How the last session ended, or `nil` during a session and before the first.
    public var closeRecord: CloseRecord? { fact { $0 == nil ? present.ended?.closed : nil } }

    /// Returns a snapshot that reflects every request this thread has made. After a session ends, returns its final
    /// snapshot until the next one begins. Returns `nil` before the first session. `withKernel` also queries the
    /// kernel.
    public func snapshot(withKernel: Bool = false) -> SocketSnapshot? {
        fact { $0?.snapshot(withKernel: withKernel) ?? present.ended }
    }

    /// The number of queued datagrams the kernel hasn't accepted yet.
    public var pendingCount: Int { fact { $0?.queue.count ?? 0 } }

    /// Runs `body` with the descriptors on the engine's queue: one, one for each family, or none if the socket is
    /// closed. The engine keeps ownership of them.
    public func withDescriptors<R, Failure: Error>(_ body: ([Int32]) throws(Failure) -> R) throws(Failure) -> R {
        try engine.enter { state in
            Result { () throws(Failure) in
                let session = self.session(in: state)
                session?.mayLiveOn = true
                let descriptors = session?.links.map { $0.socket.descriptor } ?? []
                return try state.runUserCode { Result { () throws(Failure) in try body(descriptors) } }.get()
            }
        }.get()
    }

    private func fact<R>(_ body: (DatagramSession?) -> R) -> R {
        engine.enter { body(self.session(in: $0)) }
    }

    private func session(in state: EngineState) -> DatagramSession? {
        session.flatMap { state.datagramSession($0) }
    }

    // MARK: Binding and connecting

    /// Binds to an address. When this returns, datagrams arrive and wait in the kernel until they are received.
    ///
    /// An empty host means every interface, with a descriptor for each family on a shared port. `localhost` means both
    /// loopback addresses. Any other host must be a numeric address of this machine, the name of an interface, or a
    /// multicast group. A socket bound to a group receives only datagrams to that group, once it has joined. For port
    /// 0, the kernel chooses a port. An unused socket file is replaced; anything else at the path is left alone and the
    /// bind is refused.
    ///
    /// Throws `badConfiguration` if the socket is already bound (also by a first send), connected or connecting, or if
    /// both families are disabled, `badParameter` for any other host, and `system` with the errno of socket or bind.
    /// GCDAsyncUdpSocket: `bindToPort:interface:error:`, `bindToAddress:error:`.
    public func bind(to endpoint: Endpoint) throws(SocketError) {
        try enter { session throws(SocketError) in
            try session.bind(to: endpoint)
            session.target = endpoint.datagramText
        }
    }

    /// Connects to one peer, after what is queued. From then on the socket sends only to that peer, and datagrams from
    /// others are dropped. `didConnectTo` or `didNotConnect` follows. Throws `badConfiguration` if the socket is
    /// connected or connecting, and `badParameter` for an invalid argument or a numeric address of the wrong family.
    /// GCDAsyncUdpSocket: `connectToHost:onPort:error:`, `connectToAddress:error:`.
    public func connect(to endpoint: Endpoint) throws(SocketError) {
        let operation = engine.names.nextOperation()
        try enter { session throws(SocketError) in
            try session.connect(to: endpoint, as: operation)
            if session.target.isEmpty { session.target = endpoint.datagramText }
        }
    }

    /// Ends the connection, or withdraws a queued connect (`didNotConnect`). The socket stays open and keeps its bound
    /// port. Has no effect if the socket isn't connected.
    public func disconnect() {
        engine.enter { self.session(in: $0)?.disconnect() }
    }

    // MARK: Groups and options

    /// Joins a multicast group on an interface, given by its name or one of its addresses, or `nil` for the system's
    /// choice. The socket must be bound, and not connected. Throws `badConfiguration` if it isn't, `badParameter` if
    /// `group` isn't a group, its family isn't bound or the interface doesn't exist, and otherwise the errno
    /// (EADDRINUSE if already joined, ENODEV if there is no route). GCDAsyncUdpSocket:
    /// `joinMulticastGroup:onInterface:error:`.
    public func joinGroup(_ group: String, interface: String? = nil) throws(SocketError) {
        try enter { session throws(SocketError) in try session.change(.join, of: group, interface: interface) }
    }

    /// Leaves a group that was joined with the same arguments. Throws the errors of `joinGroup(_:interface:)`.
    /// GCDAsyncUdpSocket: `leaveMulticastGroup:onInterface:error:`.
    public func leaveGroup(_ group: String, interface: String? = nil) throws(SocketError) {
        try enter { session throws(SocketError) in try session.change(.leave, of: group, interface: interface) }
    }

    enum Membership { case join, leave }

    /// Sets the interface, by its name or one of its addresses, through which later datagrams to groups are sent.
    /// Throws `badParameter` if there is no such interface. GCDAsyncUdpSocket: `sendIPv4MulticastOnInterface:error:`.
    public func sendMulticast(onInterface interface: String) throws(SocketError) {
        try change { state, configuration throws(SocketError) in
            let index = try state.interfaceIndex(interface, "setsockopt")
            configuration.multicastInterface = interface
            return { .multicastInterface(index, isIPv6: $0) }
        }
    }

    /// Allows or forbids datagrams to the broadcast address. IPv4 only. GCDAsyncUdpSocket:
    /// `setBroadcastEnabled:error:`.
    public func setBroadcastEnabled(_ isEnabled: Bool) throws(SocketError) {
        try change { _, configuration in
            configuration.isBroadcastEnabled = isEnabled
            return { $0 ? nil : .broadcast(isEnabled) }
        }
    }

    /// Sets whether this host also receives what the socket sends to groups, and how many hops those datagrams can make
    /// (0 to 255).
    public func setMulticast(loopback: Bool, timeToLive: Int32 = 1) throws(SocketError) {
        guard (0...255).contains(timeToLive) else {
            throw .refused("setsockopt", "time to live \(timeToLive): must be 0 to 255")
        }
        try change { _, configuration in
            configuration.multicastTimeToLive = timeToLive
            return { .multicastTimeToLive(timeToLive, isIPv6: $0) }
        }
        try change { _, configuration in
            configuration.multicastLoopback = loopback
            return { .multicastLoopback(loopback, isIPv6: $0) }
        }
    }

    /// Changes the configuration and applies the change to the open descriptors.
    private func change(
        _ body: (EngineState, inout DatagramConfiguration) throws(SocketError) -> (Bool) -> SocketOption?
    ) throws(SocketError) {
        // The replaced configuration may hold the last reference to a user's object, which is released after the
        // engine's step.
        let former = try engine.enter { state in
            Result { () throws(SocketError) in
                var configuration = self.configuration
                state.retire(configuration)
                let option = try body(state, &configuration)
                try self.session(in: state)?.apply(configuration, option)
                return self.state.exchangeConfiguration(with: configuration)
            }
        }.get()
        withExtendedLifetime(former) {}
    }

    // MARK: Receiving

    /// Delivers every datagram that arrives, and those already waiting in the kernel. Throws `badConfiguration` if
    /// there is no descriptor yet. GCDAsyncUdpSocket: `beginReceiving:`.
    public func beginReceiving() throws(SocketError) {
        try receive(.continuous)
    }

    /// Delivers only the next datagram that passes the filter. Throws as `beginReceiving()` does. GCDAsyncUdpSocket:
    /// `receiveOnce:`.
    public func receiveOnce() throws(SocketError) {
        try receive(.once)
    }

    /// Leaves datagrams in the kernel, which drops and counts those it has no room for. Datagrams already sent to the
    /// delegate queue still arrive. Has no effect without a session.
    public func pauseReceiving() {
        engine.enter { self.session(in: $0)?.receive(.paused) }
    }

    /// Changes the mode. Runs `prepare` first, unless this throws.
    func receive(_ mode: DatagramReceiveMode, _ prepare: () -> Void = {}) throws(SocketError) {
        let isOpen = engine.enter { state in
            guard let session = self.session(in: state), !session.links.isEmpty else { return false }
            prepare()
            session.receive(mode)
            return true
        }
        if !isOpen {
            throw SocketError(
                .badConfiguration, operation: "receive",
                detail: "the socket has no address yet: bind it, connect it, or send first")
        }
    }

    // MARK: Sending

    /// Queues a datagram to `destination`, or to the connected peer if it is `nil`, and returns its identifier.
    /// `didSend` or `didNotSend` follows. A send fails with `badConfiguration` if there is no destination or one other
    /// than the connected peer, with EMSGSIZE if the datagram is too long, with `sendTimeout`, or with the error of the
    /// resolver or kernel. The socket stays open in each case. An empty datagram is sent too. GCDAsyncUdpSocket:
    /// `sendData:toHost:port:withTimeout:tag:` and its variants.
    @discardableResult
    public func send(
        _ bytes: [UInt8], to destination: Endpoint? = nil, timeout: Duration? = nil, tag: Int = 0
    ) -> OperationID {
        let operation = engine.names.nextOperation()
        let request = DatagramRequest(bytes, to: destination, timeout: timeout, tag: tag)
        engine.meet(engine.mailbox.post(.datagram(.send(self, request, operation))))
        return operation
    }

    /// Cancels a datagram that is still queued. `didNotSend` reports `cancelled`.
    public func cancel(_ operation: OperationID) {
        engine.post(.datagram(.cancel(self, operation)))
    }

    // MARK: Closing

    /// Closes at once and has closed when this returns. `didClose` follows, and queued datagrams fail. Has no effect
    /// without a session.
    public func close() {
        engine.enter { self.session(in: $0)?.askToClose(.now) }
    }

    /// Closes when every queued datagram has been sent or has failed, and returns at once. New datagrams are rejected.
    public func closeAfterSending() {
        // The session may begin with a send that is still in the mailbox.
        engine.post(.datagram(.closeAfterSending(self)))
    }

    /// Closes at once, as `close()` does, and reports `error` in `didClose` and for the datagrams that fail. Has no
    /// effect without a session.
    public func close(because error: SocketError) {
        engine.enter { self.session(in: $0)?.close(error: error, mode: nil) }
    }

    /// Shows the session under the target that the user typed.
    package func show(as target: String) {
        show { $0.target = target }
    }

    /// Shows the session as the association of a relay's client, whose datagrams arrive at `listener`.
    package func relay(for client: SocketAddress, of listener: DatagramSocket) {
        show { $0.association = (client, listener.session) }
    }

    /// Shows in snapshots what rules do to the association.
    package func showFaults(_ meter: FaultMeter) {
        show { $0.faults = meter }
    }

    /// Records what a rule did; see `SocketEvent.Kind.faulted`.
    package func recordFault(_ rule: Int, at number: Int) {
        engine.enter { self.session(in: $0)?.record(.faulted, rule, number) }
    }

    /// Shows how many of the relay's associations have clients that send to this socket.
    package func show(_ counts: AssociationCounts) {
        show { $0.associations = counts }
    }

    /// Changes what snapshots show of the session.
    private func show(_ change: (DatagramSession) -> Void) {
        engine.enter { state in
            guard let session = self.session(in: state) else { return }
            change(session)
            session.noteForViewers()
        }
    }

    /// Runs `body` with the session, which begins here if there is none.
    private func enter<R>(_ body: (DatagramSession) throws(SocketError) -> R) throws(SocketError) -> R {
        try engine.enter { state in
            Result { () throws(SocketError) in try state.withSession(of: self, body) }
        }.get()
    }
}
