/// Where to send datagrams to, or to receive them at, as a person names it.
public enum DatagramEndpoint: Hashable, Sendable {
    /// A host name or numeric address, and a UDP port. An empty host means this host for a destination, every interface
    /// for a bind.
    case udp(host: String, port: UInt16)
    /// A path of a Unix-domain datagram socket, at most 107 bytes long.
    case unix(path: String)
    /// A name in Linux's abstract namespace, without the leading NUL, at most 107 bytes long.
    case abstract(name: String)

    /// The endpoint of a numeric or Unix-domain address; nil for a socket without a name, which nothing can be sent to.
    public init?(_ address: SocketAddress) {
        switch address.family {
        case .v4, .v6: self = .udp(host: address.host ?? "", port: address.port ?? 0)
        case .unix: self = .unix(path: address.name ?? "")
        case .abstract: self = .abstract(name: address.name ?? "")
        case .unnamed: return nil
        }
    }
}

extension DatagramEndpoint: CustomStringConvertible {
    /// In the form that `parse` reads: `udp://host:80`, `udp://[::1]:80`, `unixgram:/path`, `unixgram:@name`.
    public var description: String {
        switch self {
        case .udp(let host, let port): "udp://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        case .unix(let path): "unixgram:\(path)"
        case .abstract(let name): "unixgram:@\(name)"
        }
    }
}

/// A datagram endpoint and the interface to use there, as one text names them: `udp://239.1.2.3:5000?interface=lo`.
public struct DatagramTarget: Hashable, Sendable, CustomStringConvertible {
    /// Where.
    public var endpoint: DatagramEndpoint
    /// For a multicast group: the interface to join or to send on, by its name or one of its addresses; nil: the
    /// system's choice.
    public var interface: String?

    /// Names a target.
    public init(_ endpoint: DatagramEndpoint, interface: String? = nil) {
        self.endpoint = endpoint
        self.interface = interface
    }

    /// In the form that `parse` reads.
    public var description: String { interface.map { "\(endpoint)?interface=\($0)" } ?? endpoint.description }

    /// Whether a text means datagrams: it begins with `udp://` or `unixgram:`, letters of either case.
    public static func isMeant(by text: String) -> Bool {
        text.lowercased().hasPrefix("udp://") || text.lowercased().hasPrefix("unixgram:")
    }

    /// Reads `udp://host:port`, `udp://:port`, `udp://group:port?interface=name`, `unixgram:/path` or `unixgram:@name`.
    /// Port 0 (any free port) makes sense only where one receives, which allows it.
    /// - Throws: an `EndpointError` that names the text and says what would be right.
    public static func parse(_ text: String, allowsPortZero: Bool = false) throws(EndpointError) -> DatagramTarget {
        func refuse(_ problem: String) -> EndpointError { EndpointError(text: text, problem: problem) }
        guard isMeant(by: text) else { throw refuse("write udp://host:port, udp://:port or unixgram:/path") }
        let rest = String(text.drop { $0 != ":" }.dropFirst())
        guard text.lowercased().hasPrefix("udp://") else {
            if rest.hasPrefix("//") { throw refuse("write unixgram:/path or unixgram:@name") }
            return DatagramTarget(try endpoint("unix:\(rest)", of: text, allowsPortZero))
        }
        let parts = rest.dropFirst(2).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let address = String(parts.first ?? "")
        if address.contains("/") || address.lowercased().hasPrefix("unix:") {
            throw refuse("host:port must follow udp://")
        }
        if address.isEmpty { throw refuse("host:port must follow udp://, as in udp://127.0.0.1:53") }
        let endpoint = try endpoint(address, of: text, allowsPortZero)
        guard parts.count == 2 else { return DatagramTarget(endpoint) }
        guard parts[1].hasPrefix("interface="), parts[1].count > 10, !parts[1].contains("&") else {
            throw refuse("what follows the ? must be interface=NAME, as in ?interface=lo")
        }
        guard endpoint.isMulticast else {
            throw refuse("interface= goes with a multicast group (224.0.0.0 to 239.255.255.255, or ff00::/8)")
        }
        return DatagramTarget(endpoint, interface: String(parts[1].dropFirst(10)))
    }

    private static func endpoint(
        _ address: String, of text: String, _ allowsPortZero: Bool
    ) throws(EndpointError) -> DatagramEndpoint {
        do {
            switch try Endpoint.parse(address, allowsPortZero: allowsPortZero) {
            case .tcp(let host, let port): return .udp(host: host, port: port)
            case .unix(let path): return .unix(path: path)
            case .abstract(let name): return .abstract(name: name)
            }
        } catch {
            throw EndpointError(text: text, problem: error.problem)
        }
    }
}

extension DatagramEndpoint {
    /// Whether this is a numeric multicast group: 224.0.0.0 to 239.255.255.255, or ff00::/8.
    public var isMulticast: Bool {
        switch self {
        case .udp(let host, _): Self.isGroup(host)
        case .unix, .abstract: false
        }
    }

    /// Whether a numeric host is a multicast group.
    package static func isGroup(_ host: String) -> Bool {
        if host.contains(":") { return host.lowercased().hasPrefix("ff") }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        guard numbers.count == 4, !numbers.contains(nil), let first = numbers[0] else { return false }
        return (224...239).contains(first)
    }
}
