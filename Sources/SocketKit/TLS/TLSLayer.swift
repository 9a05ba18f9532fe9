import SocketCore

/// The TLS of one connection: its settings and, once the handshake has begun, its session.
final class TLSLayer {
    let context: TLSContext
    /// The server name to request, unless it is an address, or `nil` if none is known.
    let askedName: String?
    /// The name or address that the peer's certificate must match, or `nil` if it isn't checked.
    let expectedName: String?
    /// The peer's key in the store of resumable sessions.
    let sessionKey: String?
    /// When TLS was requested.
    var asked = MonotonicTime(nanoseconds: 0)
    var session: TLSSession?
    var began: MonotonicTime?
    var handshakeTime: Duration?
    /// When the verdict on the peer's certificate was requested, and how long it took.
    var questioned: MonotonicTime?
    var verdictTime = Duration.zero
    /// The facts about the session, once the handshake is complete.
    var facts: TLSSession.Facts?
    /// The question about the peer's certificate that awaits its verdict.
    var question: TLSTrust?

    /// Set while encrypted bytes wait inside the session for room for their plaintext.
    var hasMore = false
    /// Set once the kernel has reported the peer's FIN.
    var hasWireEnded = false
    /// Set while FIN waits for the encrypted bytes before it to be accepted by the kernel.
    var owesFIN = false
    /// Set if FIN is sent without close_notify, because a relay forwards a truncated stream.
    var withholdsCloseNotify = false
    var plaintextReceived: UInt64 = 0
    var plaintextSent: UInt64 = 0

    init(context: TLSContext, askedName: String?, expectedName: String?, sessionKey: String?) {
        self.context = context
        self.askedName = askedName
        self.expectedName = expectedName
        self.sessionKey = sessionKey
    }

    /// Creates a layer for a connection to `host` at `address`. `host` is `nil` if the peer's name isn't known. Throws
    /// `badParameter` if the name must be checked and there is none.
    static func make(_ context: TLSContext, host: String?, address: String) throws(SocketError) -> TLSLayer {
        let settings = context.settings
        guard settings.role == .client else {
            return TLSLayer(context: context, askedName: nil, expectedName: nil, sessionKey: nil)
        }
        let name = (settings.serverName ?? host).map(TLSNames.withoutRootDot)
        let isPinned = if case .pinned = settings.trust { true } else { false }
        if settings.checksName, !isPinned, name == nil {
            throw TLSContext.refused(
                "serverName: no host name is known for this connection; set it, or set checksName to false")
        }
        return TLSLayer(
            context: context, askedName: name, expectedName: settings.checksName && !isPinned ? name : nil,
            sessionKey: "\(name ?? "") \(address)")
    }

    /// Returns a snapshot of this layer.
    func snapshot(_ upgrade: TLSUpgrade, isClosed: Bool) -> TLSSnapshot {
        var snapshot = TLSSnapshot(
            role: context.settings.role, phase: phase(upgrade, isClosed: isClosed), asked: asked)
        snapshot.began = began
        snapshot.handshakeTime = handshakeTime
        snapshot.deadline = isClosed ? nil : upgrade.deadline
        snapshot.expectedName = expectedName
        snapshot.question = isClosed ? nil : question
        snapshot.plaintextReceived = plaintextReceived
        snapshot.plaintextSent = plaintextSent
        if let session {
            snapshot.pendingWireBytes = isClosed ? 0 : session.outgoing.count
            snapshot.hasSentCloseNotify = session.hasSentCloseNotify
            snapshot.hasReceivedCloseNotify = session.hasReceivedCloseNotify
        }
        fill(&snapshot)
        return snapshot
    }

    private func phase(_ upgrade: TLSUpgrade, isClosed: Bool) -> TLSSnapshot.Phase {
        if upgrade.isSecure { return .secure }
        if isClosed { return .failed }
        return upgrade.isAsking ? .asking : upgrade.hasBegun ? .handshaking : .queued
    }

    private func fill(_ snapshot: inout TLSSnapshot) {
        snapshot.serverName = facts?.serverName ?? askedName.flatMap { TLSNames.isAddress($0) ? nil : $0 }
        guard let facts else {
            if let question { snapshot.chain = question.chain }
            if facts == nil, let session, snapshot.phase == .failed {
                (snapshot.chain, snapshot.verification) = session.certificates
            }
            return
        }
        snapshot.version = facts.version
        snapshot.cipher = facts.cipher
        snapshot.group = facts.group
        snapshot.applicationProtocol = facts.applicationProtocol
        snapshot.chain = facts.chain
        snapshot.verification = facts.verification
        snapshot.isResumed = facts.isResumed
    }
}

/// The TLS of a connection that moves to another engine.
struct MovedTLS: Sendable {
    private let context: TLSContext
    private let askedName: String?
    private let expectedName: String?
    private let sessionKey: String?
    private let session: TLSSession?
    private let asked: MonotonicTime
    private let began: MonotonicTime?
    private let handshakeTime: Duration?
    private let verdict: (questioned: MonotonicTime?, time: Duration)
    private let facts: TLSSession.Facts?
    private let question: TLSTrust?
    private let hasMore: Bool
    private let hasWireEnded: Bool
    private let owesFIN: Bool
    private let plaintext: (received: UInt64, sent: UInt64)

    init(_ layer: TLSLayer) {
        context = layer.context
        askedName = layer.askedName
        expectedName = layer.expectedName
        sessionKey = layer.sessionKey
        session = layer.session
        asked = layer.asked
        began = layer.began
        handshakeTime = layer.handshakeTime
        verdict = (layer.questioned, layer.verdictTime)
        facts = layer.facts
        question = layer.question
        hasMore = layer.hasMore
        hasWireEnded = layer.hasWireEnded
        owesFIN = layer.owesFIN
        plaintext = (layer.plaintextReceived, layer.plaintextSent)
    }

    var layer: TLSLayer {
        let layer = TLSLayer(
            context: context, askedName: askedName, expectedName: expectedName, sessionKey: sessionKey)
        layer.session = session
        layer.asked = asked
        layer.began = began
        layer.handshakeTime = handshakeTime
        (layer.questioned, layer.verdictTime) = verdict
        layer.facts = facts
        layer.question = question
        layer.hasMore = hasMore
        layer.hasWireEnded = hasWireEnded
        layer.owesFIN = owesFIN
        (layer.plaintextReceived, layer.plaintextSent) = plaintext
        return layer
    }
}
