import SocketCore

extension SocketEngine {
    /// Asks for TLS on a session of this engine, as `AsyncSocket.startTLS(_:)` does for its own; for tools that know
    /// sessions and no handles.
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
/// TLS is a barrier in both queues: reads and writes that were queued before it finish in clear, those queued behind it
/// pass encrypted, and bytes that were read ahead are fed to the handshake, which begins when both queues have come to
/// the barrier. A standing read does not hold it up.
extension AsyncSocket {
    /// Asks for TLS, at any time after `connect` or `didAccept`; `socketDidSecure` tells when it is set up,
    /// `didDisconnect` why it could not be. What was read ahead until the handshake begins belongs to it.
    ///
    /// A client checks the peer's certificate, and that it is for the host that was connected to, unless the settings
    /// say otherwise; where no host name is known (Unix domain, adopted descriptors) they have to. Files are read here,
    /// on the caller's thread.
    ///
    /// Throws `badParameter` for a setting that is wrong, with a sentence that names it; `badConfiguration` when TLS was
    /// asked for before in this session; `disconnected` when the connection is ending, `notConnected` when there is
    /// none. GCDAsyncSocket: `startTLS:`.
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

    /// Begins to connect, as `connect(to:timeout:)` does, and asks for TLS at once. `timeout` covers the connect, the
    /// settings' own covers the handshake. Throws what `connect(to:timeout:)` and `startTLS(_:)` throw, and then nothing
    /// was begun.
    public func connect(
        to endpoint: Endpoint, timeout: Duration? = nil, tls settings: TLSSettings
    ) throws(SocketError) {
        let context = try TLSContexts.context(for: settings)
        // What does not go with this endpoint is refused before anything is begun.
        _ = try TLSLayer.make(context, host: endpoint.host, address: endpoint.description)
        try enter { state, _ in
            Result { () throws(SocketError) in
                try state.connect(self, to: endpoint, timeout: timeout)
                guard let connection = self.session.flatMap({ state.connection($0) }) else { return }
                try connection.startTLS(context)
            }
        }.get()
    }

    /// TLS as it stands; `nil` if nobody asked for it in this session. After the end of the session it stays as it was
    /// then, so that every callback can read it, until the next session begins.
    public var tls: TLSSnapshot? { fact({ $0.snapshot(withKernel: false).tls }, ended: { $0.tls }) }

    /// Whether bytes pass encrypted, or did when the session ended. GCDAsyncSocket: `isSecure`.
    public var isSecure: Bool {
        fact({ $0.machine.upgrade.isSecure }, ended: { $0.tls?.phase == .secure }) ?? false
    }

    /// Gives the verdict on the peer's certificate, from any thread; no effect when that question is not open any more.
    public func answerTrust(of question: OperationID, _ verdict: TrustVerdict) {
        ask(.answerTrust(question, verdict))
    }

    // MARK: Awaiting

    /// Connects and waits until TLS is set up. Throws what `connect(to:timeout:tls:)` throws, or why it failed;
    /// `cancelled` when the task was cancelled. A delegate that is to judge the peer's certificate cannot be set before
    /// this returns, so `TLSSettings.trustEvaluator` must be `library`.
    public static func connect(
        to endpoint: Endpoint, on engine: SocketEngine, timeout: Duration? = nil,
        configuration: SocketConfiguration = SocketConfiguration(), tls settings: TLSSettings
    ) async throws(SocketError) -> AsyncSocket {
        guard settings.trustEvaluator == .library else {
            throw .refused("connect", "judge: nobody can be asked here; use an AsyncSocket with a delegate")
        }
        let socket = AsyncSocket(engine: engine, configuration: configuration)
        try await socket.wait(in: \.securings, "TLS") { () throws(SocketError) in
            try socket.connect(to: endpoint, timeout: timeout, tls: settings)
        }
        return socket
    }

    /// Asks for TLS, as `startTLS(_:)` does, and waits until it is set up. Throws why it could not be; `cancelled` when
    /// the task was cancelled, and then the connection is closed, since half a handshake is of no use.
    public func secure(_ settings: TLSSettings) async throws(SocketError) {
        try await wait(in: \.securings, "TLS") { () throws(SocketError) in try self.startTLS(settings) }
    }
}
