import Glibc
import SocketCore

/// Names as TLS wants them.
enum TLSNames {
    /// Whether it is a numeric address, which is checked as such and never sent as SNI (RFC 6066 section 3).
    static func isAddress(_ name: String) -> Bool {
        var (v4, v6) = (in_addr(), in6_addr())
        let plain = withoutScope(name)
        return inet_pton(AF_INET, plain, &v4) == 1 || inet_pton(AF_INET6, plain, &v6) == 1
    }

    /// `fe80::1%lo` as `fe80::1`: certificates know no scopes.
    static func withoutScope(_ name: String) -> String {
        String(name.prefix { $0 != "%" })
    }

    /// ALPN's list: each name behind its length (RFC 7301 section 3.1).
    static func wireForm(_ protocols: [String]) -> [UInt8] {
        protocols.flatMap { [UInt8(clamping: $0.utf8.count)] + Array($0.utf8) }
    }
}
