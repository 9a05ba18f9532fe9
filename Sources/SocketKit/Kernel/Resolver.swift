import Dispatch
import Glibc
import SocketCore

/// Finds the addresses of a host name. A protocol, so that tests can script names.
package protocol Resolver: AnyObject, Sendable {
    /// Calls `answer` once, on any thread, with at least one address in the resolver's order, or with the error.
    func resolve(
        host: String, port: UInt16, answer: @escaping @Sendable (Result<[SocketAddress], SocketError>) -> Void)
    /// Returns the first IPv4 and the first IPv6 address of an interface, which is given by its name or one of its
    /// numeric addresses. The result is empty if there is no such interface. Does not block.
    func addresses(ofInterface name: String) -> [SocketAddress]
}

/// getaddrinfo(3), on Dispatch's own threads, because it blocks.
///
/// `localhost` and `loopback` always mean both loopback addresses (RFC 6761 section 6.3, and GCDAsyncSocket), whatever
/// the hosts file lists.
package final class SystemResolver: Resolver {
    package init() {}

    package func resolve(
        host: String, port: UInt16, answer: @escaping @Sendable (Result<[SocketAddress], SocketError>) -> Void
    ) {
        if let loopback = Self.loopback(host: host, port: port) { return answer(.success(loopback)) }
        DispatchQueue.global().async { answer(Self.lookUp(host: host, port: port, flags: 0)) }
    }

    private static func loopback(host: String, port: UInt16) -> [SocketAddress]? {
        guard ["localhost", "localhost.", "loopback"].contains(host) else { return nil }
        return [.v4(host: "127.0.0.1", port: port), .v6(host: "::1", port: port)]
    }

    /// Returns what `resolve` would answer. Blocks.
    static func lookUp(host: String, port: UInt16) -> Result<[SocketAddress], SocketError> {
        loopback(host: host, port: port).map { .success($0) } ?? lookUp(host: host, port: port, flags: 0)
    }

    /// Returns the address of a numeric host, or `nil` for a name. Does not block.
    static func numeric(host: String, port: UInt16) -> SocketAddress? {
        // The C library would stop at the NUL byte and take that part for the whole.
        if host.utf8.contains(0) { return nil }
        // An address that inet_pton reads is already in its usual form.
        if let ip = IPAddress.v4(text: host) { return SocketAddress(ip, port: port) }
        return try? lookUp(host: host, port: port, flags: AI_NUMERICHOST).get().first
    }

    /// Returns the addresses of a host, without a port. The result is empty if there are none. Blocks.
    package static func addresses(of host: String) -> [SocketAddress] {
        (try? lookUp(host: host, port: 0, flags: 0).get()) ?? []
    }

    private static func lookUp(host: String, port: UInt16, flags: Int32) -> Result<[SocketAddress], SocketError> {
        guard !host.utf8.contains(0) else {
            return .failure(
                SocketError(
                    .resolver(code: EAI_NONAME), operation: "getaddrinfo",
                    detail: "a host name must not contain a NUL byte"))
        }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_protocol = Int32(IPPROTO_TCP)
        hints.ai_flags = flags | AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &found)
        guard status == 0, let first = found else {
            let words = status == EAI_SYSTEM ? String(cString: strerror(errno)) : String(cString: gai_strerror(status))
            return .failure(
                SocketError(.resolver(code: status), operation: "getaddrinfo", detail: "\(host): \(words)"))
        }
        defer { freeaddrinfo(first) }
        return .success(sequence(first: first) { $0.pointee.ai_next }.compactMap(address))
    }

    private static func address(_ entry: UnsafeMutablePointer<addrinfo>) -> SocketAddress? {
        guard let source = entry.pointee.ai_addr else { return nil }
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: source, count: Int(entry.pointee.ai_addrlen)))
        }
        return Sockaddr.read(&storage, length: entry.pointee.ai_addrlen)
    }
}

extension Endpoint {
    /// The address of a numeric endpoint, or `nil` if its host is a name, which must be resolved.
    var numericAddress: SocketAddress? {
        if case .host(let host, let port) = self { SystemResolver.numeric(host: host, port: port) } else { address }
    }
}
