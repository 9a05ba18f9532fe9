import SocketCore

/// The facts that a snapshot shows of every connection, without queues and optional parts.
struct ConnectionOutline: Sendable {
    let id: SocketID
    let origin: OriginFacts
    let local: SocketAddress?
    let peer: SocketAddress?
    let opened: MonotonicTime
    let connected: PackedTime
    let received: UInt64
    let sent: UInt64
    let isReadingPaused: Bool
    let isHeldBack: Bool
    let isWriteShut: Bool
    let isAboveHighMark: Bool
    let watermarks: Watermarks?
    let reads: UInt64
    let writes: UInt64
    let readsSince: PackedTime
    let writesSince: PackedTime
    let unreadSince: PackedTime
    let peerClosed: PackedTime

    /// Returns these facts for a snapshot.
    func facts(_ phase: SocketPhase) -> SocketSnapshot.Facts {
        var facts = SocketSnapshot.Facts(
            id: id, role: origin.role, phase: phase, target: origin.target, opened: opened)
        (facts.parent, facts.name) = (origin.parent, origin.name)
        (facts.local, facts.peer, facts.connected) = (local, peer, connected.value)
        (facts.received, facts.sent) = (received, sent)
        (facts.isReadingPaused, facts.isHeldBack) = (isReadingPaused, isHeldBack)
        (facts.isWriteShut, facts.isAboveHighMark) = (isWriteShut, isAboveHighMark)
        facts.watermarks = watermarks
        (facts.reading.completed, facts.reading.since) = (reads, readsSince.value)
        (facts.writing.completed, facts.writing.since) = (writes, writesSince.value)
        (facts.activity.unreadSince, facts.activity.peerClosed) = (unreadSince.value, peerClosed.value)
        (facts.activity.idleTimeout, facts.activity.isKeptAlive) = (origin.idleTimeout, origin.isKeptAlive)
        return facts
    }
}

/// The record of an ended connection that its outline describes fully. Most servers close many connections that are
/// never inspected.
final class PlainEnding: Sendable {
    let outline: ConnectionOutline
    let record: CloseRecord

    init(_ outline: ConnectionOutline, _ record: CloseRecord) {
        (self.outline, self.record) = (outline, record)
    }

    /// The snapshot, built each time it is requested.
    var snapshot: SocketSnapshot {
        var facts = outline.facts(.closed)
        facts.closed = record
        return SocketSnapshot(facts)
    }
}

/// What is kept of a session that has ended.
enum EndedSession: Sendable {
    case plain(PlainEnding)
    case whole(SocketSnapshot)

    var snapshot: SocketSnapshot {
        switch self {
        case .plain(let ending): ending.snapshot
        case .whole(let snapshot): snapshot
        }
    }

    var id: SocketID {
        switch self {
        case .plain(let ending): ending.outline.id
        case .whole(let snapshot): snapshot.id
        }
    }

    /// When the session ended, or `nil` if its snapshot doesn't say.
    var time: MonotonicTime? {
        switch self {
        case .plain(let ending): ending.record.time
        case .whole(let snapshot): snapshot.closed?.time
        }
    }
}
