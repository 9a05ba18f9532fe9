import SocketKit
import Synchronization

/// An echo whose connections change between two engines: each moves after a hundred messages.
final class MovingEcho: AsyncSocketDelegate {
    private static let messages = 100
    private let other: SocketEngine
    private let home: SocketEngine
    private let count = Atomic<Int>(0)

    init(from home: SocketEngine, to other: SocketEngine) {
        (self.home, self.other) = (home, other)
    }

    func serve(_ socket: AsyncSocket) {
        socket.delegate = self
        // One delegate for each connection, which holds both until its end.
        socket.userData = (socket, self)
        socket.read(ReadRequest(.available(limit: nil)))
    }

    func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {
        socket.write(bytes)
        socket.read(ReadRequest(.available(limit: nil)))
        guard count.add(1, ordering: .relaxed).newValue % Self.messages == 0 else { return }
        do { try socket.move(to: socket.engine === home ? other : home) } catch {}
    }

    func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {
        socket.userData = nil
    }
}
