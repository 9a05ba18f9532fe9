import SocketCore

/// TLS of one connection: what was asked for, and once the handshake began, its session.
final class TLSLayer {
    let context: TLSContext
    /// The name to ask the server for, unless it is an address; nil: none is known.
    let askedName: String?
    /// The name or address that the peer's certificate is checked for; nil: none is.
    let expectedName: String?
    /// Names the peer among the sessions to resume.
    let sessionKey: String?
    /// When TLS was asked for.
    var asked = MonotonicTime(nanoseconds: 0)
    var session: TLSSession?
    var began: MonotonicTime?
    var handshakeTime: Duration?
    /// What is known once the handshake is done.
    var facts: TLSSession.Facts?
    /// The question about the peer's certificate that waits for its answer.
    var question: TLSTrust?

    /// Encrypted bytes wait inside the session until there is room for their plaintext.
    var hasMore = false
    /// The kernel has no more bytes from the peer: FIN.
    var hasWireEnded = false
    /// FIN goes out when the encrypted bytes before it are with the kernel.
    var owesFIN = false
    /// FIN goes out without close_notify, since a relay passes on a stream that was cut off.
    var withholdsCloseNotify = false
    var plaintextReceived: UInt64 = 0
    var plaintextSent: UInt64 = 0

    init(context: TLSContext, askedName: String?, expectedName: String?, sessionKey: String?) {
        self.context = context
        self.askedName = askedName
        self.expectedName = expectedName
        self.sessionKey = sessionKey
    }

    /// Makes a layer for a connection to `host` (nil: a peer of which no name is known) at `address`. Throws
    /// `badParameter` when the peer's name shall be checked and there is none.
    static func make(_ context: TLSContext, host: String?, address: String) throws(SocketError) -> TLSLayer {
        let settings = context.settings
        guard settings.role == .client else {
            return TLSLayer(context: context, askedName: nil, expectedName: nil, sessionKey: nil)
        }
        let name = settings.serverName ?? host
        let isPinned = if case .pinned = settings.trust { true } else { false }
        if settings.checksName, !isPinned, name == nil {
            throw TLSContext.refused(
                "serverName: no host name is known for this connection; set it, or set checksName to false")
        }
        return TLSLayer(
            context: context, askedName: name, expectedName: settings.checksName && !isPinned ? name : nil,
            sessionKey: "\(name ?? "") \(address)")
    }

    /// This layer as it is shown.
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

/// TLS of a connection on its way to another engine.
struct MovedTLS: Sendable {
    private let context: TLSContext
    private let askedName: String?
    private let expectedName: String?
    private let sessionKey: String?
    private let session: TLSSession?
    private let asked: MonotonicTime
    private let began: MonotonicTime?
    private let handshakeTime: Duration?
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
        layer.facts = facts
        layer.question = question
        layer.hasMore = hasMore
        layer.hasWireEnded = hasWireEnded
        layer.owesFIN = owesFIN
        (layer.plaintextReceived, layer.plaintextSent) = plaintext
        return layer
    }
}
