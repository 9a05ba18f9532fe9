import Glibc
import SocketCore

/// A descriptor that the program was started with.
public struct InheritedSocket: Hashable, Sendable {
    /// The descriptor; it belongs to the program, which gives it to one socket by `adopt`, or closes it.
    public var descriptor: Int32
    /// Its name (`FileDescriptorName=` of the socket unit), or `nil` if it has none.
    public var name: String?

    /// Names a descriptor.
    public init(descriptor: Int32, name: String? = nil) {
        (self.descriptor, self.name) = (descriptor, name)
    }

    /// The descriptors that systemd passed (sd_listen_fds(3): `LISTEN_PID`, `LISTEN_FDS`, `LISTEN_FDNAMES`), in their order;
    /// empty if it passed none, or passed them to another process. They are made close-on-exec. Call it once, before other
    /// code opens descriptors or starts threads that change the environment.
    public static func fromSystemd() -> [InheritedSocket] {
        passed(
            process: ProcessEnvironment["LISTEN_PID"], count: ProcessEnvironment["LISTEN_FDS"],
            names: ProcessEnvironment["LISTEN_FDNAMES"], own: getpid())
    }

    /// What these variables say to a process.
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
    /// Takes over stream sockets that listen already, one or one for each family, such as those that systemd passes. They
    /// belong to this listener from now on, unless this throws. A socket file stays when the listener stops: whoever made
    /// it removes it. With `tls`, each connection is secured as soon as it is accepted, as by `listen(on:tls:)`.
    /// - Throws: `badConfiguration` if it listens already, `badParameter` for no descriptor, one that does not listen, or TLS
    ///   settings of a client, `system` if the kernel refuses.
    public func adopt(descriptors: [Int32], tls settings: TLSSettings? = nil) throws(SocketError) {
        let context = try Self.context(settings, "adopt")
        try engine.enter { state in
            Result { () throws(SocketError) in try state.adopt(descriptors, for: self, tls: context) }
        }.get()
    }

    /// Secures the connections that are accepted from now on with these settings, whose files are read again; those that
    /// were accepted stay as they are. For a certificate that was renewed while the listener runs.
    /// - Throws: `notConnected` if it does not listen, `badParameter` for settings that are wrong or a client's.
    public func renewTLS(_ settings: TLSSettings) throws(SocketError) {
        let context = try Self.context(settings, "renewTLS")
        let isListening = engine.enter { state in
            guard let acceptor = session.flatMap({ state.acceptor($0) }) else { return false }
            acceptor.tls = context
            return true
        }
        guard isListening else {
            throw SocketError(.notConnected, operation: "renewTLS", detail: "the listener does not listen")
        }
    }

    /// What the connections of a listener are secured with.
    static func context(_ settings: TLSSettings?, _ operation: String) throws(SocketError) -> TLSContext? {
        guard let settings else { return nil }
        guard settings.role == .server else {
            throw .refused(operation, "role: a listener's connections are TLS servers")
        }
        return try TLSContexts.context(for: settings)
    }
}

extension DatagramSocket {
    /// Takes over a datagram socket that is bound already, such as one that systemd passes. It belongs to this socket from
    /// now on, unless this throws. A socket file stays when it closes.
    /// - Throws: `badConfiguration` if it is bound, connected or has sent already, `badParameter` for a descriptor that is not
    ///   a datagram socket, `system` if the kernel refuses.
    public func adopt(descriptor: Int32) throws(SocketError) {
        try engine.enter { state in
            Result { () throws(SocketError) in
                try state.withSession(of: self) { session throws(SocketError) in try session.adopt(descriptor) }
            }
        }.get()
    }
}
