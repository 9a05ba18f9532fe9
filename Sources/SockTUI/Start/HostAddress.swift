import Glibc

/// An IPv4 or IPv6 address of a host, as the bytes that the kernel compares.
struct HostAddress: Hashable {
    /// Four of them, or sixteen.
    private let bytes: [UInt8]

    private static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
    private static let anyV4 = HostAddress([UInt8](repeating: 0, count: 4))
    private static let anyV6 = HostAddress([UInt8](repeating: 0, count: 16))

    /// IPv4 inside IPv6 is IPv4.
    private init(_ bytes: [UInt8]) {
        self.bytes = bytes.starts(with: Self.mappedPrefix) ? Array(bytes.suffix(4)) : bytes
    }

    /// Reads `127.0.0.1`, `::1` or `[::1]`; `nil` if it is none of them.
    init?(numeric text: String) {
        guard let found = Self.lookUp(text, flags: AI_NUMERICHOST).first else { return nil }
        self = found
    }

    /// The addresses of a host that is listened on; of an empty name or `*`, the two that mean every interface.
    static func resolve(_ host: String) -> [HostAddress] {
        host.isEmpty || host == "*" ? [anyV4, anyV6] : lookUp(host, flags: 0)
    }

    private static func lookUp(_ host: String, flags: Int32) -> [HostAddress] {
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        var hints = addrinfo()
        hints.ai_flags = flags
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(isBracketed ? String(host.dropFirst().dropLast()) : host, nil, &hints, &list) == 0 else {
            return []
        }
        defer { freeaddrinfo(list) }
        return sequence(first: list, next: { $0?.pointee.ai_next }).prefix { $0 != nil }.compactMap { entry in
            entry.flatMap { address($0.pointee) }
        }
    }

    private static func address(_ info: addrinfo) -> HostAddress? {
        switch info.ai_family {
        case AF_INET:
            info.ai_addr.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { place in
                withUnsafeBytes(of: place.pointee.sin_addr) { HostAddress(Array($0)) }
            }
        case AF_INET6:
            info.ai_addr.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { place in
                withUnsafeBytes(of: place.pointee.sin6_addr) { HostAddress(Array($0)) }
            }
        default: nil
        }
    }

    /// Whether two sockets cannot have the same port at these addresses: they are the same one, or one is every
    /// interface. Every interface of IPv6 takes in IPv4, as it does unless a socket asks for IPv6 alone.
    func collides(with other: HostAddress) -> Bool {
        if self == other || self == Self.anyV6 || other == Self.anyV6 { return true }
        return bytes.count == other.bytes.count && (self == Self.anyV4 || other == Self.anyV4)
    }
}
