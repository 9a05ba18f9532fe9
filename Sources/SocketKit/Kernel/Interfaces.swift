import Glibc
import SocketCore

extension Resolver {
    /// Looks the addresses up with getifaddrs(3).
    package func addresses(ofInterface name: String) -> [SocketAddress] {
        if name == "localhost" || name == "loopback" {
            return [.v4(host: "127.0.0.1", port: 0), .v6(host: "::1", port: 0)]
        }
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        let matching = sequence(first: first, next: { $0?.pointee.ifa_next }).compactMap { entry -> SocketAddress? in
            // Tunnels have entries without an address.
            guard let entry, let source = entry.pointee.ifa_addr, let address = read(source) else { return nil }
            return String(cString: entry.pointee.ifa_name) == name || address.host == name ? address : nil
        }
        let ipv4 = matching.first { $0.family == .v4 }
        let ipv6 = matching.first { $0.family == .v6 }
        return [ipv4, ipv6].compactMap(\.self)
    }

    /// Returns the index of an interface, which is given by its name or one of its addresses, or `nil` if there is
    /// none.
    package func index(ofInterface name: String) -> UInt32? {
        let own = name == "localhost" || name == "loopback" ? "127.0.0.1" : name
        // The C library would stop at the NUL byte and take that part for the whole.
        guard !own.utf8.contains(0) else { return nil }
        let index = if_nametoindex(own)
        if index != 0 { return index }
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return nil }
        defer { freeifaddrs(first) }
        for case let entry? in sequence(first: first, next: { $0?.pointee.ifa_next }) {
            guard let source = entry.pointee.ifa_addr, read(source)?.host == own else { continue }
            return if_nametoindex(entry.pointee.ifa_name)
        }
        return nil
    }

    private func read(_ source: UnsafeMutablePointer<sockaddr>) -> SocketAddress? {
        let length: Int
        switch Int32(source.pointee.sa_family) {
        case AF_INET: length = MemoryLayout<sockaddr_in>.size
        case AF_INET6: length = MemoryLayout<sockaddr_in6>.size
        default: return nil
        }
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: source, count: length))
        }
        return Sockaddr.read(&storage, length: socklen_t(length))
    }
}

/// The text form that GCDAsyncSocket gives interfaces: `[interface][:port]`.
struct InterfaceText {
    /// The interface's name, or `nil` for any interface.
    let name: String?
    /// The port, or `nil` if the kernel chooses.
    let port: UInt16?

    /// Returns `nil` if the port is not a number from 1 to 65535.
    init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        name = parts[0].isEmpty ? nil : String(parts[0])
        guard parts.count == 2 else {
            port = nil
            return
        }
        guard let number = UInt16(parts[1]), number > 0 else { return nil }
        port = number
    }
}
