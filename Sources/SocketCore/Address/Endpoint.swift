/// An address to connect to, to listen on, or to send to, for streams and for datagrams.
///
/// `Endpoint.parse` (EndpointGrammar) reads the text forms.
public enum Endpoint: Hashable, Sendable {
    /// A host name or numeric address, and a TCP or UDP port, depending on the socket. An empty host means every
    /// interface for a listener or a bind, and this host for a datagram. A connect rejects it.
    case host(String, port: UInt16)
    /// A path of a Unix-domain socket, at most 107 bytes long. A byte that is not UTF-8 is the character U+10FF00 plus
    /// that byte, here and in names.
    case unix(path: String)
    /// A name in Linux's abstract namespace, without the leading NUL, at most 107 bytes long.
    case abstract(name: String)

    /// Whether both are of the same bytes. Two spellings of a path that differ only in Unicode normalization name
    /// different files.
    public static func == (one: Endpoint, other: Endpoint) -> Bool {
        switch (one, other) {
        case (.host(let one, let port), .host(let other, let otherPort)):
            port == otherPort && one.utf8.elementsEqual(other.utf8)
        case (.unix(let one), .unix(let other)), (.abstract(let one), .abstract(let other)):
            one.utf8.elementsEqual(other.utf8)
        case (.host, _), (.unix, _), (.abstract, _): false
        }
    }

    /// Returns `host(_:port:)` with a TCP port.
    public static func tcp(host: String, port: UInt16) -> Endpoint { .host(host, port: port) }

    /// Returns `host(_:port:)` with a UDP port.
    public static func udp(host: String, port: UInt16) -> Endpoint { .host(host, port: port) }

    /// Creates the endpoint of a numeric or Unix-domain address. Returns `nil` for a socket without a name, which can't
    /// be a destination.
    public init?(_ address: SocketAddress) {
        switch address.family {
        case .v4, .v6: self = .host(address.host ?? "", port: address.port ?? 0)
        case .unix: self = .unix(path: address.name ?? "")
        case .abstract: self = .abstract(name: address.name ?? "")
        case .unnamed: return nil
        }
    }

    /// The host, which may be empty, or `nil` for a Unix-domain socket.
    public var host: String? { if case .host(let host, _) = self { host } else { nil } }

    /// The port, or `nil` for a Unix-domain socket.
    public var port: UInt16? { if case .host(_, let port) = self { port } else { nil } }

    /// The path of a Unix-domain socket that has a file, or `nil`.
    public var path: String? { if case .unix(let path) = self { path } else { nil } }

    /// Whether this is a numeric multicast group: 224.0.0.0 to 239.255.255.255, or ff00::/8.
    public var isMulticast: Bool {
        // The scope is not part of the group.
        host.flatMap { IPAddress(String($0.prefix { $0 != "%" })) }?.isMulticast ?? false
    }
}

extension Endpoint {
    /// The address of a Unix-domain socket, or `nil` for a host, which may be a name.
    package var address: SocketAddress? {
        switch self {
        case .host: nil
        case .unix(let path): .unix(path: path)
        case .abstract(let name): .abstract(name: name)
        }
    }

    /// Why no Unix-domain socket can have this address, as `argument: sentence`, or `nil` if one can or if it is a
    /// host.
    package var fault: String? {
        guard let name = address?.name else { return nil }
        let what = path == nil ? "name" : "path"
        if name.isEmpty { return "\(what): must not be empty" }
        // The kernel would use a shorter path, or an abstract name.
        if path != nil, name.utf8.contains(0) { return "path: must not contain a NUL byte" }
        let length = name.nativeBytes.count
        guard length > Self.longestUnixPath else { return nil }
        return "\(self): \(length) bytes; a \(what) has at most \(Self.longestUnixPath)"
    }
}

extension Endpoint: CustomStringConvertible {
    /// The form that `parse` reads: `host:80`, `[::1]:80`, `:80`, `unix:/path`, `unix:@name`.
    public var description: String { (host == nil ? "unix:" : "") + bare }

    /// The form without a scheme: `host:80`, `[::1]:80`, `:80`, `/path`, `@name`.
    package var bare: String {
        switch self {
        case .host(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): path
        case .abstract(let name): "@\(name)"
        }
    }

    /// The endpoint to send to: this host instead of an empty one, which only a listener or a bind can use.
    package var toSend: Endpoint {
        guard case .host("", let port) = self else { return self }
        return .host("localhost", port: port)
    }

    /// The form of a datagram socket's endpoint, whose scheme differs from a stream's: `udp://host:80`,
    /// `unixgram:/path`.
    package var datagramText: String { (host == nil ? "unixgram:" : "udp://") + bare }
}
