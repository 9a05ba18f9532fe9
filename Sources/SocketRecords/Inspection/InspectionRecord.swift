import SocketCore

/// One record of an engine's traffic, for a viewer that records it: a `RecordedEntry` on the wire.
package struct InspectionRecord: WireMessage, Sendable {
    fileprivate var word = ""
    fileprivate var socket = SocketID(0)
    fileprivate var time = MonotonicTime.zero
    fileprivate var bytes: [UInt8] = []
    /// The full length, of which `bytes` may hold only the beginning.
    fileprivate var length = 0
    fileprivate var isSent = false
    fileprivate var isPlain = false
    fileprivate var isLocal = false
    fileprivate var isReset = false
    /// For a session, its own address and its peer's. For a datagram, its source or destination.
    fileprivate var local: SocketAddress?
    fileprivate var peer: SocketAddress?
    fileprivate var isNew = false
    fileprivate var isClient = false
    fileprivate var role: SocketRole?
    fileprivate var target = ""
    fileprivate var lostSent: UInt64 = 0
    fileprivate var lostReceived: UInt64 = 0
    fileprivate var lostOperations: UInt64 = 0

    /// The maximum payload of one record, in bytes. A longer read or write needs several.
    package static let most = 128 << 10

    package init() {}
    package static var blank: InspectionRecord { InspectionRecord() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &word)
        try coder.field(2, &socket)
        try coder.field(3, &time)
        try coder.field(4, &bytes)
        try coder.field(5, &length)
        try coder.field(6, &isSent)
        try coder.field(7, &isPlain)
        try coder.field(8, &isLocal)
        try coder.field(9, &isReset)
        try coder.field(10, &local)
        try coder.field(11, &peer)
        try coder.field(12, &isNew)
        try coder.field(13, &isClient)
        try coder.field(14, &role)
        try coder.field(15, &target)
        try coder.field(16, &lostSent)
        try coder.field(17, &lostReceived)
        try coder.field(18, &lostOperations)
    }

    private init(_ word: String, of entry: RecordedEntry) {
        self.word = word
        (socket, time) = (entry.socket, entry.time)
    }

    /// Returns the records of an entry. Snapshots are sent another way. Secrets and captured packets are never sent.
    package static func records(of entry: RecordedEntry) -> [InspectionRecord] {
        switch entry.content {
        case .session(let session, let isNew):
            var record = InspectionRecord("session", of: entry)
            (record.local, record.peer, record.role) = (session.local, session.peer, session.role)
            (record.isNew, record.isClient, record.target) = (isNew, session.isClient, session.target)
            return [record]
        case .bytes(let bytes, let length, let isSent, let isPlain):
            return stride(from: 0, to: max(1, length), by: most).map { start in
                var record = InspectionRecord("bytes", of: entry)
                record.bytes = Array(bytes.dropFirst(start).prefix(most))
                record.length = min(most, length - start)
                (record.isSent, record.isPlain) = (isSent, isPlain)
                return record
            }
        case .datagram(let bytes, let isSent, let address, let length):
            var record = InspectionRecord("datagram", of: entry)
            (record.bytes, record.length, record.isSent, record.peer) = (bytes, length, isSent, address)
            return [record]
        case .ended(let isLocal, let isPlain):
            var record = InspectionRecord("ended", of: entry)
            (record.isLocal, record.isPlain) = (isLocal, isPlain)
            return [record]
        case .closed(let isReset, let isLocal):
            var record = InspectionRecord("closed", of: entry)
            (record.isReset, record.isLocal) = (isReset, isLocal)
            return [record]
        case .dropped(let loss):
            var record = InspectionRecord("dropped", of: entry)
            (record.lostSent, record.lostReceived, record.lostOperations) = (loss.sent, loss.received, loss.operations)
            record.isPlain = loss.isPlain
            return [record]
        case .snapshot, .secrets, .packet, .counts: return []
        }
    }

    /// Returns the entry with the local identifier of its socket, no later than now. Returns `nil` if this version
    /// doesn't know its kind.
    package func entry(as id: SocketID, now: MonotonicTime) -> RecordedEntry? {
        content(as: id).map { RecordedEntry(id, at: min(time, now), $0) }
    }

    private func content(as id: SocketID) -> RecordedEntry.Content? {
        let length = max(length, bytes.count)
        switch word {
        case "session":
            let session = RecordedSession(
                id: id, local: local, peer: peer, isClient: isClient, role: role ?? .accepted, target: target)
            return .session(session, isNew: isNew)
        case "bytes":
            // No program sends more than this.
            guard length <= Self.most else { return nil }
            return .bytes(bytes[...], length: length, isSent: isSent, isPlain: isPlain)
        case "datagram": return .datagram(bytes, isSent: isSent, peer, length: length)
        case "ended": return .ended(isLocal: isLocal, isPlain: isPlain)
        case "closed": return .closed(isReset: isReset, isLocal: isLocal)
        case "dropped":
            var loss = RecordedLoss()
            (loss.sent, loss.received, loss.operations) = (lostSent, lostReceived, lostOperations)
            loss.isPlain = isPlain
            return .dropped(loss)
        default: return nil
        }
    }

    /// The session, by its program's own identifier.
    package var session: SocketID { socket }
}
