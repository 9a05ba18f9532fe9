import Glibc

/// The text forms of IP addresses and their bytes, in network order as they lie in memory.
package enum HostBytes {
    /// nil: not an address in dotted form.
    package static func v4(_ host: String) -> UInt32? {
        var bits = in_addr()
        guard isWhole(host), inet_pton(AF_INET, host, &bits) == 1 else { return nil }
        return bits.s_addr
    }

    /// nil: not an IPv6 address, or one with a scope.
    package static func v6(_ host: String) -> (UInt64, UInt64)? {
        var halves: (UInt64, UInt64) = (0, 0)
        guard isWhole(host), inet_pton(AF_INET6, host, &halves) == 1 else { return nil }
        return halves
    }

    /// The C library would read the part before a NUL byte, and take that for the whole.
    private static func isWhole(_ host: String) -> Bool { !host.utf8.contains(0) }

    /// `127.0.0.1`
    package static func text(_ v4: UInt32) -> String {
        withUnsafeBytes(of: v4) { bytes in "\(bytes[0]).\(bytes[1]).\(bytes[2]).\(bytes[3])" }
    }

    /// `::1`
    package static func text(_ high: UInt64, _ low: UInt64) -> String {
        var halves = (high, low)
        return String(unsafeUninitializedCapacity: Int(INET6_ADDRSTRLEN)) { text in
            text.withMemoryRebound(to: CChar.self) { text in
                inet_ntop(AF_INET6, &halves, text.baseAddress, socklen_t(text.count)).map { strlen($0) } ?? 0
            }
        }
    }
}
