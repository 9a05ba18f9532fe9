import SocketCore

extension SocketEngine {
    /// Requests TLS on a session of this engine, as `AsyncSocket.startTLS(_:)` does on its own session. For tools that
    /// know sessions but have no handles.
    public func startTLS(_ session: SocketID, _ settings: TLSSettings) throws(SocketError) {
        let context = try TLSContexts.context(for: settings)
        try enter { state in
            Result { () throws(SocketError) in
                guard let connection = state.connection(session) else {
                    throw SocketError(.notConnected, operation: "startTLS", detail: "the socket is not connected")
                }
                try connection.startTLS(context)
            }
        }.get()
    }
}

/// Securing a connection.
///
/// TLS is a barrier in both queues: reads and writes queued before it finish in plaintext, and those queued after it
/// are encrypted. The handshake begins when both queues have reached the barrier, and takes the bytes that were read
/// ahead. A standing read doesn't delay it.
extension AsyncSocket {
    /// Requests TLS, at any time after `connect` or `didAccept`. `socketDidSecure` reports when it is set up,
    /// `didDisconnect` why it couldn't be. Bytes that were read ahead before the handshake begins belong to it.
    ///
    /// A client checks the peer's certificate, and that it is for the host that was connected to, unless the settings
    /// say otherwise. If no host name is known (Unix domain, adopted descriptors), they must. Files are read here, on
    /// the caller's thread.
    ///
    /// Throws `badParameter` if a setting is invalid, which the error names, `badConfiguration` if TLS was already
    /// requested in this session, `disconnected` if the connection is ending, and `notConnected` if there is none.
    /// GCDAsyncSocket: `startTLS:`.
    public func startTLS(_ settings: TLSSettings) throws(SocketError) {
        let context = try TLSContexts.context(for: settings)
        try enter { state, session in
            Result { () throws(SocketError) in
                guard let connection = session.flatMap({ state.connection($0) }) else {
                    throw SocketError(.notConnected, operation: "startTLS", detail: "the socket is not connected")
                }
                try connection.startTLS(context)
            }
        }.get()
    }

    /// Starts connecting, as `connect(to:timeout:)` does, and requests TLS at once. `timeout` covers the connect, and
    /// `settings.handshakeTimeout` the handshake. Throws what `connect(to:timeout:)` and `startTLS(_:)` throw. If it
    /// throws, nothing was started.
    public func connect(
        to endpoint: Endpoint, timeout: Duration? = nil, tls settings: TLSSettings
    ) throws(SocketError) {
        let context = try TLSContexts.context(for: settings)
        // Settings that don't fit this endpoint are refused before anything is started.
        _ = try TLSLayer.make(context, host: endpoint.host, address: endpoint.description)
        try enter { state, _ in
            Result { () throws(SocketError) in
                try state.connect(self, to: endpoint, timeout: timeout)
                guard let connection = self.session.flatMap({ state.connection($0) }) else { return }
                try connection.startTLS(context)
            }
        }.get()
    }

    /// The state of TLS, or `nil` if it wasn't requested in this session. It stays available after the session ends, so
    /// that every callback can read it, until the next session begins.
    public var tls: TLSSnapshot? { fact({ $0.snapshot(withKernel: false).tls }, ended: { $0.tls }) }

    /// Whether the connection is encrypted, or was when the session ended. GCDAsyncSocket: `isSecure`.
    public var isSecure: Bool {
        fact({ $0.machine.upgrade.isSecure }, ended: { $0.tls?.phase == .secure }) ?? false
    }

    /// Answers the question about the peer's certificate, from any thread. Has no effect if that question is no longer
    /// open.
    public func answerTrust(of question: OperationID, _ verdict: TrustVerdict) {
        ask(.answerTrust(question, verdict))
    }

    // MARK: Awaiting

    /// Connects and waits until TLS is set up. Throws what `connect(to:timeout:tls:)` throws, why it failed, or
    /// `cancelled` if the task was cancelled. `TLSSettings.trustEvaluator` must be `library`, because no delegate can
    /// be set before this returns.
    public static func connect(
        to endpoint: Endpoint, on engine: SocketEngine, timeout: Duration? = nil,
        configuration: SocketConfiguration = SocketConfiguration(), tls settings: TLSSettings
    ) async throws(SocketError) -> AsyncSocket {
        guard settings.trustEvaluator == .library else {
            throw .refused(
                "connect", "trustEvaluator: this call has no delegate to ask; use an AsyncSocket with a delegate")
        }
        let socket = AsyncSocket(engine: engine, configuration: configuration)
        try await socket.wait(in: \.securings, "TLS") { () throws(SocketError) in
            try socket.connect(to: endpoint, timeout: timeout, tls: settings)
        }
        return socket
    }

    /// Requests TLS, as `startTLS(_:)` does, and waits until it is set up. Throws why it couldn't be, or `cancelled` if
    /// the task was cancelled. The connection closes then, because half a handshake is of no use.
    public func secure(_ settings: TLSSettings) async throws(SocketError) {
        try await wait(in: \.securings, "TLS") { () throws(SocketError) in try self.startTLS(settings) }
    }
}
