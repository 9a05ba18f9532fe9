import Foundation
import SocketKit

/// One open time of a GCDAsyncUdpSocket; what `StreamSession` is for a connection. An error of the kernel closes it, as
/// upstream does.
final class UdpSession: DatagramSocketDelegate {
    /// The engine's socket.
    let socket: DatagramSocket
    private let state: Lock<State>

    private struct State {
        weak var owner: GCDAsyncUdpSocket?
        var delegate = WeakUdpDelegate()
        /// Nobody is called without a queue.
        var isDetached = true
        /// The most bytes of one datagram that are delivered, by family.
        var most: (v4: Int, v6: Int)
        /// An error of the kernel has closed it: what was queued is dropped without a word.
        var isFailing = false
        /// Whether somebody asked it to connect.
        var isConnecting = false
    }

    init(_ socket: DatagramSocket, owner: GCDAsyncUdpSocket, most: (v4: Int, v6: Int)) {
        self.socket = socket
        state = Lock(State(owner: owner, most: most))
        socket.delegate = self
    }

    /// Sets whom its callbacks go to, and where.
    func setDelegate(_ delegate: WeakUdpDelegate, on queue: DispatchQueue?) {
        state.withLock { ($0.delegate, $0.isDetached) = (delegate, queue == nil) }
        socket.delegateQueue = queue
    }

    /// Sets how many bytes of one datagram are delivered.
    func setMost(_ most: (v4: Int, v6: Int)) { state.withLock { $0.most = most } }

    /// Notes that it is to be connected.
    func noteConnecting() { state.withLock { $0.isConnecting = true } }

    /// Whether it is connected. The engine is asked only where that can be.
    var isConnected: Bool { state.withLock { $0.isConnecting } && socket.isConnected }

    /// Calls the delegate, if there is one, and a queue to call it on.
    func tell(_ call: (any GCDAsyncUdpSocketDelegate, GCDAsyncUdpSocket) -> Void) {
        let target = state.withLock { Unchecked(($0.owner, $0.isDetached ? nil : $0.delegate.object)) }
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
        // Dropped with the socket that was closed.
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
