import Foundation
import SocketKit

extension GCDAsyncSocket {
    /// Whether the socket is not in use. While it connects or accepts, it is neither disconnected nor connected.
    public var isDisconnected: Bool { stream?.isDisconnected ?? (listener?.session == nil) }

    /// Whether the connection is open.
    public var isConnected: Bool { stream?.isConnected ?? false }

    private var peer: SocketAddress? {
        guard let stream, stream.isConnected else { return nil }
        return stream.peerAddress
    }

    private var locals: [SocketAddress] {
        if let listener { return listener.localAddresses }
        guard let stream, stream.isConnected, let local = stream.localAddress else { return [] }
        return [local]
    }

    /// The peer's numeric address, or `nil` if the socket isn't connected.
    public var connectedHost: String? { peer?.plainHost }

    /// The peer's port, or 0 if the socket isn't connected.
    public var connectedPort: UInt16 { peer?.port ?? 0 }

    /// The file URL of the peer's Unix-domain socket, or `nil` for other sockets and for a peer without a path.
    public var connectedUrl: URL? { peer?.path.map { URL(fileURLWithPath: $0) } }

    /// The local numeric address, or `nil` if the socket isn't in use. A socket that accepts on both families returns
    /// the IPv4 one.
    public var localHost: String? { locals.first?.plainHost }

    /// The local port, or 0 if the socket isn't in use.
    public var localPort: UInt16 { locals.first?.port ?? 0 }

    /// The peer's sockaddr, or `nil` if the socket isn't connected.
    public var connectedAddress: Data? { peer?.ipData }

    /// The local sockaddr, or `nil` if the socket isn't in use.
    public var localAddress: Data? { locals.first?.ipData }

    /// Whether the socket uses IPv4. A socket that accepts can use both families.
    public var isIPv4: Bool { locals.contains { $0.family == .v4 } }

    /// Whether the socket uses IPv6. A socket that accepts can use both families.
    public var isIPv6: Bool { locals.contains { $0.family == .v6 } }

    /// Whether the connection is encrypted.
    public var isSecure: Bool {
        guard let stream, stream.isConnected else { return false }
        return stream.isSecure
    }
}
