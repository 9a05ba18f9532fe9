import Glibc
import SocketKit

/// A socket of an engine, and a plain descriptor as its peer, so that a test says itself what the peer does.
package final class ConnectedPair {
    /// The engine.
    package let engine: SocketEngine
    /// The end under test.
    package let socket: AsyncSocket
    /// What the end under test told.
    package let recorder: Recorder
    /// The peer: a blocking descriptor; -1 once closed.
    package private(set) var peer: Int32

    /// Connects both by TCP over loopback, or by a pair of Unix-domain sockets.
    package init(
        _ family: Family = .tcp, engine: SocketEngine = SocketEngine(), recorder: Recorder = Recorder(),
        configuration: SocketConfiguration = SocketConfiguration()
    ) throws {
        self.engine = engine
        self.recorder = recorder
        socket = AsyncSocket(engine: engine, delegate: recorder, configuration: configuration)
        let (ours, theirs) = family == .tcp ? try Self.tcpPair() : try Self.unixPair()
        peer = theirs
        try socket.adopt(descriptor: ours)
    }

    deinit {
        closePeer()
    }

    /// Which kind of socket.
    package enum Family: Sendable, CaseIterable {
        case tcp, unix
    }

    private static func unixPair() throws -> (Int32, Int32) {
        var pair: [Int32] = [-1, -1]
        try check(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair))
        return (pair[0], pair[1])
    }

    /// Two descriptors joined by TCP over loopback.
    package static func tcpPair() throws -> (Int32, Int32) {
        let kernel = LinuxKernel()
        let any = SocketAddress.v4(host: "127.0.0.1", port: 0)
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let listener = Glibc.socket(AF_INET, kind, 0)
        defer { close(listener) }
        try check(kernel.bind(listener, to: any) == 0 ? 0 : -1)
        try check(listen(listener, 1))
        let client = Glibc.socket(AF_INET, kind, 0)
        guard let address = kernel.localAddress(listener) else { throw PeerFailure(errno: errno) }
        try check(kernel.connect(client, to: address) == 0 ? 0 : -1)
        let accepted = accept(listener, nil, nil)
        try check(accepted)
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        return (accepted, client)
    }

    /// Sends all bytes from the peer.
    package func peerSends(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { send(peer, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { throw PeerFailure(errno: errno) }
            sent += count
        }
    }

    /// Sends all of a text from the peer.
    package func peerSends(_ text: String) throws {
        try peerSends(Array(text.utf8))
    }

    /// Waits for exactly so many bytes at the peer, or fewer where the stream ends before.
    package func peerReceives(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < count {
            let got = recv(peer, &buffer, min(buffer.count, count - bytes.count), 0)
            guard got >= 0 else { throw PeerFailure(errno: errno) }
            if got == 0 { break }
            bytes += buffer[..<got]
        }
        return bytes
    }

    /// Sends FIN from the peer.
    package func peerShutsWrite() {
        shutdown(peer, Int32(SHUT_WR))
    }

    /// Closes the peer; with `reset`, by RST.
    package func closePeer(reset: Bool = false) {
        guard peer >= 0 else { return }
        if reset {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(peer, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        close(peer)
        peer = -1
    }

    private static func check(_ status: Int32) throws {
        guard status < 0 else { return }
        throw PeerFailure(errno: errno)
    }
}

/// A call of the peer failed, which is the test's own fault.
package struct PeerFailure: Error {
    /// Why.
    package let errno: Int32

    package init(errno: Int32) { self.errno = errno }
}
