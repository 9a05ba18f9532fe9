import SocketCore

/// For relays: two connections of one engine whose bytes go from one to the other.
extension AsyncSocket {
    /// Notes in snapshots of both that they belong together. Nothing else comes of it. No effect on a socket without a
    /// session, or where they live on two engines.
    package func link(to other: AsyncSocket) {
        guard let mine = session, let theirs = other.session, engine === other.engine else { return }
        engine.post(.link(mine, theirs))
        engine.post(.link(theirs, mine))
    }

    /// Looks from now on, for snapshots and for the traffic that is kept, at what passes in clear, and shows a WebSocket
    /// where an upgrade is the first request: what comes and goes is not changed, held or answered by that. `role` is the
    /// part that this end plays; `early` was read before. No effect without a session.
    package func watchForWebSocket(as role: WebSocketRole, behind early: [UInt8] = []) {
        fact { $0?.watchForWebSocket(as: role, behind: early) }
    }

    /// Takes nothing more from the kernel, so that the peer feels it, or takes it again. Unlike `pauseReading` it is no
    /// act of a person, and does not undo one. No effect without a session.
    package func holdBack(_ hold: Bool) {
        if let session { engine.post(.holdBack(session, hold)) }
    }
}

extension SocketEngine {
    /// What was spent on the compressed messages of others.
    package var inflation: InflationBudget { enter { $0.inflation } }
}
