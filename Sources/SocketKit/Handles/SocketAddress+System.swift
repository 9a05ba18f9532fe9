import Glibc
import SocketCore

/// Addresses in the kernel's form, and names.
extension SocketAddress {
    /// The address in a `sockaddr` of these bytes; nil where they are too few for their family, or their family is neither
    /// AF_INET, AF_INET6 nor AF_UNIX. Bytes behind a sockaddr_in or sockaddr_in6 do not matter.
    public init?(sockaddr bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= MemoryLayout<sa_family_t>.size else { return nil }
        let least =
            switch Int32(bytes.loadUnaligned(as: sa_family_t.self)) {
            case AF_INET: MemoryLayout<sockaddr_in>.size
            case AF_INET6: MemoryLayout<sockaddr_in6>.size
            default: MemoryLayout<sa_family_t>.size
            }
        guard bytes.count >= least else { return nil }
        var storage = sockaddr_storage()
        let count = min(bytes.count, MemoryLayout<sockaddr_storage>.size)
        withUnsafeMutableBytes(of: &storage) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count])) }
        guard let address = Sockaddr.read(&storage, length: socklen_t(count)) else { return nil }
        self = address
    }

    /// Calls `body` with the address in the kernel's form and its length, for the length of the call. Returns nil without
    /// calling it where the kernel has no form of it: a host that is not numeric, or a path of more than 107 bytes.
    public func withSockaddr<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R? {
        Sockaddr.with(self, body)
    }

    /// The bytes of its `sockaddr`; nil where the kernel has no form of it. GCDAsyncSocket: what `connectedAddress` holds.
    public var sockaddrBytes: [UInt8]? {
        withSockaddr { pointer, length in Array(UnsafeRawBufferPointer(start: pointer, count: Int(length))) }
    }

    /// The addresses of a host: a name, or a numeric address. In the resolver's order; `localhost` and `loopback` are
    /// 127.0.0.1 and ::1, whatever the hosts file lists. Blocks while the resolver asks, so not for an engine's queue.
    /// Throws `badParameter` for an empty host, `resolver` with the code of getaddrinfo(3) where there is no address.
    /// GCDAsyncSocket: `lookupHost:port:error:`.
    public static func addresses(ofHost host: String, port: UInt16) throws(SocketError) -> [SocketAddress] {
        if host.isEmpty { throw .refused("getaddrinfo", "host: must not be empty") }
        return try SystemResolver.lookUp(host: host, port: port).get()
    }
}
