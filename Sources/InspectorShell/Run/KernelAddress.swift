import Glibc
import SocketCore

/// An IP address and port as the kernel has them.
struct KernelAddress: Sendable {
    var storage = sockaddr_storage()

    init(_ storage: sockaddr_storage) { self.storage = storage }

    /// Returns `nil` if the address is not numeric, or of another family.
    init?(_ address: SocketAddress, isMapped: Bool = false) {
        switch address.storage {
        case .v4(let bits, let port) where isMapped:
            fill(AF_INET6, port) { bytes in
                bytes.storeBytes(of: 0xFFFF, toByteOffset: 18, as: UInt16.self)
                bytes.storeBytes(of: bits, toByteOffset: 20, as: UInt32.self)
            }
        case .v4(let bits, let port):
            fill(AF_INET, port) { $0.storeBytes(of: bits, toByteOffset: 4, as: UInt32.self) }
        case .v6(let high, let low, let port):
            fill(AF_INET6, port) { bytes in
                bytes.storeBytes(of: high, toByteOffset: 8, as: UInt64.self)
                bytes.storeBytes(of: low, toByteOffset: 16, as: UInt64.self)
            }
        default: return nil
        }
    }

    private mutating func fill(_ family: Int32, _ port: UInt16, _ body: (UnsafeMutableRawBufferPointer) -> Void) {
        storage.ss_family = sa_family_t(family)
        withUnsafeMutableBytes(of: &storage) { bytes in
            bytes.storeBytes(of: port.bigEndian, toByteOffset: 2, as: UInt16.self)
            body(bytes)
        }
    }

    var family: Int32 { Int32(storage.ss_family) }

    /// The length that the kernel gives for the family.
    var length: Int { family == AF_INET6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size }

    private func load<T>(_ offset: Int, as type: T.Type) -> T {
        withUnsafeBytes(of: storage) { $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }

    /// The port in the order of the network, as it lies there.
    var rawPort: UInt16 { load(2, as: UInt16.self) }

    /// Whether it is `::ffff:` and an IPv4 address.
    var isMapped: Bool {
        family == AF_INET6 && load(8, as: UInt64.self) == 0 && load(16, as: UInt16.self) == 0
            && load(18, as: UInt16.self) == 0xFFFF
    }

    /// Whether it is the socket of the name service's cache, at which the C library of every program tries to ask.
    var asksForNames: Bool {
        let path = withUnsafeBytes(of: storage) { String(decoding: $0[2...].prefix { $0 != 0 }, as: UTF8.self) }
        return path == "/var/run/nscd/socket"
    }

    /// The address with an IPv4 one in its own form, as a listener sees it.
    var plain: KernelAddress { isMapped ? address.flatMap { KernelAddress($0) } ?? self : self }

    /// Returns the address with another port, in the order of the network, unless that is 0.
    func withPort(_ port: UInt16) -> KernelAddress {
        var other = self
        if port != 0 {
            withUnsafeMutableBytes(of: &other.storage) { $0.storeBytes(of: port, toByteOffset: 2, as: UInt16.self) }
        }
        return other
    }

    /// Whether it names no host.
    var isUnspecified: Bool {
        family == AF_INET
            ? load(4, as: UInt32.self) == 0 : load(8, as: UInt64.self) == 0 && load(16, as: UInt64.self) == 0
    }

    /// The address, with an IPv4 one in its own form.
    var address: SocketAddress? {
        let port = UInt16(bigEndian: rawPort)
        if family == AF_INET { return SocketAddress(.v4(load(4, as: UInt32.self), port: port)) }
        guard family == AF_INET6 else { return nil }
        if isMapped { return SocketAddress(.v4(load(20, as: UInt32.self), port: port)) }
        let plain = SocketAddress(.v6(load(8, as: UInt64.self), load(16, as: UInt64.self), port: port))
        let scope = load(24, as: UInt32.self)
        return scope == 0 ? plain : .v6(host: "\(plain.host ?? "")%\(scope)", port: port)
    }
}
