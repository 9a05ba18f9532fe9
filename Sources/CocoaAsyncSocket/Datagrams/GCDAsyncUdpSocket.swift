import Foundation
import SocketKit

/// A UDP socket with the interface of CocoaAsyncSocket's class of this name, on a SocketKit engine.
///
/// It opens with the first bind, connect, option or send. It closes when `close` is called or the kernel reports an
/// error, and can then be used again. Datagrams are queued and sent in order, and the delegate is notified of each on
/// its queue. A negative timeout means none. <doc:DatagramMembers> lists every member beside what it does here.
open class GCDAsyncUdpSocket: NSObject {
    let state: Lock<State>

    struct State {
        let engine: SocketEngine
        let hasOwnQueue: Bool
        var delegate = WeakUdpDelegate()
        var delegateQueue: DispatchQueue?
        var configuration = DatagramConfiguration()
        var maxReceiveIPv4: UInt16 = 65_535
        var maxReceiveIPv6: UInt32 = 65_535
        var maxSend: UInt16 = 65_535
        var userData = Unchecked<Any?>(nil)
        var sendFilter: DatagramSendFilter?
        var receiveFilter: DatagramReceiveFilter?
        var session: UdpSession?
        /// Closed sessions whose end has not been reported yet.
        var ending: [ObjectIdentifier: UdpSession] = [:]
    }

    /// Creates a closed socket without a delegate.
    public convenience override init() { self.init(delegate: nil, delegateQueue: nil, socketQueue: nil) }

    /// Creates a closed socket without a delegate. `sq` is a serial queue that it runs on.
    public convenience init(socketQueue sq: DispatchQueue?) {
        self.init(delegate: nil, delegateQueue: nil, socketQueue: sq)
    }

    /// Creates a closed socket.
    public convenience init(delegate aDelegate: (any GCDAsyncUdpSocketDelegate)?, delegateQueue dq: DispatchQueue?) {
        self.init(delegate: aDelegate, delegateQueue: dq, socketQueue: nil)
    }

    /// Creates a closed socket. `sq` is a serial queue that it runs on, and may be the same as `dq`.
    public init(
        delegate aDelegate: (any GCDAsyncUdpSocketDelegate)?, delegateQueue dq: DispatchQueue?,
        socketQueue sq: DispatchQueue?
    ) {
        state = Lock(
            State(
                engine: Engines.engine(on: sq), hasOwnQueue: sq != nil, delegate: WeakUdpDelegate(object: aDelegate),
                delegateQueue: dq))
        super.init()
    }

    // MARK: Sessions

    var engine: SocketEngine { state.withLock { $0.engine } }
    /// The engine, if its queue is this socket's own.
    var ownEngine: SocketEngine? { state.withLock { $0.hasOwnQueue ? $0.engine : nil } }

    /// The session that is open, or about to be.
    var present: UdpSession? { state.withLock { $0.session } }

    /// Returns the session, creating one if there is none.
    func session() -> UdpSession {
        if let present { return present }
        let (made, delegate, queue) = state.withLock { state in
            let socket = DatagramSocket(engine: state.engine, configuration: state.effective)
            socket.sendFilter = state.sendFilter
            socket.receiveFilter = state.receiveFilter
            let made = state.session ?? UdpSession(socket, owner: self, most: state.most)
            state.session = made
            return (made, state.delegate, state.delegateQueue)
        }
        made.setDelegate(delegate, on: queue)
        return made
    }

    /// Removes a session whose end has been reported.
    func ended(_ session: UdpSession) {
        state.withLock { state in
            if state.session === session { state.session = nil }
            state.ending[ObjectIdentifier(session)] = nil
        }
    }

    /// Calls the engine's socket, and throws its errors in upstream's form.
    func with(_ body: (DatagramSocket) throws(SocketError) -> Void) throws {
        let socket = session().socket
        try rethrowing(NSError.datagram) { () throws(SocketError) in try body(socket) }
    }

    // MARK: Closing

    /// Closes at once and drops queued datagrams. When this returns, the delegate's callback is on its queue. Has no
    /// effect and makes no callback if nothing was opened.
    open func close() {
        let (engine, session) = state.withLock { state in
            let session = state.session.take()
            if let session { state.ending[ObjectIdentifier(session)] = session }
            return (state.engine, session)
        }
        guard let session else { return }
        // A send from this thread opens the socket, if nothing else did.
        guard !session.socket.isClosed || session.socket.session != nil else { return ended(session) }
        session.socket.close()
        engine.flushCallbacks()
    }

    /// Closes once every queued datagram has been sent.
    open func closeAfterSending() { present?.socket.closeAfterSending() }
}

extension GCDAsyncUdpSocket.State {
    /// The most bytes of one datagram that are delivered, by family.
    var most: (v4: Int, v6: Int) { (Int(maxReceiveIPv4), Int(maxReceiveIPv6)) }

    /// The configuration for the engine's socket.
    var effective: DatagramConfiguration {
        var configuration = configuration
        configuration.maximumSendLength = Int(maxSend)
        let longest = max(most.v4, most.v6)
        configuration.maximumReceiveLength = longest >= 65_535 ? nil : max(1, longest)
        return configuration
    }
}
