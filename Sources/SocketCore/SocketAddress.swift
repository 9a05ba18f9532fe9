/// One end of a socket, in the numeric form that the kernel gave.
public enum SocketAddress: Hashable, Sendable {
    /// An IPv4 address in dotted form, and a port.
    case v4(host: String, port: UInt16)
    /// An IPv6 address in RFC 5952 form (with `%scope` where it has one), and a port.
    case v6(host: String, port: UInt16)
    /// A Unix-domain socket bound to a path.
    case unix(path: String)
    /// A Unix-domain socket in Linux's abstract namespace, without the leading NUL.
    case abstract(name: String)
    /// A Unix-domain socket without a name, as most clients have.
    case unnamed
}

extension SocketAddress: CustomStringConvertible {
    /// As a person writes it: `127.0.0.1:80`, `[::1]:80`, `unix:/path`, `unix:@name`.
    public var description: String {
        switch self {
        case .v4(let host, let port): "\(host):\(port)"
        case .v6(let host, let port): "[\(host)]:\(port)"
        case .unix(let path): "unix:\(path)"
        case .abstract(let name): "unix:@\(name)"
        case .unnamed: "unix:"
        }
    }

    /// The numeric host; nil for Unix-domain addresses.
    public var host: String? {
        switch self {
        case .v4(let host, _), .v6(let host, _): host
        case .unix, .abstract, .unnamed: nil
        }
    }

    /// The port; nil for Unix-domain addresses.
    public var port: UInt16? {
        switch self {
        case .v4(_, let port), .v6(_, let port): port
        case .unix, .abstract, .unnamed: nil
        }
    }

    /// Whether this is a Unix-domain address.
    public var isUnix: Bool { host == nil }
}

extension SocketAddress: Codable {
    private enum CodingKeys: String, CodingKey { case family, host, port, path, name }

    /// Reads `{"family": "ipv4", "host": ..., "port": ...}` and its likes.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        switch try values.decode(String.self, forKey: .family) {
        case "ipv4":
            self = .v4(
                host: try values.decode(String.self, forKey: .host), port: try values.decode(UInt16.self, forKey: .port)
            )
        case "ipv6":
            self = .v6(
                host: try values.decode(String.self, forKey: .host), port: try values.decode(UInt16.self, forKey: .port)
            )
        case "unix": self = .unix(path: try values.decode(String.self, forKey: .path))
        case "abstract": self = .abstract(name: try values.decode(String.self, forKey: .name))
        default: self = .unnamed
        }
    }

    /// Writes `{"family": "ipv4", "host": ..., "port": ...}` and its likes.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .v4(let host, let port):
            try values.encode("ipv4", forKey: .family)
            try values.encode(host, forKey: .host)
            try values.encode(port, forKey: .port)
        case .v6(let host, let port):
            try values.encode("ipv6", forKey: .family)
            try values.encode(host, forKey: .host)
            try values.encode(port, forKey: .port)
        case .unix(let path):
            try values.encode("unix", forKey: .family)
            try values.encode(path, forKey: .path)
        case .abstract(let name):
            try values.encode("abstract", forKey: .family)
            try values.encode(name, forKey: .name)
        case .unnamed:
            try values.encode("unnamed", forKey: .family)
        }
    }
}
