import SocketKit
import Synchronization

/// Sends back what comes, and counts what was written; one for each connection, as FacadeServer has it.
final class HeardEchoDelegate: AsyncSocketDelegate {
    private let written = Atomic<Int>(0)

    func serve(_ socket: AsyncSocket) {
        socket.delegate = self
        // The socket keeps itself and this until its end.
        socket.userData = Pair(socket: socket, delegate: self)
        socket.read(ReadRequest(.available(limit: nil)))
    }

    func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {
        socket.write(bytes)
        socket.read(ReadRequest(.available(limit: nil)))
    }

    func socket(_ socket: AsyncSocket, didWriteWithTag tag: Int) { written.add(1, ordering: .relaxed) }

    func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {
        socket.userData = nil
    }

    private struct Pair: Sendable {
        let socket: AsyncSocket
        let delegate: HeardEchoDelegate
    }
}
