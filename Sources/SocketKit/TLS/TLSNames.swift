import Glibc
import SocketCore

/// Names in the forms that TLS needs.
enum TLSNames {
    /// Whether it is a numeric address, which is verified as an address and never sent as SNI (RFC 6066 section 3).
    static func isAddress(_ name: String) -> Bool {
        var (v4, v6) = (in_addr(), in6_addr())
        let plain = withoutScope(name)
        return inet_pton(AF_INET, plain, &v4) == 1 || inet_pton(AF_INET6, plain, &v6) == 1
    }

    /// Returns `fe80::1%lo` as `fe80::1`, since certificates have no scopes.
    static func withoutScope(_ name: String) -> String {
        String(name.prefix { $0 != "%" })
    }

    /// Returns `example.org.` as `example.org`, since neither SNI nor certificates have the dot (RFC 6066 section 3).
    static func withoutRootDot(_ name: String) -> String {
        name.count > 1 && name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    /// Returns the ALPN list: each name preceded by its length (RFC 7301 section 3.1).
    static func wireForm(_ protocols: [String]) -> [UInt8] {
        protocols.flatMap { [UInt8(clamping: $0.utf8.count)] + Array($0.utf8) }
    }
}
