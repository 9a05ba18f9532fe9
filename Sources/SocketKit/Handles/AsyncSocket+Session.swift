import SocketCore

/// The current session as a whole.
extension AsyncSocket {
    /// Returns a snapshot that reflects every request this thread has made: phase, addresses, both queues with the
    /// progress of the current operations, timers and TLS. After a session ends, returns its final snapshot until the
    /// next one begins. Returns `nil` before the first session. `withKernel` also queries the kernel, which takes a few
    /// system calls. Waits for the engine's queue, and can be called on it. GCDAsyncSocket:
    /// `progressOfReadReturningTag:bytesDone:total:` and its twin.
    public func snapshot(withKernel: Bool = false) -> SocketSnapshot? {
        fact({ $0.snapshot(withKernel: withKernel) }, ended: { $0 })
    }

    /// Changes whether the connection stays open for writing after the peer's FIN, as
    /// `SocketConfiguration.allowsHalfOpen` does, for this session and later ones. Takes effect when the end of the
    /// peer's stream is reached, unless the session has already reported it. GCDAsyncSocket:
    /// `autoDisconnectOnClosedReadStream`, reversed.
    public func setAllowsHalfOpen(_ isAllowed: Bool) {
        configuration.allowsHalfOpen = isAllowed
        fact { connection in
            guard let connection, connection.layers.isTakenByHandle else { return }
            connection.machine.allowsHalfOpen = isAllowed
            connection.finishStep()
        }
    }

    /// Closes at once, as `disconnect()` does, and reports `error` in `didDisconnect`, `willDisconnect` and the
    /// operations that fail. Use it when the peer breaks a protocol's rules. Has no effect without a session.
    public func disconnect(because error: SocketError) {
        fact { $0?.close(error: error) }
    }

    /// The peer's certificate in DER, followed by those it sent along. Empty without TLS, before the handshake, if the
    /// peer sent none, and after the session ends.
    public var peerCertificates: [[UInt8]] {
        fact { $0?.tls?.session?.peerCertificates } ?? []
    }
}
