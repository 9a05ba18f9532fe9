import SocketKit
import Synchronization

/// Takes a number and answers with so many bytes; again and again.
final class SourceDelegate: AsyncSocketDelegate {
    private let left = Mutex(0)
    private let held = Mutex<AsyncSocket?>(nil)
    /// Writes in the queue at a time.
    private static let depth = 4

    func serve(_ socket: AsyncSocket) {
        socket.userData = self
        socket.delegate = self
        held.withLock { $0 = socket }
        socket.read(ReadRequest(.length(8)))
    }

    func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {
        left.withLock { $0 = Numbers.number(bytes) }
        for _ in 0..<Self.depth { send(socket) }
        socket.read(ReadRequest(.length(8)))
    }

    func socket(_ socket: AsyncSocket, didWriteWithTag tag: Int) {
        send(socket)
    }

    private func send(_ socket: AsyncSocket) {
        let length = left.withLock { left in
            defer { left -= min(left, Numbers.chunk) }
            return min(left, Numbers.chunk)
        }
        guard length > 0 else { return }
        socket.write(length == Numbers.chunk ? Numbers.pattern : Array(Numbers.pattern[..<length]))
    }

    func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {
        held.withLock { $0 = nil }
        socket.userData = nil
    }
}
