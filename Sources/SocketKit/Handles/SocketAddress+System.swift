import Glibc
import SocketCore

/// Conversion from and to `sockaddr`, and host names.
extension SocketAddress {
    /// Creates the address in a `sockaddr` of these bytes. Returns `nil` if they are too few for their family, or if
    /// the family isn't AF_INET, AF_INET6 or AF_UNIX. Bytes after a sockaddr_in or sockaddr_in6 don't matter.
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

    /// Calls `body` with the address as a `sockaddr`, valid during the call, and its length. Returns `nil` without
    /// calling it if the kernel has no form for the address: a host that isn't numeric, or a path of more than 107
    /// bytes.
    public func withSockaddr<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R? {
        Sockaddr.with(self, body)
    }

    /// The bytes of its `sockaddr`, or `nil` if the kernel has no form for it. GCDAsyncSocket: what `connectedAddress`
    /// holds.
    public var sockaddrBytes: [UInt8]? {
        withSockaddr { pointer, length in Array(UnsafeRawBufferPointer(start: pointer, count: Int(length))) }
    }

    /// Returns the addresses of a host name or numeric address, in the resolver's order. `localhost` and `loopback` are
    /// 127.0.0.1 and ::1, whatever the hosts file lists. Blocks while the resolver works, so don't call it on an
    /// engine's queue. Throws `badParameter` if the host is empty, and `resolver` with the code of getaddrinfo(3) if
    /// there is no address. GCDAsyncSocket: `lookupHost:port:error:`.
    public static func addresses(ofHost host: String, port: UInt16) throws(SocketError) -> [SocketAddress] {
        if host.isEmpty { throw .refused("getaddrinfo", "host: must not be empty") }
        return try SystemResolver.lookUp(host: host, port: port).get()
    }
}
