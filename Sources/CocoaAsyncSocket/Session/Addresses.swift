import Foundation
import SocketKit

/// Addresses as `Data` that holds a sockaddr.
extension SocketAddress {
    /// Reads an address. Returns `nil` if the engine does not know its form.
    init?(_ data: Data) {
        guard let address = data.withUnsafeBytes({ SocketAddress(sockaddr: $0) }) else { return nil }
        self = address
    }

    /// Reads an IPv4 or IPv6 address. Returns `nil` if the data is neither, or not exactly as long as its sockaddr.
    init?(exactly data: Data) {
        guard let address = SocketAddress(data), address.family.isIP else { return nil }
        let length = address.family == .v4 ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
        guard data.count == length else { return nil }
        self = address
    }

    /// The sockaddr, or empty data if the kernel has no form for the address.
    var data: Data { Data(sockaddrBytes ?? []) }

    /// The sockaddr of an IPv4 or IPv6 address, or `nil` for others.
    var ipData: Data? { family.isIP ? data : nil }

    /// The numeric host without a scope, or `nil` if the address is neither IPv4 nor IPv6.
    var plainHost: String? { host.map { String($0.prefix { $0 != "%" }) } }
}

/// The interface description of an accept or a bind: `[interface][:port]`. Its port is used only if no other is given.
struct InterfaceDescription {
    /// The host to listen on, or empty for all interfaces.
    let host: String
    let port: UInt16

    init(_ text: String?, port: UInt16) {
        let parts = (text ?? "").split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        host = parts.first.map(String.init) ?? ""
        let named = parts.count > 1 ? UInt16(parts[1]) : nil
        self.port = port == 0 ? named ?? 0 : port
    }
}

extension Duration {
    /// Reads a timeout in upstream's form. Returns `nil`, for no timeout, if it is negative or NaN.
    @inline(__always) init?(timeout seconds: TimeInterval) {
        guard seconds >= 0 else { return nil }
        // A timeout over a century counts as none, and would not fit in nanoseconds.
        guard seconds < 3_155_760_000 else { return nil }
        self = .nanoseconds(Int64(seconds * 1_000_000_000))
    }

    /// The duration in seconds.
    var seconds: TimeInterval {
        let (seconds, attoseconds) = components
        return TimeInterval(seconds) + TimeInterval(attoseconds) / 1e18
    }
}
