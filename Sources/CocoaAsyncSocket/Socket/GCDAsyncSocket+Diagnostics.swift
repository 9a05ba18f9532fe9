import Foundation
import SocketKit

extension GCDAsyncSocket {
    /// Whether the socket is not in use. While it connects or accepts it is neither disconnected nor connected.
    public var isDisconnected: Bool { stream?.isDisconnected ?? (listener?.session == nil) }

    /// Whether bytes can pass.
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

    /// The peer's numeric address; nil when not connected.
    public var connectedHost: String? { peer?.plainHost }

    /// The peer's port; 0 when not connected.
    public var connectedPort: UInt16 { peer?.port ?? 0 }

    /// The file URL of the peer's Unix-domain socket; nil for others, and where the peer has no name.
    public var connectedUrl: URL? { peer?.path.map { URL(fileURLWithPath: $0) } }

    /// Our own numeric address, the IPv4 one of a socket that accepts on both families; nil when not in use.
    public var localHost: String? { locals.first?.plainHost }

    /// Our own port; 0 when not in use.
    public var localPort: UInt16 { locals.first?.port ?? 0 }

    /// The peer's sockaddr; nil when not connected.
    public var connectedAddress: Data? { peer?.ipData }

    /// Our own sockaddr; nil when not in use.
    public var localAddress: Data? { locals.first?.ipData }

    /// Whether it is an IPv4 socket; a socket that accepts may be both.
    public var isIPv4: Bool { locals.contains { $0.family == .v4 } }

    /// Whether it is an IPv6 socket; a socket that accepts may be both.
    public var isIPv6: Bool { locals.contains { $0.family == .v6 } }

    /// Whether bytes pass encrypted.
    public var isSecure: Bool {
        guard let stream, stream.isConnected else { return false }
        return stream.isSecure
    }
}
