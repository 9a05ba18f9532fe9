import SocketKit

/// Sends back what comes. It holds nothing, so one serves all connections.
final class EchoDelegate: AsyncSocketDelegate {
    private let lends: Bool

    init(lends: Bool) {
        self.lends = lends
    }

    func serve(_ socket: AsyncSocket) {
        socket.delegate = self
        // The socket keeps itself until its end.
        socket.userData = socket
        socket.read(lends ? .borrowing() : ReadRequest(.available(limit: nil)))
    }

    func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {
        socket.write(bytes)
        socket.read(ReadRequest(.available(limit: nil)))
    }

    func socket(_ socket: AsyncSocket, didBorrow bytes: RawSpan, tag: Int) {
        socket.write(bytes.withUnsafeBytes { [UInt8]($0) })
    }

    func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {
        socket.userData = nil
    }
}
