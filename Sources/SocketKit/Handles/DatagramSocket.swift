import Dispatch
import SocketCore

/// A UDP or Unix-domain datagram socket.
///
/// It is a handle, as `AsyncSocket` is one, and may be used from any thread: datagrams to be sent are queued and return
/// at once; everything else waits for the engine's queue, and may be called on it. A session begins with the first bind,
/// connect or send and ends with `close` or with the last reference. Where a bind does not choose a family, it has a
/// descriptor for each. An error of one datagram never ends the session. GCDAsyncSocket's sibling GCDAsyncUdpSocket.
public final class DatagramSocket: Sendable {
    /// The engine that it lives on.
    public let engine: SocketEngine
    let state: Lock<DatagramHandleState>
    let shared = DatagramTraits()

    /// Makes a socket without a session. Without a delegate queue, callbacks come on the engine's queue.
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

    /// Whom callbacks go to; held weakly. A change concerns callbacks that have not begun.
    public var delegate: (any DatagramSocketDelegate)? {
        get { state.delegate }
        set { state.delegate = newValue }
    }

    /// Where callbacks come; nil: on the engine's queue.
    public var delegateQueue: DispatchQueue? {
        get { state.pump?.queue }
        set { state.pump = .pump(to: newValue, from: engine) }
    }

    /// Settings that outlive sessions; a change takes effect with the next session.
    public var configuration: DatagramConfiguration {
        get { state.configuration }
        set { state.configuration = newValue }
    }

    /// Anything of the caller's; never looked at.
    public var userData: (any Sendable)? {
        get { state.userData }
        set { state.userData = newValue }
    }

    /// Judges each datagram before it is sent; nil: all may leave. Concerns those that were not judged yet.
    public var sendFilter: DatagramSendFilter? {
        get { shared.sendFilter?.value }
        set { shared.sendFilter = newValue.map { Shared($0) } }
    }

    /// Judges each datagram that was received; nil: all are delivered.
    public var receiveFilter: DatagramReceiveFilter? {
        get { shared.receiveFilter?.value }
        set { shared.receiveFilter = newValue.map { Shared($0) } }
    }

    // MARK: Facts

    /// The present session; nil when there is none.
    public var session: SocketID? { present.id }

    private var present: PresentSession { state.withLock { $0.present } }

    /// Whether there is no descriptor.
    public var isClosed: Bool { fact { $0?.links.isEmpty ?? true } }

    /// Whether it has one peer.
    public var isConnected: Bool { fact { $0?.peer != nil } }

    /// The one peer; `nil` when it is not connected. It stays after the end of the session, so that `didClose` can read it,
    /// until the next session begins.
    public var peerAddress: SocketAddress? { fact { $0 == nil ? present.ended?.peer : $0?.peer } }

    /// Our own address, the IPv4 one where there are two; `nil` before it is bound, by `bind` or by its first send. It
    /// stays as `peerAddress` does.
    public var localAddress: SocketAddress? { localAddresses.first }

    /// Our own addresses: one, or one for each family. They stay as `peerAddress` does.
    public var localAddresses: [SocketAddress] {
        let all = fact { session in
            session?.links.compactMap(\.local) ?? present.ended?.datagrams?.locals ?? []
        }
        return all.filter { $0.port != 0 && $0 != .unnamed }
    }

    /// How the last session ended; `nil` while there is one, and before the first.
    public var closeRecord: CloseRecord? { fact { $0 == nil ? present.ended?.closed : nil } }

    /// This socket as it is now, after all that this thread has asked for so far. After the end of a session it stays as
    /// it was then, until the next one begins; nil before the first. `withKernel` asks the kernel too.
    public func snapshot(withKernel: Bool = false) -> SocketSnapshot? {
        fact { $0?.snapshot(withKernel: withKernel) ?? present.ended }
    }

    /// Datagrams that are queued and not with the kernel yet.
    public var pendingCount: Int { fact { $0?.queue.count ?? 0 } }

    /// Runs `body` with the descriptors, on the engine's queue; one, or one for each family; none when it is closed.
    /// The descriptors stay the engine's.
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

    /// Binds to an address; when this returns, datagrams arrive, and wait with the kernel until they are received.
    ///
    /// An empty host means every interface, by a descriptor for each family that share the port; `localhost` both
    /// loopback addresses; any other host must be a numeric address of this machine, the name of an interface, or a
    /// multicast group, of which only datagrams to the group are received once it is joined. Port 0 lets the kernel
    /// choose. A socket file that nobody uses any more is replaced; anything else at the path is left alone and refused.
    /// Throws `badConfiguration` when it is bound already (also by a first send), connected or about to be, or both
    /// families are switched off, `badParameter` for a host that is none of the above, `system` with the errno of socket
    /// or bind. GCDAsyncUdpSocket: `bindToPort:interface:error:`, `bindToAddress:error:`.
    public func bind(to endpoint: Endpoint) throws(SocketError) {
        try enter { session throws(SocketError) in
            try session.bind(to: endpoint)
            session.target = endpoint.datagramText
        }
    }

    /// Connects to one peer, behind what is queued: from then on it sends to nobody else, and datagrams of others are
    /// dropped. `didConnectTo` or `didNotConnect` follows. Throws `badConfiguration` when it is connected or about to
    /// be, `badParameter` for an argument that makes no sense or a numeric address of the wrong family.
    /// GCDAsyncUdpSocket: `connectToHost:onPort:error:`, `connectToAddress:error:`.
    public func connect(to endpoint: Endpoint) throws(SocketError) {
        let operation = engine.names.nextOperation()
        try enter { session throws(SocketError) in
            try session.connect(to: endpoint, as: operation)
            if session.target.isEmpty { session.target = endpoint.datagramText }
        }
    }

    /// Ends the connection, or takes back one that is queued (`didNotConnect`); the socket stays open and keeps the
    /// port that it was bound to. No effect when it is not connected.
    public func disconnect() {
        engine.enter { self.session(in: $0)?.disconnect() }
    }

    // MARK: Groups and options

    /// Joins a multicast group on an interface, named by its name or one of its addresses; nil: the system's choice. The
    /// socket must be bound, and not connected. It is refused with `badConfiguration` when it is not, with
    /// `badParameter` for what is no group or of a family that the socket is not bound to, or an interface that there is
    /// not, else with the errno (EADDRINUSE: joined already; ENODEV: no route). GCDAsyncUdpSocket:
    /// `joinMulticastGroup:onInterface:error:`.
    public func joinGroup(_ group: String, interface: String? = nil) throws(SocketError) {
        try enter { session throws(SocketError) in try session.change(.join, of: group, interface: interface) }
    }

    /// Leaves a group that was joined with the same arguments; refused likewise. GCDAsyncUdpSocket:
    /// `leaveMulticastGroup:onInterface:error:`.
    public func leaveGroup(_ group: String, interface: String? = nil) throws(SocketError) {
        try enter { session throws(SocketError) in try session.change(.leave, of: group, interface: interface) }
    }

    enum Membership { case join, leave }

    /// Sends to groups by this interface from now on, named by its name or one of its addresses; refused with
    /// `badParameter` when there is none. GCDAsyncUdpSocket: `sendIPv4MulticastOnInterface:error:`.
    public func sendMulticast(onInterface interface: String) throws(SocketError) {
        try change { state, configuration throws(SocketError) in
            let index = try state.interfaceIndex(interface, "setsockopt")
            configuration.multicastInterface = interface
            return { .multicastInterface(index, isIPv6: $0) }
        }
    }

    /// Allows datagrams to the broadcast address, or forbids them again. IPv4 only. GCDAsyncUdpSocket:
    /// `setBroadcastEnabled:error:`.
    public func setBroadcastEnabled(_ isEnabled: Bool) throws(SocketError) {
        try change { _, configuration in
            configuration.isBroadcastEnabled = isEnabled
            return { $0 ? nil : .broadcast(isEnabled) }
        }
    }

    /// Whether this host too receives what this socket sends to groups, and how many hops that may make (0 to 255).
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

    /// Changes the configuration, and what it means on the descriptors that are open.
    private func change(
        _ body: (EngineState, inout DatagramConfiguration) throws(SocketError) -> (Bool) -> SocketOption?
    ) throws(SocketError) {
        // What it replaces may hold the last reference to something of the user's, which dies behind the engine's step.
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

    /// Delivers every datagram that arrives, and those that wait with the kernel already. Throws `badConfiguration` when
    /// there is no descriptor yet. GCDAsyncUdpSocket: `beginReceiving:`.
    public func beginReceiving() throws(SocketError) {
        try receive(.continuous)
    }

    /// Delivers the next datagram that the filter lets pass, and no more. Throws as `beginReceiving`. GCDAsyncUdpSocket:
    /// `receiveOnce:`.
    public func receiveOnce() throws(SocketError) {
        try receive(.once)
    }

    /// Leaves datagrams with the kernel, which drops and counts those it has no room for. What was delivered already
    /// still comes. No effect without a session.
    public func pauseReceiving() {
        engine.enter { self.session(in: $0)?.receive(.paused) }
    }

    /// Changes the mode; `prepare` runs first, unless this throws.
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

    /// Queues a datagram and names it; nil as destination: the connected peer. `didSend` or `didNotSend` follows, the
    /// latter with `badConfiguration` when there is no destination, or another one than the connected peer; EMSGSIZE
    /// when it is too long; `sendTimeout`; what the resolver or the kernel had against it. The socket stays open in each
    /// case. A datagram without bytes is sent too. GCDAsyncUdpSocket: `sendData:toHost:port:withTimeout:tag:` and its
    /// likes.
    @discardableResult
    public func send(
        _ bytes: [UInt8], to destination: Endpoint? = nil, timeout: Duration? = nil, tag: Int = 0
    ) -> OperationID {
        let operation = engine.names.nextOperation()
        let request = DatagramRequest(bytes, to: destination, timeout: timeout, tag: tag)
        engine.meet(engine.mailbox.post(.datagram(.send(self, request, operation))))
        return operation
    }

    /// Takes back a datagram that is still queued: `didNotSend` with `cancelled`.
    public func cancel(_ operation: OperationID) {
        engine.post(.datagram(.cancel(self, operation)))
    }

    // MARK: Closing

    /// Closes at once and waits until that is done; `didClose` follows. Queued datagrams fail. No effect without a
    /// session.
    public func close() {
        engine.enter { self.session(in: $0)?.askToClose(.now) }
    }

    /// Closes when everything queued is sent or has failed, without waiting; new datagrams are refused from now on.
    public func closeAfterSending() {
        // Its session may begin with a send that is still on its way.
        engine.post(.datagram(.closeAfterSending(self)))
    }

    /// Closes at once, as `close()` does, and lets `didClose` and the datagrams that fail tell this error. No effect
    /// without a session.
    public func close(because error: SocketError) {
        engine.enter { self.session(in: $0)?.close(error: error, mode: nil) }
    }

    /// Shows the session under the words in which a person asked for it.
    package func show(as target: String) {
        show { $0.target = target }
    }

    /// Shows the session as the association of a client of a relay, whose datagrams come by `listener`.
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

    /// Shows how many associations the relay has whose clients send to this socket.
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

    /// Runs `body` with the session, which begins here where there is none.
    private func enter<R>(_ body: (DatagramSession) throws(SocketError) -> R) throws(SocketError) -> R {
        try engine.enter { state in
            Result { () throws(SocketError) in try state.withSession(of: self, body) }
        }.get()
    }
}
