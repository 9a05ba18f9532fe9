import SocketKit
import Synchronization

package final class Counter: Sendable {
    private let value = Atomic(0)

    /// Returns the next number, starting with 0.
    package func next() -> Int {
        value.wrappingAdd(1, ordering: .relaxed).oldValue
    }
}

/// One end of a play: a socket, retained while it is connected, whose behavior is defined by a few closures.
package final class Player: AsyncSocketDelegate, SocketListenerDelegate {
    package typealias Act = @Sendable (AsyncSocket) -> Void

    private let retained = Lock<[ObjectIdentifier: AsyncSocket]>([:])
    private let onOpen: Act
    private let onRead: @Sendable (AsyncSocket, [UInt8]) -> Void
    private let onPeerClosed: Act
    private let verdict: TimeoutVerdict

    /// `onOpen` is called for outgoing and accepted connections.
    package init(
        onOpen: @escaping Act = { _ in }, onRead: @escaping @Sendable (AsyncSocket, [UInt8]) -> Void = { _, _ in },
        onPeerClosed: @escaping Act = { _ in }, verdict: TimeoutVerdict = .close
    ) {
        self.onOpen = onOpen
        self.onRead = onRead
        self.onPeerClosed = onPeerClosed
        self.verdict = verdict
    }

    /// The sockets that are currently connected.
    package var sockets: [AsyncSocket] { retained.withLock { Array($0.values) } }

    /// Connects a socket for this player. A rejection at the call is not shown. It would be a bug in the demo.
    package func connect(
        _ engine: SocketEngine, to port: UInt16, name: String, options: SocketOptions = SocketOptions()
    ) {
        var configuration = SocketConfiguration()
        configuration.name = name
        configuration.options = options
        let socket = AsyncSocket(engine: engine, delegate: self, configuration: configuration)
        retain(socket)
        do throws(SocketError) {
            try socket.connect(toHost: "127.0.0.1", port: port, timeout: .seconds(5))
        } catch {
            release(socket)
        }
    }

    private func retain(_ socket: AsyncSocket) {
        retained.withLock { $0[ObjectIdentifier(socket)] = socket }
    }

    private func release(_ socket: AsyncSocket) {
        retained.withLock { $0[ObjectIdentifier(socket)] = nil }
    }

    package func listener(_ listener: SocketListener, didAccept socket: AsyncSocket) {
        socket.delegate = self
        retain(socket)
        onOpen(socket)
    }

    package func socket(_ socket: AsyncSocket, didConnectTo address: SocketAddress) {
        onOpen(socket)
    }

    package func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {
        onRead(socket, bytes)
    }

    package func socket(_ socket: AsyncSocket, didTimeOut operation: TimedOutOperation) -> TimeoutVerdict {
        verdict
    }

    package func socketDidCloseReadStream(_ socket: AsyncSocket) {
        onPeerClosed(socket)
    }

    package func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {
        release(socket)
    }
}

/// A listener on a loopback port that the kernel chooses.
package struct Stage {
    package let listener: SocketListener
    package let port: UInt16

    package init(
        _ engine: SocketEngine, _ player: Player, name: String, halfOpen: Bool = false,
        options: SocketOptions = SocketOptions()
    ) throws(SocketError) {
        var configuration = SocketConfiguration()
        configuration.name = name
        configuration.allowsHalfOpen = halfOpen
        configuration.options = options
        listener = SocketListener(engine: engine, delegate: player, configuration: configuration)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        port = listener.localAddress?.port ?? 0
    }
}
