/// One end of a socket, in the numeric form that the kernel gave.
///
/// An IP address is kept as the kernel's bytes and becomes text when somebody asks; equal addresses are equal however
/// their text was written.
public struct SocketAddress: Hashable, Sendable {
    /// What kind of address it is.
    public enum Family: String, Hashable, Sendable, Codable, CaseIterable {
        /// An IPv4 address and a port.
        case v4 = "ipv4"
        /// An IPv6 address and a port.
        case v6 = "ipv6"
        /// A Unix-domain socket bound to a path.
        case unix
        /// A Unix-domain socket in Linux's abstract namespace.
        case abstract
        /// A Unix-domain socket without a name, as most clients have.
        case unnamed
    }

    /// The kernel's bytes, in network order as they lie in memory; `text` is a host that has no such bytes here, since
    /// its scope (`%eth0`) means something to one machine only, or since it is not numeric and the kernel will refuse it.
    package enum Storage: Hashable, Sendable {
        case v4(UInt32, port: UInt16)
        case v6(UInt64, UInt64, port: UInt16)
        case text(String, port: UInt16, isIPv6: Bool)
        case unix(String)
        case abstract(String)
        case unnamed
    }

    package let storage: Storage

    /// An address as the kernel has it.
    package init(_ storage: Storage) { self.storage = storage }

    /// A numeric address and a port.
    package init(_ ip: IPAddress, port: UInt16) {
        switch ip {
        case .v4(let bits): storage = .v4(bits, port: port)
        case .v6(let high, let low): storage = .v6(high, low, port: port)
        }
    }

    /// An IPv4 address in dotted form, and a port.
    public static func v4(host: String, port: UInt16) -> SocketAddress {
        IPAddress.v4(text: host).map { SocketAddress($0, port: port) }
            ?? SocketAddress(.text(host, port: port, isIPv6: false))
    }

    /// An IPv6 address (with `%scope` where it has one), and a port.
    public static func v6(host: String, port: UInt16) -> SocketAddress {
        IPAddress.v6(text: host).map { SocketAddress($0, port: port) }
            ?? SocketAddress(.text(host, port: port, isIPv6: true))
    }

    /// A Unix-domain socket bound to a path.
    public static func unix(path: String) -> SocketAddress { SocketAddress(.unix(path)) }

    /// A Unix-domain socket in Linux's abstract namespace, without the leading NUL.
    public static func abstract(name: String) -> SocketAddress { SocketAddress(.abstract(name)) }

    /// A Unix-domain socket without a name, as most clients have.
    public static var unnamed: SocketAddress { SocketAddress(.unnamed) }

    /// What kind of address it is.
    public var family: Family {
        switch storage {
        case .v4, .text(_, _, false): .v4
        case .v6, .text(_, _, true): .v6
        case .unix: .unix
        case .abstract: .abstract
        case .unnamed: .unnamed
        }
    }

    /// The numeric host, an IPv6 one in RFC 5952 form; nil for Unix-domain addresses.
    public var host: String? { if case .text(let host, _, _) = storage { host } else { ip?.description } }

    /// The host's bytes, without a scope; `nil` if it isn't numeric.
    package var ip: IPAddress? {
        switch storage {
        case .v4(let bits, _): .v4(bits)
        case .v6(let high, let low, _): .v6(high, low)
        case .text(let host, _, true): .v6(text: String(host.prefix { $0 != "%" }))
        case .text, .unix, .abstract, .unnamed: nil
        }
    }

    /// The port; nil for Unix-domain addresses.
    public var port: UInt16? {
        switch storage {
        case .v4(_, let port), .v6(_, _, let port), .text(_, let port, _): port
        case .unix, .abstract, .unnamed: nil
        }
    }

    /// The path of a `unix` address or the name of an `abstract` one; nil for the others.
    public var name: String? {
        switch storage {
        case .unix(let name), .abstract(let name): name
        case .v4, .v6, .text, .unnamed: nil
        }
    }

    /// The path of a `unix` address; nil for the others.
    public var path: String? { family == .unix ? name : nil }

    /// The same with another port; unchanged where there is none.
    package func with(port: UInt16) -> SocketAddress {
        switch storage {
        case .v4(let bits, _): SocketAddress(.v4(bits, port: port))
        case .v6(let high, let low, _): SocketAddress(.v6(high, low, port: port))
        case .text(let host, _, let isIPv6): SocketAddress(.text(host, port: port, isIPv6: isIPv6))
        case .unix, .abstract, .unnamed: self
        }
    }

    /// Whether it stands for every address of its family.
    package var isWildcard: Bool { ip?.isWildcard ?? false }

    /// Whether both are IPv4, both IPv6, or both of the Unix domain.
    package func isSameFamily(as other: SocketAddress) -> Bool { family.row.domain == other.family.row.domain }
}

extension SocketAddress.Family {
    /// What is so of every address of a family.
    package struct Row: Sendable {
        /// The kernel's families (address_families(7)), by their names.
        package enum Domain: String, Sendable { case ipv4 = "IPv4", ipv6 = "IPv6", unix = "Unix-domain" }
        package let domain: Domain
        /// Whether it has a host and a port, and the options and the reports of IP, TCP and UDP.
        package var isIP = true
        /// Whether a datagram socket must be given a name before it sends, since nobody could answer it otherwise.
        package var namesSenders = false
        /// Whether a full queue of the receiver holds up the sender.
        package var waitsForReceiver = false
        /// The most bytes that one datagram can carry, where a fixed number of them is known.
        package var mostSent: Int?
        /// The most bytes that are kept of one datagram, unless the user says otherwise.
        package var mostReceived = 65_535
    }

    /// The row of this family.
    package var row: Row {
        switch self {
        case .v4: Row(domain: .ipv4, mostSent: 65_507)
        case .v6: Row(domain: .ipv6, mostSent: 65_527)
        case .unix, .abstract, .unnamed:
            Row(
                domain: .unix, isIP: false, namesSenders: true, waitsForReceiver: true, mostReceived: 256 << 10)
        }
    }

    /// Whether it has a host and a port.
    public var isIP: Bool { row.isIP }
}

extension SocketAddress: CustomStringConvertible {
    /// As a person writes it: `127.0.0.1:80`, `[::1]:80`, `unix:/path`, `unix:@name`.
    public var description: String {
        switch family {
        case .v4: "\(host ?? ""):\(port ?? 0)"
        case .v6: "[\(host ?? "")]:\(port ?? 0)"
        case .unix: "unix:\(name ?? "")"
        case .abstract: "unix:@\(name ?? "")"
        case .unnamed: "unix:"
        }
    }
}

extension SocketAddress {
    /// The address of a family that this text, a host, a path or a name, and this port stand for.
    package init(_ family: Family, text: String, port: UInt16) {
        self =
            switch family {
            case .v4: .v4(host: text, port: port)
            case .v6: .v6(host: text, port: port)
            case .unix: .unix(path: text)
            case .abstract: .abstract(name: text)
            case .unnamed: .unnamed
            }
    }
}

extension SocketAddress: Codable {
    private enum CodingKeys: String, CodingKey { case family, host, port, path, name }

    /// Reads `{"family": "ipv4", "host": ..., "port": ...}` and its likes.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String { try values.decode(String.self, forKey: key) }
        let family = Family(rawValue: try text(.family)) ?? .unnamed
        let name: CodingKeys? = family.isIP ? .host : family == .unix ? .path : family == .abstract ? .name : nil
        self.init(
            family, text: try name.map(text) ?? "",
            port: family.isIP ? try values.decode(UInt16.self, forKey: .port) : 0)
    }

    /// Writes `{"family": "ipv4", "host": ..., "port": ...}` and its likes.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(family, forKey: .family)
        try values.encodeIfPresent(host, forKey: .host)
        try values.encodeIfPresent(port, forKey: .port)
        try values.encodeIfPresent(name, forKey: family == .unix ? .path : .name)
    }
}

extension SocketAddress {
    /// Whether this is a Unix-domain address.
    @available(*, deprecated, message: "use !family.isIP")
    public var isUnix: Bool { !family.isIP }
}
