import Glibc
import SocketCore

/// Turns `SocketAddress` into the kernel's form and back.
enum Sockaddr {
    /// Calls `body` with the kernel's form of `address`; nil when its text is not numeric or too long.
    static func with<R>(_ address: SocketAddress, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R? {
        var storage = sockaddr_storage()
        guard let length = fill(&storage, from: address) else { return nil }
        return withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    static func fill(_ storage: inout sockaddr_storage, from address: SocketAddress) -> socklen_t? {
        switch address {
        case .v4(let host, let port): fillNumeric(&storage, host: host, port: port, family: AF_INET)
        case .v6(let host, let port): fillNumeric(&storage, host: host, port: port, family: AF_INET6)
        case .unix(let path): fillUnix(&storage, name: Array(path.utf8) + [0])
        case .abstract(let name): fillUnix(&storage, name: [0] + Array(name.utf8))
        case .unnamed: fillUnix(&storage, name: [])
        }
    }

    /// inet_pton reads the usual forms, many times faster than getaddrinfo, which is left with the rest: an IPv6 scope
    /// (`%lo`), and the short forms of IPv4.
    private static func fillNumeric(
        _ storage: inout sockaddr_storage, host: String, port: UInt16, family: Int32
    ) -> socklen_t? {
        if let length = fillPlain(&storage, host: host, port: port, family: family) { return length }
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

    private static func fillPlain(
        _ storage: inout sockaddr_storage, host: String, port: UInt16, family: Int32
    ) -> socklen_t? {
        // The port lies at the same place in both, behind the family.
        let (offset, length) =
            family == AF_INET ? (4, MemoryLayout<sockaddr_in>.size) : (8, MemoryLayout<sockaddr_in6>.size)
        let isRead = withUnsafeMutableBytes(of: &storage) { bytes in
            bytes.storeBytes(of: port.bigEndian, toByteOffset: 2, as: UInt16.self)
            return inet_pton(family, host, bytes.baseAddress?.advanced(by: offset)) == 1
        }
        guard isRead else {
            storage = sockaddr_storage()
            return nil
        }
        storage.ss_family = sa_family_t(family)
        return socklen_t(length)
    }

    /// An empty name: none, which bind(2) takes as a wish for one of the kernel's choice.
    private static func fillUnix(_ storage: inout sockaddr_storage, name: [UInt8]) -> socklen_t? {
        guard name.count <= Endpoint.longestUnixPath + 1 else { return nil }
        storage.ss_family = sa_family_t(AF_UNIX)
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? MemoryLayout<sa_family_t>.size
        withUnsafeMutableBytes(of: &storage) { bytes in
            UnsafeMutableRawBufferPointer(rebasing: bytes[offset...]).copyBytes(from: name)
        }
        return socklen_t(offset + name.count)
    }

    /// The address that the kernel wrote; nil for a family that this engine does not know.
    static func read(_ storage: inout sockaddr_storage, length: socklen_t) -> SocketAddress? {
        switch Int32(storage.ss_family) {
        case AF_INET, AF_INET6: readNumeric(&storage, length: length)
        case AF_UNIX: readUnix(&storage, length: length)
        default: nil
        }
    }

    private static func readNumeric(_ storage: inout sockaddr_storage, length: socklen_t) -> SocketAddress? {
        if Int32(storage.ss_family) == AF_INET { return readIPv4(&storage) }
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let status = withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getnameinfo($0, length, &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST)
            }
        }
        guard status == 0 else { return nil }
        let text = String(decoding: host.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        // The port lies at the same place in sockaddr_in and sockaddr_in6, in network order.
        let port = withUnsafeBytes(of: &storage) {
            UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        }
        return .v6(host: text, port: port)
    }

    /// Without getnameinfo, which takes its time.
    private static func readIPv4(_ storage: inout sockaddr_storage) -> SocketAddress {
        withUnsafeBytes(of: &storage) {
            let port = UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
            return .v4(host: dotted(UnsafeRawBufferPointer(rebasing: $0[4..<8])), port: port)
        }
    }

    /// Four bytes as a dotted host.
    static func dotted(_ bytes: UnsafeRawBufferPointer) -> String {
        "\(bytes[0]).\(bytes[1]).\(bytes[2]).\(bytes[3])"
    }

    private static func readUnix(_ storage: inout sockaddr_storage, length: socklen_t) -> SocketAddress {
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? MemoryLayout<sa_family_t>.size
        guard Int(length) > offset else { return .unnamed }
        let name = withUnsafeBytes(of: &storage) { Array($0[offset..<Int(length)]) }
        guard name.first == 0 else {
            return .unix(path: String(decoding: name.prefix { $0 != 0 }, as: UTF8.self))
        }
        return .abstract(name: String(decoding: name.dropFirst(), as: UTF8.self))
    }
}
