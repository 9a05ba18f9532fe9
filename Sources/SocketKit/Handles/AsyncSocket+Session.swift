import SocketCore

/// The present session as a whole.
extension AsyncSocket {
    /// This socket as it is now, after all that this thread has asked for so far: phase, addresses, both queues with the
    /// operations in hand and their progress, timers and TLS. After the end of a session it stays as it was then, until
    /// the next one begins; nil before the first. `withKernel` asks the kernel too, which takes a few system calls.
    /// Waits for the queue; may be called on it. GCDAsyncSocket: `progressOfReadReturningTag:bytesDone:total:` and its
    /// twin.
    public func snapshot(withKernel: Bool = false) -> SocketSnapshot? {
        fact({ $0.snapshot(withKernel: withKernel) }, ended: { $0 })
    }

    /// Changes whether the connection stays open for writing after the peer's FIN, as
    /// `SocketConfiguration.allowsHalfOpen` does, for this session and for later ones. Takes effect when the end of the
    /// peer's stream is reached; a session that has told it already stays as it is. GCDAsyncSocket:
    /// `autoDisconnectOnClosedReadStream`, reversed.
    public func setAllowsHalfOpen(_ isAllowed: Bool) {
        configuration.allowsHalfOpen = isAllowed
        fact { connection in
            guard let connection, connection.layers.isTakenByHandle else { return }
            connection.machine.allowsHalfOpen = isAllowed
            connection.finishStep()
        }
    }

    /// Closes at once, as `disconnect()` does, and lets `didDisconnect`, `willDisconnect` and the operations that fail
    /// tell this error. For a protocol that finds its peer in the wrong. No effect without a session.
    public func disconnect(because error: SocketError) {
        fact { $0?.close(error: error) }
    }

    /// The peer's certificate in DER, then those that it sent along; empty without TLS, before the handshake, where the
    /// peer showed none, and after the end of the session.
    public var peerCertificates: [[UInt8]] {
        fact { $0?.tls?.session?.peerCertificates } ?? []
    }
}
