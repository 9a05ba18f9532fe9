import Foundation
import SocketKit

/// A UDP socket with the interface of CocoaAsyncSocket's class of this name, on a SocketKit engine.
///
/// It opens with the first bind, connect, option or send, and closes by `close`, or when the kernel reports an error; then
/// it may be used again. Datagrams are queued and sent in their order; the delegate hears of each on its queue. A
/// negative timeout means none. <doc:DatagramMembers> lists every member beside what it does here.
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
        /// Sessions that were closed and whose end is not told yet.
        var ending: [ObjectIdentifier: UdpSession] = [:]
    }

    /// Makes a closed socket without a delegate.
    public convenience override init() { self.init(delegate: nil, delegateQueue: nil, socketQueue: nil) }

    /// Makes a closed socket without a delegate, which lives on this serial queue.
    public convenience init(socketQueue sq: DispatchQueue?) {
        self.init(delegate: nil, delegateQueue: nil, socketQueue: sq)
    }

    /// Makes a closed socket.
    public convenience init(delegate aDelegate: (any GCDAsyncUdpSocketDelegate)?, delegateQueue dq: DispatchQueue?) {
        self.init(delegate: aDelegate, delegateQueue: dq, socketQueue: nil)
    }

    /// Makes a closed socket that lives on `sq`, a serial queue; the two queues may be the same.
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

    /// The session that is open, or about to be.
    var present: UdpSession? { state.withLock { $0.session } }

    /// The session; it is made where there is none.
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

    /// The end of a session was told.
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

    /// Closes at once; what is queued is dropped. The delegate's call is on its queue when this returns. No effect, and no
    /// call, where nothing was opened.
    open func close() {
        let (engine, session) = state.withLock { state in
            let session = state.session.take()
            if let session { state.ending[ObjectIdentifier(session)] = session }
            return (state.engine, session)
        }
        guard let session else { return }
        // What was sent from this thread before opens it, if nothing else did.
        guard !session.socket.isClosed || session.socket.session != nil else { return ended(session) }
        session.socket.close()
        engine.flushCallbacks()
    }

    /// Closes once everything that is queued is sent.
    open func closeAfterSending() { present?.socket.closeAfterSending() }
}

extension GCDAsyncUdpSocket.State {
    /// How many bytes of one datagram are delivered.
    var most: (v4: Int, v6: Int) { (Int(maxReceiveIPv4), Int(maxReceiveIPv6)) }

    /// What the engine's socket gets.
    var effective: DatagramConfiguration {
        var configuration = configuration
        configuration.maximumSendLength = Int(maxSend)
        let longest = max(most.v4, most.v6)
        configuration.maximumReceiveLength = longest >= 65_535 ? nil : max(1, longest)
        return configuration
    }
}
