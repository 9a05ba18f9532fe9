import SocketCore

/// The columns of sockets that are seen from one end, of relayed connections and of captured ones.
extension ListColumn {
    static func standard(_ others: [ListColumn]) -> [ListColumn] { [id, mark, state] + others }

    private static let id = ListColumn(
        name: "id", title: "ID", width: 4, alignsRight: true, meaning: "number", isSteady: true, ordersClosed: true,
        value: { row, _ in .number(Double(row.socket.id.number)) },
        cell: { row, _ in Cell(row.socket.id.label, row.base) })

    private static let mark = ListColumn(
        name: "mark", title: "", width: 1, meaning: "which end it is", content: .mark, value: { _, _ in nil },
        cell: { row, _ in Cell(row.pair?.mark ?? row.socket.roleMark, .dim) })

    private static let state = ListColumn(
        name: "state", title: "STATE", width: 10, meaning: "TCP's state", rank: 1,
        value: { row, _ in .text((row.pair?.worst ?? row.socket).stateWord) },
        cell: { row, _ in Cell((row.pair?.worst ?? row.socket).stateWord, row.base) })

    static let peer = ListColumn(
        name: "peer", title: "PEER", width: 17, meaning: "the other end", content: .ends, isSteady: true,
        ordersClosed: true, marksSearch: true,
        value: { row, _ in .text(row.legs.map(\.peerText).joined(separator: " ")) },
        cell: { row, _ in Cell(row.socket.peerText, row.base) })

    /// The ends of a pair take the place of its reads.
    static let queues: [ListColumn] = [
        peer,
        ListColumn(
            name: "reading", title: "READING", width: 14, meaning: "the current read", content: .reading,
            startsDescending: true, unit: .bytes,
            value: { row, _ in
                guard row.pair == nil else { return nil }
                let done = row.socket.reading.current?.done ?? row.socket.unreadBytes
                return row.socket.reading.current != nil || done > 0 ? .number(Double(done)) : nil
            }
        ).with { $0.asksKernel = true },
        ListColumn(
            name: "writing", title: "WRITING", width: 11, meaning: "the current write", content: .writing, rank: 2,
            startsDescending: true, unit: .bytes,
            value: { row, _ in
                let waiting = row.pair?.queuedBytes ?? row.socket.writing.pendingBytes
                return waiting > 0 ? .number(Double(waiting)) : nil
            }),
    ]

    /// A captured program's reads and writes are not known. Its name is shown instead.
    static let programs: [ListColumn] = [
        peer.with { $0.title = "ADDRESS" },
        text("client", "CLIENT", 14, "the client program", .name, role: \.base) {
            CapturedWords.program($0.ends?.local)
        }.with { $0.startsDescending = true },
        text("server", "SERVER", 11, "the server program", .name, role: \.base) {
            CapturedWords.program($0.ends?.peer)
        }.with { ($0.rank, $0.startsDescending) = (2, true) },
    ]

    /// Rates and totals of one end.
    static let ofOneEnd: [ListColumn] = [
        rate("rx", "RX/s", "bytes received per second", rank: 3, role: .received) {
            ($0.socket.receiveRate, $0.socket.received)
        },
        rate("tx", "TX/s", "bytes sent per second", rank: 4, role: .sent) { ($0.socket.sendRate, $0.socket.sent) },
        warnings,
    ]

    /// Rates where both ends are seen. They have the names of the ends, because nothing is received or sent here.
    static let ofBothEnds: [ListColumn] = [
        rate("toserver", "C>S/s", "bytes per second from the client to the server", rank: 3, role: .received) {
            $0.clientSent
        }.with { $0.twin = "rx" },
        rate("toclient", "S>C/s", "bytes per second from the server to the client", rank: 4, role: .sent) {
            $0.serverSent
        }.with { $0.twin = "tx" },
        warnings,
    ]

    /// Whichever end the row shows as its own.
    static let totals: [ListColumn] = [
        bytes("rxtotal", "RX", "bytes received") { Int(clamping: $0.received) },
        bytes("txtotal", "TX", "bytes sent") { Int(clamping: $0.sent) },
    ]

    static let totalsOfEnds: [ListColumn] = [
        bytes("servertotal", "C>S", "bytes from the client to the server") {
            Int(clamping: Listed($0).clientSent.total)
        }.with { $0.twin = "rxtotal" },
        bytes("clienttotal", "S>C", "bytes from the server to the client") {
            Int(clamping: Listed($0).serverSent.total)
        }.with { $0.twin = "txtotal" },
    ]

    /// The columns that are shown if they are chosen and there is room, in this order.
    static func optional(_ totals: [ListColumn]) -> [ListColumn] {
        ([
            kernel(
                "recvq", "RECV-Q", "unread bytes in the kernel",
                role: { row in
                    let isRead = row.socket.role == .listener || row.socket.reading.current != nil
                    return !row.isLive ? .closed : !isRead && row.socket.unreadBytes > 0 ? .warn : .dim
                }, \.receiveQueue),
            kernel("sendq", "SEND-Q", "bytes in the kernel, unacknowledged by the peer", \.sendQueue),
        ] + totals + [
            bytes("prebuffer", "PREBUF", "bytes read ahead") { $0.role == .listener ? nil : $0.prebuffered },
            time("age", "AGE", "time since it was connected") { socket, now in
                socket.host == nil ? now - (socket.connected ?? socket.opened) : nil
            }.with { $0.isSteady = true },
            time("idle", "IDLE", "time since the last byte") { socket, now in
                socket.activity.lastByte.map { now - $0 }
            },
            time("deadline", "TIMEOUT", "time until the first timeout") { socket, now in
                [socket.reading.current?.deadline, socket.writing.current?.deadline].compactMap { $0 }.min().map {
                    max(.zero, $0 - now)
                }
            },
            time("rtt", "RTT", "round-trip time") { socket, _ in socket.kernel?.roundTripTime }.with {
                $0.asksKernel = true
            },
            time("lag", "LAG", "how long callbacks wait for the delegate's queue") { socket, _ in
                socket.callbacks?.lag
            },
            text("flags", "FLAGS", 8, "GCDAsyncSocket's flag word", steady: false) { FlagWords.word($0.flags) },
            text("local", "LOCAL", 21, "our address", .address) { $0.local?.description },
            text("tls", "TLS", 8, "TLS version, or handshake progress") { $0.tls.map(TLSWords.column) },
            text("alpn", "ALPN", 8, "the protocol negotiated by ALPN") { $0.tls?.applicationProtocol },
            text("ws", "WS", 7, "WebSocket state, or its close code") { $0.webSocket.map(WebSocketWords.column) },
            text("name", "NAME", 14, "the name that the program set") { $0.name.isEmpty ? nil : $0.name },
        ]).map { column in column.with { $0.rank = 5 } }
    }

    /// What filters compare and no column shows: unread bytes, in the kernel and read ahead, bytes queued for writing,
    /// and the reads and writes queued after the current one.
    static let measures: [ListColumn] = [
        bytes("rq", "", "unread bytes") { $0.role == .listener ? nil : $0.unreadBytes }.with { $0.asksKernel = true },
        bytes("wq", "", "bytes queued for writing") { $0.writing.pendingBytes },
        bytes("reads", "", "queued reads") { $0.reading.pendingCount },
        bytes("writes", "", "queued writes") { $0.writing.pendingCount },
    ]
}
