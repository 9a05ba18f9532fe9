import Foundation
import SocketKit

/// One session of a GCDAsyncUdpSocket, from opening to closing. As in upstream, a kernel error closes it.
final class UdpSession: DatagramSocketDelegate {
    let socket: DatagramSocket
    private let state: Lock<State>

    private struct State {
        weak var owner: GCDAsyncUdpSocket?
        var delegate = WeakUdpDelegate()
        /// Set while there is no delegate queue.
        var dropsCallbacks = true
        /// The most bytes of one datagram that are delivered, by family.
        var most: (v4: Int, v6: Int)
        /// Set once a kernel error has closed the session. Queued datagrams are then dropped without a callback.
        var isFailing = false
        /// Whether a connect was requested.
        var isConnecting = false
    }

    init(_ socket: DatagramSocket, owner: GCDAsyncUdpSocket, most: (v4: Int, v6: Int)) {
        self.socket = socket
        state = Lock(State(owner: owner, most: most))
        socket.delegate = self
    }

    /// Sets the delegate and its queue.
    func setDelegate(_ delegate: WeakUdpDelegate, on queue: DispatchQueue?) {
        state.withLock { ($0.delegate, $0.dropsCallbacks) = (delegate, queue == nil) }
        socket.delegateQueue = queue
    }

    func setMost(_ most: (v4: Int, v6: Int)) { state.withLock { $0.most = most } }

    /// Records that a connect was requested.
    func noteConnecting() { state.withLock { $0.isConnecting = true } }

    /// Whether the socket is connected. The engine is queried only after a connect was requested.
    var isConnected: Bool { state.withLock { $0.isConnecting } && socket.isConnected }

    /// Calls the delegate, if there is one and it has a queue.
    func tell(_ call: (any GCDAsyncUdpSocketDelegate, GCDAsyncUdpSocket) -> Void) {
        let target = state.withLock { Unchecked(($0.owner, $0.dropsCallbacks ? nil : $0.delegate.object)) }
        guard let owner = target.value.0, let delegate = target.value.1 else { return }
        call(delegate, owner)
    }

    func datagramSocket(_ socket: DatagramSocket, didConnectTo address: SocketAddress) {
        tell { $0.udpSocket($1, didConnectToAddress: address.data) }
    }

    func datagramSocket(_ socket: DatagramSocket, didNotConnect error: SocketError) {
        guard !state.withLock({ $0.isFailing }) else { return }
        tell { $0.udpSocket($1, didNotConnect: NSError.datagram(error)) }
    }

    func datagramSocket(_ socket: DatagramSocket, didSendWithTag tag: Int) {
        tell { $0.udpSocket($1, didSendDataWithTag: tag) }
    }

    func datagramSocket(_ socket: DatagramSocket, didNotSend datagram: FailedDatagram) {
        switch datagram.error.reason {
        case .system: fail(datagram.error)
        // The datagram was dropped because the socket closed.
        case .disconnected: break
        default:
            guard !state.withLock({ $0.isFailing }) else { return }
            tell { $0.udpSocket($1, didNotSendDataWithTag: datagram.tag, dueToError: NSError.datagram(datagram.error)) }
        }
    }

    func datagramSocket(_ socket: DatagramSocket, didReceive datagram: Datagram) {
        let most = state.withLock { $0.most }
        let limit = datagram.source.family == .v6 ? most.v6 : most.v4
        let bytes = datagram.bytes.count > limit ? Array(datagram.bytes[..<limit]) : datagram.bytes
        let context = (datagram.context as? Unchecked<AnyObject?>)?.value
        tell {
            $0.udpSocket(
                $1, didReceive: Data(handingOver: bytes), fromAddress: datagram.source.data, withFilterContext: context)
        }
    }

    func datagramSocket(_ socket: DatagramSocket, didEncounter error: SocketError) { fail(error) }

    private func fail(_ error: SocketError) {
        let isFirst = state.withLock { state in
            defer { state.isFailing = true }
            return !state.isFailing
        }
        if isFirst { socket.close(because: error) }
    }

    func datagramSocket(_ socket: DatagramSocket, didClose error: SocketError?) {
        state.withLock { $0.owner }?.ended(self)
        tell { $0.udpSocketDidClose($1, withError: error.map { NSError.datagram($0) }) }
    }
}
