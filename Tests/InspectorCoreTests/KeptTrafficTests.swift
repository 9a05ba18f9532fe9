import SocketCore
import Testing

@testable import InspectorCore
@testable import InspectorScreen

@Suite("What is kept of the traffic, and how it is shown without being asked")
struct KeptTrafficTests {
    private let size = Size(80, 30)

    private func item(
        _ sequence: UInt64, _ direction: TrafficItem.Direction, _ bytes: [UInt8], done: Int? = nil
    ) -> TrafficItem {
        TrafficItem(
            sequence: sequence, operation: OperationID(sequence + 1), time: World.at(14, 2, 5 + Double(sequence)),
            direction: direction, tag: 0, kind: direction == .sent ? .write : .read(.available(limit: nil)),
            done: done ?? bytes.count, total: nil, state: .complete(after: .zero), bytes: bytes)
    }

    private func item(_ sequence: UInt64, _ bytes: [UInt8], done: Int? = nil) -> TrafficItem {
        item(sequence, .received, bytes, done: done)
    }

    private func model(_ items: [TrafficItem], dropped: UInt64 = 0, _ change: (inout SocketSnapshot) -> Void = { _ in })
        -> Model
    {
        var model = Conversation.model(ascii: true, size: size)
        var snapshot = Conversation.snapshot()
        snapshot.traffic = TrafficSnapshot(items: items, dropped: dropped)
        if let index = snapshot.sockets.firstIndex(where: { $0.id == Conversation.id }) {
            change(&snapshot.sockets[index])
        }
        _ = model.update(.snapshot(snapshot))
        model.press(.escape)
        return model
    }

    private func lines(_ model: Model) -> [String] {
        TrafficDocument(model, width: 80).page(from: .init(block: 0, line: 0), rows: 100_000).map(\.line.text)
    }

    private static let dns: [UInt8] = [
        0x12, 0x34, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0, 3, 0x6E, 0x73, 0x31, 10, 0x65, 0x78, 0x61, 0x6D, 0x70, 0x6C,
        0x65, 0x2D, 0x6F, 0x72, 0x67, 0, 0, 1, 0, 1,
    ]

    @Test("Binary is shown as hex and text as text, and the title says which; v shows the other one first")
    func automatic() {
        var model = model([item(0, Array("+PONG\r\n".utf8)), item(1, Self.dns)])
        #expect(lines(model).contains("  +PONG"))
        #expect(lines(model).contains { $0.hasPrefix("  0000  12 34 81 80") })
        #expect(draw(model, size).text.contains("auto: hex (v)"))
        model.press(.character("v"))
        #expect(model.traffic.viewMode == .text && !lines(model).contains { $0.contains("12 34") })
        model.press(.character("v"), .character("v"), .character("v"))
        #expect(model.traffic.viewMode == .dissected)
        model.press(.character("v"))
        #expect(model.traffic.viewMode == .auto)
    }

    @Test("Bytes that a capture lacks are missing where they were, at the end too")
    func missing() {
        var items = [item(0, Array("one".utf8)), item(1, Array("two".utf8)), item(2, [])]
        (items[0].skipped, items[1].skipped, items[2].skipped) = (7, 500, 12)
        let lines = lines(model(items)).map { $0.drop { $0 == " " } }
        let shown = lines.filter { $0.hasPrefix("!") || $0.hasPrefix("one") || $0.hasPrefix("two") }
        #expect(shown == ["! 7 B missing here", "one", "! 500 B missing here", "two", "! 12 B missing here"])
        #expect(lines.contains { $0.contains("nothing after it") })
    }

    @Test("A line feed in binary ends no line of the text view")
    func lineFeed() {
        var model = model([item(0, Self.dns)])
        model.press(.character("v"))
        #expect(lines(model).filter { $0.contains("ns1") }.allSatisfy { $0.contains("\\nexample-org") })
    }

    @Test(
        "Text in UTF-8, cut anywhere, and coloured text are text",
        arguments: ["naïve 日本語", "\u{1B}[31mRED\u{1B}[0m", "a\tb\r\n", ""])
    func text(_ text: String) {
        let bytes = Array(text.utf8)
        for start in 0..<min(4, bytes.count + 1) {
            #expect(!ViewMode.isBinary(bytes.dropFirst(start)) || bytes.count - start < 3)
        }
        for end in 0...bytes.count where end >= 3 { #expect(!ViewMode.isBinary(bytes.prefix(end))) }
    }

    @Test("The head of a message is shown as text above a binary body")
    func headAndBody() {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n"
        let text = lines(model([item(0, Array(head.utf8) + [0x89, 0x50, 0, 0, 0, 0x0D])]))
        #expect(text.contains("  HTTP/1.1 200 OK"))
        #expect(text.contains { $0.contains("  89 50 00 00") })
    }

    @Test("Between the beginning and the end of a large message stands how much is missing")
    func middle() {
        var large = item(1, Array("begin\n".utf8), done: 3_000_000)
        large.tail = Array("end\n".utf8)
        let model = model([item(0, .sent, Array("GET\n".utf8)), large])
        let text = lines(model)
        let begin = text.firstIndex(of: "  begin") ?? 0
        #expect(text[(begin + 1)...].prefix(2) == ["  ....  2.9M not kept here", "  end"])
    }

    @Test("Items that had to go are counted where they were")
    func gaps() {
        var after = item(40, [65])
        after.skipped = 2_000_000
        let text = lines(model([item(3, [66]), after], dropped: 39))
        #expect(text.contains { $0.hasSuffix("! 3 older items dropped to make room") })
        #expect(text.contains { $0.hasSuffix("! 36 items with 1.9M not kept here") })
    }

    @Test(
        "A message of megabytes is scrolled and searched in parts, every line of it once",
        arguments: ViewMode.allCases.filter { $0 != .dissected })
    func parts(_ mode: ViewMode) throws {
        let text = (0..<3_000).map { "line \($0) of it\n" }.joined()
        var model = model([item(0, Array(text.utf8)), item(1, .sent, [65])])
        for _ in ViewMode.allCases where model.traffic.viewMode != mode { model.press(.character("v")) }
        model.press(.character("/"))
        model.type("line 2500 of")
        model.press(.enter)
        #expect(model.notice?.text.hasPrefix("match 1 of 1") == true)
        let document = TrafficDocument(model, width: 80)
        #expect(document.blocks.contains { if case .part = $0.content { true } else { false } })
        let place = try #require(model.traffic.scrolls[Conversation.id]?.cursor.map(document.place))
        let row = document.page(from: place, rows: 2).map(\.line.text).joined()
        #expect(row.contains(mode == .hexText ? "line 2" : "line 2500 of it"))
        if mode != .hexText {
            let all = lines(model).filter { $0.hasPrefix("  line ") }
            #expect(all.count == 3_000)
            #expect(all.indices.allSatisfy { all[$0].hasPrefix("  line \($0) of it") })
        }
        model.press(.enter)
        let blocks = TrafficDocument(model, width: 80).blocks
        #expect(!blocks.contains { if case .part = $0.content { true } else { false } })
    }

    @Test("A reply is what a peer says that we asked, and nobody else")
    func replies() {
        let items = [item(0, .sent, Array("a\n".utf8)), item(1, Array("b\n".utf8))]
        #expect(lines(model(items)).contains { $0.contains("reply after") })
        #expect(!lines(model(items) { $0.role = .accepted }).contains { $0.contains("reply after") })
    }

    @Test("A reply to our FIN is timed from the FIN, not from what was sent before it")
    func replyToFIN() {
        var model = Conversation.model(ascii: true, size: size)
        var snapshot = Conversation.snapshot()
        snapshot.events.append(
            SocketEvent(sequence: 4, time: World.at(14, 2, 5.9992), socket: Conversation.id, kind: .halfClosed))
        snapshot.nextEvent = 5
        snapshot.traffic = TrafficSnapshot(items: [item(0, .sent, Array("a\n".utf8)), item(1, Array("b\n".utf8))])
        _ = model.update(.snapshot(snapshot))
        #expect(lines(model).contains { $0.hasSuffix("reply after 0.8ms") }, "\(lines(model))")
    }

    @Test("What a multicast group sends back is no reply, what another host sends is")
    func multicast() {
        func addressed(_ item: TrafficItem, _ host: String) -> TrafficItem {
            var item = item
            item.address = .v4(host: host, port: 5_353)
            return item
        }
        let sent = addressed(item(0, .sent, Array("query".utf8)), "224.0.0.251")
        let echo = addressed(item(1, Array("query".utf8)), "192.0.2.1")
        let answer = addressed(item(1, Array("answer".utf8)), "192.0.2.2")
        for (received, isReply) in [(echo, false), (answer, true)] {
            let text = lines(model([sent, received]) { $0.role = .datagram })
            #expect(text.contains { $0.contains("reply after") } == isReply)
        }
        let request = addressed(item(0, Array("q".utf8)), "192.0.2.3")
        let next = addressed(item(2, Array("q2".utf8)), "192.0.2.3")
        let served = [request, addressed(item(1, .sent, Array("r".utf8)), "192.0.2.3"), next]
        #expect(!lines(model(served) { $0.role = .datagram }).contains { $0.contains("reply after") })
    }

    @Test("Bytes that passed in another program before it was looked at are counted at the top")
    func unseen() {
        var state = TrafficState()
        state.watch(Conversation.id)
        var socket = Conversation.socket
        (socket.received, socket.sent) = (100, 20)
        state.absorb(TrafficSnapshot(items: [item(0, [1, 2])]), of: Conversation.id, facts: socket)
        #expect(state.unseen == 118)
        socket.received += 50
        state.absorb(TrafficSnapshot(items: [item(0, [1, 2])]), of: Conversation.id, facts: socket)
        #expect(state.unseen == 118, "measured once")
        state.watch(nil)
        state.watch(Conversation.id)
        state.absorb(TrafficSnapshot(items: [item(0, [1, 2])]), of: Conversation.id)
        #expect(state.unseen == 0, "our own engine keeps everything")
    }

    @Test("A file shows its own share in the list and the queue, and leaves a line when it is sent")
    func file() {
        var model = model([]) { socket in
            socket.writing.current = OperationSnapshot(
                id: OperationID(9), kind: .write, tag: 1, done: 100_000, total: 262_144, started: World.now,
                lastProgress: World.now)
            socket.writing.pendingBytes = 162_144
        }
        model.press(.character("w"), .alt("t"), .alt("t"), .alt("t"))
        model.type("/tmp/big.bin")
        _ = model.update(.examined(FileFacts(path: "/tmp/big.bin", size: 200_000_000)))
        model.press(.enter)
        guard var progress = model.shared.transmissions[Conversation.id] else {
            Issue.record("nothing is being sent")
            return
        }
        (progress.done, progress.total) = (30_000_000, 200_000_000)
        _ = model.update(.transmission(progress))
        let text = draw(model, size).text
        #expect(text.contains("big.bin 29M of 191M") && text.contains("15%"))
        progress.done = 200_000_000
        _ = model.update(.transmissionEnded(progress, .done))
        var after = Conversation.snapshot()
        after.time = after.time + .milliseconds(100)
        after.traffic = TrafficSnapshot(items: [item(0, .sent, [65])])
        _ = model.update(.snapshot(after))
        #expect(lines(model).last?.hasSuffix("* sent big.bin: 191M in 0ms") == true)
    }
}
