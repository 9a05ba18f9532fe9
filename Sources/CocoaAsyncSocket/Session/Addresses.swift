import Foundation
import SocketKit

/// Addresses as `Data` that holds a sockaddr.
extension SocketAddress {
    /// The address in such data; nil: there is none in it that the engine knows.
    init?(_ data: Data) {
        guard let address = data.withUnsafeBytes({ SocketAddress(sockaddr: $0) }) else { return nil }
        self = address
    }

    /// An IPv4 or IPv6 address of data of exactly the length of its sockaddr; nil: it is neither.
    init?(exactly data: Data) {
        guard let address = SocketAddress(data), address.family.isIP else { return nil }
        let length = address.family == .v4 ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
        guard data.count == length else { return nil }
        self = address
    }

    /// Its sockaddr; empty where the kernel has no form of it.
    var data: Data { Data(sockaddrBytes ?? []) }

    /// The sockaddr of an IPv4 or IPv6 address; nil for others.
    var ipData: Data? { family.isIP ? data : nil }

    /// The numeric host, without a scope; nil for others than IPv4 and IPv6.
    var plainHost: String? { host.map { String($0.prefix { $0 != "%" }) } }
}

/// The interface description of an accept or a bind: `[interface][:port]`, the port only where none is given.
struct InterfaceDescription {
    /// The host to listen on; empty: all.
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
    /// A timeout in upstream's form: nil, none, for a negative one or one that is no number.
    @inline(__always) init?(timeout seconds: TimeInterval) {
        guard seconds >= 0 else { return nil }
        // Longer than a century is none, and would not fit in nanoseconds.
        guard seconds < 3_155_760_000 else { return nil }
        self = .nanoseconds(Int64(seconds * 1_000_000_000))
    }

    /// In seconds.
    var seconds: TimeInterval {
        let (seconds, attoseconds) = components
        return TimeInterval(seconds) + TimeInterval(attoseconds) / 1e18
    }
}
