import Glibc

/// An IPv4 or IPv6 address without port and scope: the kernel's bytes, in network order as in memory.
package enum IPAddress: Hashable, Sendable {
    case v4(UInt32)
    case v6(UInt64, UInt64)

    /// Parses `127.0.0.1` or `::1`. Returns `nil` if the text is neither. A scope (`%eth0`) is not accepted.
    package init?(_ text: String) {
        guard let address = Self.v4(text: text) ?? Self.v6(text: text) else { return nil }
        self = address
    }

    /// Parses an address in dotted form. Returns `nil` if the text is not one.
    package static func v4(text: String) -> IPAddress? {
        var bits = in_addr()
        guard isWhole(text), inet_pton(AF_INET, text, &bits) == 1 else { return nil }
        return .v4(bits.s_addr)
    }

    /// Parses an IPv6 address without a scope. Returns `nil` if the text is not one.
    package static func v6(text: String) -> IPAddress? {
        var halves: (UInt64, UInt64) = (0, 0)
        guard isWhole(text), inet_pton(AF_INET6, text, &halves) == 1 else { return nil }
        return .v6(halves.0, halves.1)
    }

    /// Whether there is no NUL byte. The C library would parse only the part before it.
    private static func isWhole(_ text: String) -> Bool { !text.utf8.contains(0) }

    /// Whether it is the wildcard address of its family.
    package var isWildcard: Bool {
        switch self {
        case .v4(let bits): bits == 0
        case .v6(let high, let low): high == 0 && low == 0
        }
    }

    /// Whether it is in 127.0.0.0/8 (also inside an IPv4-mapped address), or ::1.
    package var isLoopback: Bool {
        switch unmapped {
        case .v4(let bits): UInt32(bigEndian: bits) >> 24 == 127
        case .v6(let high, let low): high == 0 && low == UInt64(1).bigEndian
        }
    }

    /// Whether it is in 169.254.0.0/16 or fe80::/10, which every link has.
    package var isLinkLocal: Bool {
        switch unmapped {
        case .v4(let bits): UInt32(bigEndian: bits) >> 16 == 0xA9FE
        case .v6(let high, _): UInt64(bigEndian: high) >> 54 == 0x3FA
        }
    }

    /// Whether it is a multicast group: 224.0.0.0 to 239.255.255.255, or ff00::/8.
    package var isMulticast: Bool {
        switch self {
        case .v4(let bits): UInt32(bigEndian: bits) >> 28 == 0xE
        case .v6(let high, _): UInt64(bigEndian: high) >> 56 == 0xFF
        }
    }

    /// The IPv4 address inside an IPv4-mapped one (RFC 4291, 2.5.5.2), or any other address unchanged.
    package var unmapped: IPAddress {
        guard case .v6(0, let low) = self, UInt64(bigEndian: low) >> 32 == 0xFFFF else { return self }
        return .v4(UInt32(truncatingIfNeeded: UInt64(bigEndian: low)).bigEndian)
    }
}

extension IPAddress {
    /// Parses `192.0.2.0/24` or `2001:db8::/32`: a network and the length of its prefix in bits.
    package static func network(_ text: String) -> (address: IPAddress, bits: Int)? {
        let halves = text.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, let address = IPAddress(String(halves[0])), let bits = Int(halves[1]),
            (0...address.width).contains(bits)
        else { return nil }
        return (address, bits)
    }

    /// Whether the first `bits` bits equal those of `network`.
    package func isIn(_ network: IPAddress, bits: Int) -> Bool {
        switch (self, network) {
        case (.v4(let one), .v4(let other)):
            return UInt32(bigEndian: one ^ other) >> (32 - bits) == 0
        case (.v6(let high, let low), .v6(let otherHigh, let otherLow)):
            let isHighSame = UInt64(bigEndian: high ^ otherHigh) >> (64 - min(bits, 64)) == 0
            return isHighSame && UInt64(bigEndian: low ^ otherLow) >> (128 - max(bits, 64)) == 0
        case (.v4, .v6), (.v6, .v4): return false
        }
    }

    private var width: Int {
        switch self {
        case .v4: 32
        case .v6: 128
        }
    }
}

extension IPAddress: CustomStringConvertible {
    /// The text form: `127.0.0.1`, or `::1` in RFC 5952 form.
    package var description: String {
        switch self {
        case .v4(let bits):
            withUnsafeBytes(of: bits) { bytes in "\(bytes[0]).\(bytes[1]).\(bytes[2]).\(bytes[3])" }
        case .v6(let high, let low): Self.text(high, low)
        }
    }

    private static func text(_ high: UInt64, _ low: UInt64) -> String {
        var halves = (high, low)
        return String(unsafeUninitializedCapacity: Int(INET6_ADDRSTRLEN)) { text in
            text.withMemoryRebound(to: CChar.self) { text in
                inet_ntop(AF_INET6, &halves, text.baseAddress, socklen_t(text.count)).map { strlen($0) } ?? 0
            }
        }
    }
}
