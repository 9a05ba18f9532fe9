import SocketCore
import Testing

@Suite("Connections that wait")
struct WaitingSocketsTests {
    private func socket(
        _ state: HostState, _ local: SocketAddress, _ peer: SocketAddress? = nil, inode: UInt64 = 0
    ) -> HostSocket {
        var socket = HostSocket(id: 1, .tcp, state, time: .zero, inode: inode)
        (socket.local, socket.peer) = (local, peer)
        return socket
    }

    private func peers(_ sockets: [HostSocket], at listener: SocketAddress) -> [String] {
        sockets.waiting(at: listener).map(\.peer.description)
    }

    private let here = SocketAddress.v4(host: "127.0.0.1", port: 8080)

    @Test("those of the listener's port that no program has open yet")
    func found() {
        let sockets = [
            socket(.listening, .v4(host: "0.0.0.0", port: 8080), inode: 77),
            socket(.established, here, .v4(host: "127.0.0.1", port: 47256)),
            socket(.closeWait, here, .v4(host: "127.0.0.1", port: 47257)),
            socket(.established, here, .v4(host: "127.0.0.1", port: 47258), inode: 81),
            socket(.established, .v4(host: "127.0.0.1", port: 8081), .v4(host: "127.0.0.1", port: 47260)),
        ]
        #expect(
            peers(sockets, at: .v4(host: "0.0.0.0", port: 8080)) == ["127.0.0.1:47256", "127.0.0.1:47257"])
        #expect(peers(sockets, at: .v4(host: "127.0.0.2", port: 8080)).isEmpty)
    }

    @Test("a listener of IPv6 has its clients of IPv4, and none that another listener's address is more exact for")
    func beside() {
        let (every, loopback) = (SocketAddress.v6(host: "::", port: 8080), SocketAddress.v6(host: "::1", port: 8080))
        let sockets = [
            socket(.listening, every, inode: 99), socket(.listening, loopback, inode: 98),
            socket(.established, here, .v4(host: "127.0.0.1", port: 47256)),
            socket(.established, loopback, .v6(host: "::1", port: 47258)),
        ]
        #expect(peers(sockets, at: every) == ["127.0.0.1:47256"])
        #expect(peers(sockets, at: loopback) == ["[::1]:47258"])
        #expect(peers(sockets, at: .v6(host: "::ffff:127.0.0.1", port: 8080)) == ["127.0.0.1:47256"])
    }
}
