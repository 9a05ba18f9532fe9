import InspectorCore
import SocketCore

/// One column of the list: its name, its text, and the value for sorting.
///
/// The first eight are always shown if there is room. The user chooses the others. To add a column, add a row to
/// `optional`.
package struct ListColumn: Sendable {
    /// The value that a row is sorted by.
    package enum Value: Hashable, Sendable {
        case number(Double)
        case text(String)
    }

    /// The name in options and for sorting.
    package var name: String
    package var title: String
    package var width: Int
    package var alignsRight: Bool
    /// The description in the dialog for choosing columns.
    package var meaning: String
    /// Whether it is shown by default.
    package var isOn = false
    /// Whether its value needs kernel state. That is requested only for visible rows, unless the rows are sorted by it.
    package var asksKernel = false
    /// The amount that is summed in the row of a relayed pair. If it is `nil`, the row shows the client's leg, or the
    /// server's if the client's has no text.
    var summed: (@Sendable (SocketSnapshot) -> Int?)?
    /// Returns the value, or `nil` if it is unknown. Rows without a value are sorted last.
    package var value: @Sendable (SocketSnapshot, MonotonicTime, Findings) -> Value?
    /// Returns the text in the row of a live session, and of a closed one if it is still meaningful.
    package var text: @Sendable (SocketSnapshot, MonotonicTime) -> String?

    /// Whether the largest value comes first unless reversed.
    package var startsDescending: Bool { alignsRight && name != "id" || name == "reading" || name == "writing" }

    /// Whether its values rarely change, so that rows keep their positions.
    package var isSteady: Bool { ["id", "peer", "local", "tls", "alpn", "ws", "name", "age"].contains(name) }

    /// Every column that rows can be sorted by.
    package static let all: [ListColumn] = standard + optional

    /// Returns the column of this name, or `nil` if there is none.
    package static func named(_ name: String) -> ListColumn? { all.first { $0.name == name } }

    /// Returns the sort value for the single row of a relayed pair: the value it shows.
    func value(of pair: RelayPair, _ now: MonotonicTime, _ findings: Findings) -> Value? {
        switch name {
        case "state": .text(pair.worst.stateWord)
        case "peer": .text("\(pair.client.peerText) \(pair.server.peerText)")
        // The two ends take its place.
        case "reading": nil
        case "writing": Self.number(pair.queuedBytes > 0 ? Double(pair.queuedBytes) : nil)
        case "warnings": Self.warnings(pair.legs.map(\.id), findings)
        case "id", "rx", "tx": value(pair.client, now, findings)
        case _ where summed != nil: Self.number(sum(of: pair).map(Double.init))
        default: pair.legs.lazy.compactMap { value($0, now, findings) }.first
        }
    }

    /// Returns the text for the single row of a relayed pair.
    func text(of pair: RelayPair, _ now: MonotonicTime) -> String? {
        guard summed != nil else { return pair.legs.lazy.compactMap { text($0, now) }.first }
        return pair.isLive ? sum(of: pair).map { Format.bytes($0) } : nil
    }

    private func sum(of pair: RelayPair) -> Int? {
        let known = pair.legs.compactMap { summed?($0) }
        return known.isEmpty ? nil : known.reduce(0, +)
    }

    private static func warnings(_ ids: [SocketID], _ findings: Findings) -> Value? {
        let found = ids.flatMap { findings[$0] }.filter { $0.severity > .note }
        guard let worst = found.map(\.severity).max() else { return nil }
        return .number(Double(found.count + worst.rawValue * 1_000))
    }

    private static func number(_ value: Double?) -> Value? { value.map { .number($0) } }

    /// Creates a column that is always shown. The list and the row know what to draw in it.
    private static func fixed(
        _ name: String, _ title: String, _ meaning: String, right: Bool = false,
        _ value: @escaping @Sendable (SocketSnapshot, MonotonicTime, Findings) -> Value?
    ) -> ListColumn {
        ListColumn(
            name: name, title: title, width: 0, alignsRight: right, meaning: meaning, value: value,
            text: { _, _ in nil })
    }

    package static let standard: [ListColumn] = [
        fixed("id", "ID", "number", right: true) { socket, _, _ in .number(Double(socket.id.number)) },
        fixed("state", "STATE", "TCP's state") { socket, _, _ in .text(socket.stateWord) },
        fixed("peer", "PEER", "the other end") { socket, _, _ in .text(socket.peerText) },
        fixed("reading", "READING", "the current read") { socket, _, _ in
            if let ends = socket.ends { return CapturedWords.program(ends.local).map { .text($0) } }
            let done = socket.reading.current.map { Double($0.done) }
            return number(done ?? (socket.unreadBytes > 0 ? Double(socket.unreadBytes) : nil))
        },
        fixed("writing", "WRITING", "the current write") { socket, _, _ in
            if let ends = socket.ends { return CapturedWords.program(ends.peer).map { .text($0) } }
            return number(socket.writing.pendingBytes > 0 ? Double(socket.writing.pendingBytes) : nil)
        },
        fixed("rx", "RX/s", "bytes received a second", right: true) { socket, _, _ in number(socket.receiveRate) },
        fixed("tx", "TX/s", "bytes sent a second", right: true) { socket, _, _ in number(socket.sendRate) },
        fixed("warnings", "!", "warnings", right: true) { socket, _, findings in warnings([socket.id], findings) },
    ]

    /// The columns that are shown if they are chosen and there is room, in this order.
    package static let optional: [ListColumn] = [
        kernel("recvq", "RECV-Q", "unread bytes in the kernel", isOn: true) { $0.receiveQueue },
        kernel("sendq", "SEND-Q", "bytes in the kernel not acknowledged by the peer", isOn: true) {
            $0.sendQueue
        },
        bytes("rxtotal", "RX", "bytes received") { Int(clamping: $0.received) },
        bytes("txtotal", "TX", "bytes sent") { Int(clamping: $0.sent) },
        bytes("prebuffer", "PREBUF", "bytes read ahead") { $0.role == .listener ? nil : $0.prebuffered },
        duration("age", "AGE", "time since it was connected") { socket, now in
            socket.host == nil ? now - (socket.connected ?? socket.opened) : nil
        },
        duration("idle", "IDLE", "time since the last byte") { socket, now in
            socket.activity.lastByte.map { now - $0 }
        },
        duration("deadline", "TIMEOUT", "time until the first timeout") { socket, now in
            [socket.reading.current?.deadline, socket.writing.current?.deadline].compactMap { $0 }.min().map {
                max(.zero, $0 - now)
            }
        },
        duration("rtt", "RTT", "round-trip time", asksKernel: true) { socket, _ in socket.kernel?.roundTripTime },
        duration("lag", "LAG", "how long callbacks wait for the delegate's queue") { socket, _ in
            socket.callbacks?.lag
        },
        words("flags", "FLAGS", 8, "GCDAsyncSocket's flag word") { FlagWords.word($0.flags) },
        words("local", "LOCAL", 21, "our address") { $0.local?.description },
        words("tls", "TLS", 8, "TLS version, or handshake progress") { $0.tls.map(TLSWords.column) },
        words("alpn", "ALPN", 8, "the protocol that TLS agreed on") { $0.tls?.applicationProtocol },
        words("ws", "WS", 7, "WebSocket state, or its close code") {
            $0.webSocket.map(WebSocketWords.column)
        },
        words("name", "NAME", 14, "the name that the program set") { $0.name.isEmpty ? nil : $0.name },
    ]

    private static func bytes(
        _ name: String, _ title: String, _ meaning: String, _ count: @escaping @Sendable (SocketSnapshot) -> Int?
    ) -> ListColumn {
        ListColumn(
            name: name, title: title, width: 6, alignsRight: true, meaning: meaning,
            value: { socket, _, _ in number(count(socket).map(Double.init)) },
            text: { socket, _ in count(socket).map { Format.bytes($0) } })
    }

    private static func kernel(
        _ name: String, _ title: String, _ meaning: String, isOn: Bool,
        _ count: @escaping @Sendable (KernelSnapshot) -> Int?
    ) -> ListColumn {
        var column = bytes(name, title, meaning) { $0.kernel.flatMap(count) }
        column.isOn = isOn
        column.asksKernel = true
        column.summed = { $0.kernel.flatMap(count) }
        return column
    }

    private static func duration(
        _ name: String, _ title: String, _ meaning: String, asksKernel: Bool = false,
        _ duration: @escaping @Sendable (SocketSnapshot, MonotonicTime) -> Duration?
    ) -> ListColumn {
        ListColumn(
            name: name, title: title, width: max(5, title.count), alignsRight: true, meaning: meaning,
            asksKernel: asksKernel,
            value: { socket, now, _ in socket.isLive ? number(duration(socket, now)?.inSeconds) : nil },
            text: { socket, now in socket.isLive ? duration(socket, now).map { Format.duration($0) } : nil })
    }

    private static func words(
        _ name: String, _ title: String, _ width: Int, _ meaning: String,
        _ text: @escaping @Sendable (SocketSnapshot) -> String?
    ) -> ListColumn {
        ListColumn(
            name: name, title: title, width: width, alignsRight: false, meaning: meaning,
            value: { socket, _, _ in text(socket).map { .text($0) } }, text: { socket, _ in text(socket) })
    }
}
