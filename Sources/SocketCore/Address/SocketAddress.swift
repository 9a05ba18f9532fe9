/// The numeric address of one end of a socket.
///
/// An IP address is stored as the kernel's bytes and becomes text on request. Addresses are equal even if their text
/// was written differently.
public struct SocketAddress: Hashable, Sendable {
    /// The kind of an address.
    public enum Family: String, Hashable, Sendable, CaseIterable {
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

    /// The kernel's bytes, in network order as in memory. `text` is a host without such bytes: its scope (`%eth0`) is
    /// valid on one machine only, or it is not numeric and the kernel will reject it.
    package enum Storage: Hashable, Sendable {
        case v4(UInt32, port: UInt16)
        case v6(UInt64, UInt64, port: UInt16)
        case text(String, port: UInt16, isIPv6: Bool)
        case unix(String)
        case abstract(String)
        case unnamed

        /// Whether both are of the same bytes, also of names that differ only in Unicode normalization.
        package static func == (one: Storage, other: Storage) -> Bool {
            switch (one, other) {
            case (.v4(let one, let port), .v4(let other, let otherPort)): one == other && port == otherPort
            case (.v6(let one, let low, let port), .v6(let other, let otherLow, let otherPort)):
                one == other && low == otherLow && port == otherPort
            case (.text(let one, let port, let isIPv6), .text(let other, let otherPort, let isOtherIPv6)):
                port == otherPort && isIPv6 == isOtherIPv6 && one.utf8.elementsEqual(other.utf8)
            case (.unix(let one), .unix(let other)), (.abstract(let one), .abstract(let other)):
                one.utf8.elementsEqual(other.utf8)
            case (.unnamed, .unnamed): true
            case (.v4, _), (.v6, _), (.text, _), (.unix, _), (.abstract, _), (.unnamed, _): false
            }
        }
    }

    package let storage: Storage

    /// Creates an address from its stored form.
    package init(_ storage: Storage) { self.storage = storage }

    /// Creates an address from a numeric address and a port.
    package init(_ ip: IPAddress, port: UInt16) {
        switch ip {
        case .v4(let bits): storage = .v4(bits, port: port)
        case .v6(let high, let low): storage = .v6(high, low, port: port)
        }
    }

    /// Returns the address of an IPv4 host in dotted form, and a port.
    public static func v4(host: String, port: UInt16) -> SocketAddress {
        IPAddress.v4(text: host).map { SocketAddress($0, port: port) }
            ?? SocketAddress(.text(host, port: port, isIPv6: false))
    }

    /// Returns the address of an IPv6 host (with its `%scope`, if any), and a port.
    public static func v6(host: String, port: UInt16) -> SocketAddress {
        IPAddress.v6(text: host).map { SocketAddress($0, port: port) }
            ?? SocketAddress(.text(host, port: port, isIPv6: true))
    }

    /// Returns the address of a Unix-domain socket bound to a path.
    public static func unix(path: String) -> SocketAddress { SocketAddress(.unix(path)) }

    /// Returns the address of a Unix-domain socket in Linux's abstract namespace. The name has no leading NUL.
    public static func abstract(name: String) -> SocketAddress { SocketAddress(.abstract(name)) }

    /// The address of a Unix-domain socket without a name, as most clients have.
    public static var unnamed: SocketAddress { SocketAddress(.unnamed) }

    /// The kind of this address.
    public var family: Family {
        switch storage {
        case .v4, .text(_, _, false): .v4
        case .v6, .text(_, _, true): .v6
        case .unix: .unix
        case .abstract: .abstract
        case .unnamed: .unnamed
        }
    }

    /// The numeric host, in RFC 5952 form for IPv6, or `nil` for Unix-domain addresses.
    public var host: String? { if case .text(let host, _, _) = storage { host } else { ip?.description } }

    /// The host's bytes without a scope, or `nil` if the host isn't numeric.
    package var ip: IPAddress? {
        switch storage {
        case .v4(let bits, _): .v4(bits)
        case .v6(let high, let low, _): .v6(high, low)
        case .text(let host, _, true): .v6(text: String(host.prefix { $0 != "%" }))
        case .text, .unix, .abstract, .unnamed: nil
        }
    }

    /// The port, or `nil` for Unix-domain addresses.
    public var port: UInt16? {
        switch storage {
        case .v4(_, let port), .v6(_, _, let port), .text(_, let port, _): port
        case .unix, .abstract, .unnamed: nil
        }
    }

    /// The path of a `unix` address or the name of an `abstract` one, or `nil` for the others.
    public var name: String? {
        switch storage {
        case .unix(let name), .abstract(let name): name
        case .v4, .v6, .text, .unnamed: nil
        }
    }

    /// The path of a `unix` address, or `nil` for the others.
    public var path: String? { family == .unix ? name : nil }

    /// Returns the address with another port, or unchanged if it has none.
    package func with(port: UInt16) -> SocketAddress {
        switch storage {
        case .v4(let bits, _): SocketAddress(.v4(bits, port: port))
        case .v6(let high, let low, _): SocketAddress(.v6(high, low, port: port))
        case .text(let host, _, let isIPv6): SocketAddress(.text(host, port: port, isIPv6: isIPv6))
        case .unix, .abstract, .unnamed: self
        }
    }

    /// Whether it is the wildcard address of its family.
    package var isWildcard: Bool { ip?.isWildcard ?? false }

    /// Whether both are IPv4, both IPv6, or both Unix-domain.
    package func isSameFamily(as other: SocketAddress) -> Bool { family.row.domain == other.family.row.domain }
}

extension SocketAddress.Family {
    /// The facts that hold for every address of a family.
    package struct Row: Sendable {
        /// The kernel's families (address_families(7)), by their names.
        package enum Domain: String, Sendable { case ipv4 = "IPv4", ipv6 = "IPv6", unix = "Unix-domain" }
        package let domain: Domain
        /// Whether it has a host and a port, and the options and statistics of IP, TCP and UDP.
        package var isIP = true
        /// Whether a datagram socket must be named before it sends, since its peer could not answer it otherwise.
        package var namesSenders = false
        /// Whether a full queue of the receiver blocks the sender.
        package var waitsForReceiver = false
        /// The most bytes that one datagram can carry, or `nil` if there is no fixed limit.
        package var mostSent: Int?
        /// The most bytes of one datagram that are kept, unless the user sets another limit.
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
    /// The text form: `127.0.0.1:80`, `[::1]:80`, `unix:/path`, `unix:@name`.
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
    /// Creates an address from its family, a text (a host, a path or a name) and a port.
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
