import SocketCore
import SocketRecords

extension UnreadBytes {
    /// The unread bytes of a program, if payload is requested.
    package var json: JSON {
        [
            "payload_bytes": JSON(bytes.count), "unread_bytes": JSON(total.map(Int.init)),
            "text": JSON(reason == nil ? PayloadLines.text(bytes, isCut: true) : nil),
            "base64": JSON(reason == nil ? Base64.text(bytes) : nil), "problem": JSON(reason),
        ]
    }
}

/// The sessions whose traffic must be requested.
struct DueTraffic: Sendable {
    /// The number of bytes that a session had transferred when its traffic was last requested, and whether it had ended.
    private var known: [SocketID: Known] = [:]

    private struct Known: Equatable, Sendable {
        var passed: UInt64 = 0
        var isClosed = false
    }

    /// The most sessions whose traffic is requested at once.
    static let atOnce = 64

    /// Returns the sessions of which bytes were transferred, or which ended, since the last call. `listed` are all.
    mutating func take(_ snapshot: EngineSnapshot, listed: Set<SocketID>) -> [SocketID] {
        var due: [SocketID] = []
        for socket in snapshot.sockets where socket.role != .listener && due.count < Self.atOnce {
            let now = Known(passed: socket.received &+ socket.sent, isClosed: socket.phase == .closed)
            guard now != known[socket.id] ?? Known() else { continue }
            known[socket.id] = now
            due.append(socket.id)
        }
        if known.count > 2 * listed.count { known = known.filter { listed.contains($0.key) } }
        return due
    }
}

/// The transferred bytes as `payload` lines: one for each complete operation, datagram or message.
package struct PayloadLines: Sendable {
    /// The number of bytes of each that are written.
    private let limit: Int
    private var known: [SocketID: Known] = [:]

    /// What was written of a session.
    private struct Known: Sendable {
        /// The first item not seen yet.
        var next: UInt64 = 0
        /// The items last seen in progress.
        var open: Set<UInt64> = []
    }

    package init(limit: Int) { self.limit = limit }

    /// Forgets the sessions that are not listed any more.
    mutating func keep(_ listed: Set<SocketID>) {
        if known.count > 2 * listed.count { known = known.filter { listed.contains($0.key) } }
    }

    /// Returns the members of each line for a session's traffic. Items in progress are left for later.
    mutating func absorb(_ traffic: TrafficSnapshot, of id: SocketID, _ json: SocketJSON) -> [[JSON.Member]] {
        var seen = known[id] ?? Known()
        defer { known[id] = seen }
        let former = seen.open
        if !former.isEmpty { seen.open.formIntersection(traffic.items.map(\.sequence)) }
        var lost = UInt64(former.count - seen.open.count)
        var lines: [[JSON.Member]] = []
        for item in traffic.items where item.sequence >= seen.next || seen.open.contains(item.sequence) {
            if item.sequence >= seen.next {
                lost.saturate(adding: item.sequence - seen.next)
                seen.next = item.sequence + 1
            }
            guard item.state != .inProgress else {
                seen.open.insert(item.sequence)
                continue
            }
            seen.open.remove(item.sequence)
            lines.append(members(item, of: id, lost: lost, json))
            lost = 0
        }
        return lines
    }

    private func members(_ item: TrafficItem, of id: SocketID, lost: UInt64, _ json: SocketJSON) -> [JSON.Member] {
        [JSON.Member("time", json.time(item.time))] + json.members(.payload((item, id, lost), limit: limit))
    }

    /// Returns the bytes as text if they are UTF-8. If `isCut` is set, leaves out an incomplete character at the end.
    static func text(_ bytes: [UInt8], isCut: Bool) -> String? {
        for missing in 0...(isCut ? min(3, bytes.count) : 0) {
            if let text = String(validating: bytes.dropLast(missing), as: UTF8.self) { return text }
        }
        return nil
    }
}

extension FactTeller {
    /// The first `limit` bytes of one item of a session's traffic.
    static func payload(_ told: (item: TrafficItem, id: SocketID, lost: UInt64)?, limit: Int) -> FactTeller {
        let item = told?.item
        let bytes = Array((item?.bytes ?? []).prefix(limit))
        var error: String?
        if case .failed(let sentence) = item?.state { error = sentence }
        return FactTeller { tell in
            tell.always("id", told?.id, "the session")
            tell.always("sequence", item?.sequence, "its offset in the session's payload")
            tell.always(
                "lost_items", told?.lost,
                """
                how many items since the session's previous line were dropped for lack of room before they \
                could be written
                """)
            tell.always("direction", item?.direction, "`received` or `sent`")
            tell.always("tag", item?.tag, "the operation's tag", kind: .integer)
            tell.always("operation", item?.operation, "the operation, as in `read_queued`")
            tell.always("bytes", item?.done, "the size of the operation")
            tell.always(
                "payload_bytes", bytes.count,
                "how many of its first bytes are in this line: at most SIZE, and at most what was kept")
            tell(
                "text", PayloadLines.text(bytes, isCut: bytes.count < item?.done ?? 0),
                "these bytes as text, without a character that was cut at the end; null if they are not UTF-8")
            tell.always("base64", Base64.text(bytes), "these bytes as base64")
            tell("problem", error, "the reason, if the operation ended before it was complete")
            tell("address", item?.address, "for a datagram: its sender or its destination")
            tell("websocket", item?.webSocket?.kind, "for a WebSocket: what kind of message or frame it is")
            tell.always(
                "injected", item?.isInjected,
                "whether a user of socktui injected it into another program's connection")
        }
    }
}
