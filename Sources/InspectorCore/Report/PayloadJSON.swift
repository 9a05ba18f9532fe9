import SocketCore

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
        /// The number of bytes transferred when its traffic was last requested.
        var passed: UInt64 = 0
        /// Whether it had ended by then.
        var isClosed = false
    }

    /// The most sessions whose traffic is requested at once.
    package static let atOnce = 64

    package init(limit: Int) { self.limit = limit }

    /// Returns the sessions whose bytes must be requested, because bytes were transferred or they ended since the last
    /// call.
    package mutating func due(_ snapshot: EngineSnapshot) -> [SocketID] {
        var due: [SocketID] = []
        for socket in snapshot.sockets where socket.role != .listener && due.count < Self.atOnce {
            let (passed, isClosed) = (socket.received &+ socket.sent, socket.phase == .closed)
            let former = known[socket.id] ?? Known()
            guard former.passed != passed || former.isClosed != isClosed else { continue }
            known[socket.id] = Known(next: former.next, open: former.open, passed: passed, isClosed: isClosed)
            due.append(socket.id)
        }
        let listed = Set(snapshot.sockets.map(\.id))
        if known.count > 2 * listed.count { known = known.filter { listed.contains($0.key) } }
        return due
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
        let bytes = Array(item.bytes.prefix(limit))
        var error: String?
        if case .failed(let sentence) = item.state { error = sentence }
        return [
            JSON.Member("time", json.time(item.time)), JSON.Member("id", JSON(id.number)),
            JSON.Member("sequence", JSON(item.sequence)), JSON.Member("lost_items", JSON(lost)),
            JSON.Member("direction", JSON(item.direction.rawValue)), JSON.Member("tag", JSON(item.tag)),
            JSON.Member("operation", JSON(item.operation.number)), JSON.Member("bytes", JSON(item.done)),
            JSON.Member("payload_bytes", JSON(bytes.count)),
            JSON.Member("text", JSON(Self.text(bytes, isCut: bytes.count < item.done))),
            JSON.Member("base64", JSON(Base64.text(bytes))), JSON.Member("problem", JSON(error)),
            JSON.Member("address", JSON(item.address?.description)),
            JSON.Member("websocket", item.webSocket.map { JSON($0.kind.rawValue) } ?? .null),
            JSON.Member("injected", .bool(item.isInjected)),
        ]
    }

    /// Returns the bytes as text if they are UTF-8. If `isCut` is set, leaves out an incomplete character at the end.
    static func text(_ bytes: [UInt8], isCut: Bool) -> String? {
        for missing in 0...(isCut ? min(3, bytes.count) : 0) {
            if let text = String(validating: bytes.dropLast(missing), as: UTF8.self) { return text }
        }
        return nil
    }
}
