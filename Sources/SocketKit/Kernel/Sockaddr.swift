import Glibc
import SocketCore

/// Converts `SocketAddress` to the kernel's form and back.
enum Sockaddr {
    /// Calls `body` with the kernel's form of `address`. Returns `nil` if its text is not numeric or is too long.
    static func with<R>(_ address: SocketAddress, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R? {
        var storage = sockaddr_storage()
        guard let length = fill(&storage, from: address) else { return nil }
        return withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    static func fill(_ storage: inout sockaddr_storage, from address: SocketAddress) -> socklen_t? {
        switch address.storage {
        case .v4(let bits, let port):
            fill(&storage, AF_INET, port, MemoryLayout<sockaddr_in>.size) { $0.storeBytes(of: bits, as: UInt32.self) }
        case .v6(let high, let low, let port):
            fill(&storage, AF_INET6, port, MemoryLayout<sockaddr_in6>.size) { bytes in
                bytes.storeBytes(of: 0, as: UInt32.self)
                bytes.storeBytes(of: high, toByteOffset: 4, as: UInt64.self)
                bytes.storeBytes(of: low, toByteOffset: 12, as: UInt64.self)
                bytes.storeBytes(of: 0, toByteOffset: 20, as: UInt32.self)
            }
        case .text(let host, let port, let isIPv6):
            fillText(&storage, host: host, port: port, family: isIPv6 ? AF_INET6 : AF_INET)
        case .unix(let path): fillUnix(&storage, name: path.nativeBytes + [0])
        case .abstract(let name): fillUnix(&storage, name: [0] + name.nativeBytes)
        case .unnamed: fillUnix(&storage, name: [])
        }
    }

    /// Writes the family and port, which have the same place in both forms, and lets `body` write what follows.
    private static func fill(
        _ storage: inout sockaddr_storage, _ family: Int32, _ port: UInt16, _ length: Int,
        _ body: (UnsafeMutableRawBufferPointer) -> Void
    ) -> socklen_t {
        storage.ss_family = sa_family_t(family)
        withUnsafeMutableBytes(of: &storage) { bytes in
            bytes.storeBytes(of: port.bigEndian, toByteOffset: 2, as: UInt16.self)
            body(UnsafeMutableRawBufferPointer(rebasing: bytes[4...]))
        }
        return socklen_t(length)
    }

    /// Lets getaddrinfo read what is kept as text: an IPv6 scope (`%lo`), and the short forms of IPv4.
    private static func fillText(
        _ storage: inout sockaddr_storage, host: String, port: UInt16, family: Int32
    ) -> socklen_t? {
        // getaddrinfo would stop at the NUL byte and take that part for the whole.
        guard !host.utf8.contains(0) else { return nil }
        var hints = addrinfo()
        hints.ai_family = family
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &found) == 0, let found else { return nil }
        defer { freeaddrinfo(found) }
        guard let source = found.pointee.ai_addr else { return nil }
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: source, count: Int(found.pointee.ai_addrlen)))
        }
        return found.pointee.ai_addrlen
    }

    /// Writes a name. An empty one makes bind(2) choose one.
    private static func fillUnix(_ storage: inout sockaddr_storage, name: [UInt8]) -> socklen_t? {
        guard name.count <= Endpoint.longestUnixPath + 1 else { return nil }
        storage.ss_family = sa_family_t(AF_UNIX)
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? MemoryLayout<sa_family_t>.size
        withUnsafeMutableBytes(of: &storage) { bytes in
            UnsafeMutableRawBufferPointer(rebasing: bytes[offset...]).copyBytes(from: name)
        }
        return socklen_t(offset + name.count)
    }

    /// Returns the address that the kernel wrote, or `nil` for a family that this engine does not know.
    static func read(_ storage: inout sockaddr_storage, length: socklen_t) -> SocketAddress? {
        switch Int32(storage.ss_family) {
        case AF_INET:
            withUnsafeBytes(of: &storage) {
                SocketAddress(.v4($0.loadUnaligned(fromByteOffset: 4, as: UInt32.self), port: port($0)))
            }
        case AF_INET6: readIPv6(&storage, length: length)
        case AF_UNIX: readUnix(&storage, length: length)
        default: nil
        }
    }

    /// Reads sixteen bytes as an IPv6 address.
    static func ipv6(_ bytes: UnsafeRawBufferPointer, port: UInt16) -> SocketAddress {
        SocketAddress(
            .v6(
                bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
                port: port))
    }

    /// Reads the port, which has the same place in sockaddr_in and sockaddr_in6, in network order.
    private static func port(_ bytes: UnsafeRawBufferPointer) -> UInt16 {
        UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
    }

    /// An address with a scope is slow, because getnameinfo has to find the interface's name.
    private static func readIPv6(_ storage: inout sockaddr_storage, length: socklen_t) -> SocketAddress? {
        let plain = withUnsafeBytes(of: &storage) { bytes in
            bytes.loadUnaligned(fromByteOffset: 24, as: UInt32.self) == 0
                ? ipv6(UnsafeRawBufferPointer(rebasing: bytes[8..<24]), port: port(bytes)) : nil
        }
        if let plain { return plain }
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let status = withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getnameinfo($0, length, &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST)
            }
        }
        guard status == 0 else { return nil }
        let text = String(decoding: host.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return .v6(host: text, port: withUnsafeBytes(of: &storage) { port($0) })
    }

    private static func readUnix(_ storage: inout sockaddr_storage, length: socklen_t) -> SocketAddress {
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? MemoryLayout<sa_family_t>.size
        guard Int(length) > offset else { return .unnamed }
        let name = withUnsafeBytes(of: &storage) { Array($0[offset..<Int(length)]) }
        guard name.first == 0 else {
            return .unix(path: String(native: name.prefix { $0 != 0 }))
        }
        return .abstract(name: String(native: name.dropFirst()))
    }
}

extension SocketAddress.Family {
    /// The kernel's number of the family.
    var domain: Int32 {
        switch row.domain {
        case .ipv4: AF_INET
        case .ipv6: AF_INET6
        case .unix: AF_UNIX
        }
    }
}
