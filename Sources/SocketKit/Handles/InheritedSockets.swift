import Glibc
import SocketCore

/// A descriptor that the program was started with.
public struct InheritedSocket: Hashable, Sendable {
    /// The descriptor. The program owns it, and either gives it to one socket by `adopt` or closes it.
    public var descriptor: Int32
    /// The name (`FileDescriptorName=` of the socket unit), or `nil` if it has none.
    public var name: String?

    /// Creates an inherited socket.
    public init(descriptor: Int32, name: String? = nil) {
        (self.descriptor, self.name) = (descriptor, name)
    }

    /// Returns the descriptors that systemd passed (sd_listen_fds(3): `LISTEN_PID`, `LISTEN_FDS`, `LISTEN_FDNAMES`), in
    /// order. Returns none if it passed none, or passed them to another process. Makes them close-on-exec. Call it
    /// once, before other code opens descriptors or starts threads that change the environment.
    public static func fromSystemd() -> [InheritedSocket] {
        passed(
            process: ProcessEnvironment["LISTEN_PID"], count: ProcessEnvironment["LISTEN_FDS"],
            names: ProcessEnvironment["LISTEN_FDNAMES"], own: getpid())
    }

    /// Returns the descriptors that these variables pass to the process `own`.
    package static func passed(process: String?, count: String?, names: String?, own: pid_t) -> [InheritedSocket] {
        guard let process, pid_t(process) == own, let count = count.flatMap({ Int32($0) }), count > 0 else { return [] }
        let names = names.map { $0.split(separator: ":", omittingEmptySubsequences: false) } ?? []
        return (0..<min(count, 4_096)).compactMap { index in
            let descriptor = index + 3
            guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { return nil }
            let name = Int(index) < names.count ? names[Int(index)] : ""
            return InheritedSocket(descriptor: descriptor, name: name.isEmpty || name == "unknown" ? nil : String(name))
        }
    }
}

extension SocketListener {
    /// Adopts stream sockets that already listen, one or one for each family, such as those that systemd passes. This
    /// listener owns them from then on, unless this throws. A socket file stays when the listener stops, and its
    /// creator removes it. With `tls`, each connection is secured as soon as it is accepted, as with `listen(on:tls:)`.
    /// - Throws: `badConfiguration` if it is already listening, `badParameter` for no descriptor, one that doesn't
    ///   listen, or a client's TLS settings, and `system` if the kernel refuses.
    public func adopt(descriptors: [Int32], tls settings: TLSSettings? = nil) throws(SocketError) {
        let context = try Self.context(settings, "adopt")
        try engine.enter { state in
            Result { () throws(SocketError) in try state.adopt(descriptors, for: self, tls: context) }
        }.get()
    }

    /// Secures the connections accepted from now on with these settings, whose files are read again. Connections
    /// already accepted don't change. Use it when a certificate was renewed while the listener runs.
    /// - Throws: `notConnected` if it isn't listening, and `badParameter` for invalid settings or a client's.
    public func renewTLS(_ settings: TLSSettings) throws(SocketError) {
        let context = try Self.context(settings, "renewTLS")
        let isListening = engine.enter { state in
            guard let acceptor = session.flatMap({ state.acceptor($0) }) else { return false }
            acceptor.tls = context
            return true
        }
        guard isListening else {
            throw SocketError(.notConnected, operation: "renewTLS", detail: "the listener is not listening")
        }
    }

    /// Returns the TLS context for a listener's connections, or `nil` without settings.
    static func context(_ settings: TLSSettings?, _ operation: String) throws(SocketError) -> TLSContext? {
        guard let settings else { return nil }
        guard settings.role == .server else {
            throw .refused(operation, "role: a listener's connections are TLS servers")
        }
        return try TLSContexts.context(for: settings)
    }
}

extension DatagramSocket {
    /// Adopts a datagram socket that is already bound, such as one that systemd passes. This socket owns it from then
    /// on, unless this throws. A socket file stays when it closes.
    /// - Throws: `badConfiguration` if this socket is already bound or connected or has sent, `badParameter` if the
    ///   descriptor isn't a datagram socket, and `system` if the kernel refuses.
    public func adopt(descriptor: Int32) throws(SocketError) {
        try engine.enter { state in
            Result { () throws(SocketError) in
                try state.withSession(of: self) { session throws(SocketError) in try session.adopt(descriptor) }
            }
        }.get()
    }
}
