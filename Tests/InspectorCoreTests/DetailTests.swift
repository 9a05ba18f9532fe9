import InspectorCore
import InspectorScreen
import SocketCore
import Testing

@Suite("The detail")
struct DetailTests {
    private func text(_ snapshot: EngineSnapshot, selecting id: UInt64, size: Size = Size(80, 60)) -> String {
        var model = Model(options: .init(ascii: true, version: "0"))
        _ = model.update(.resized(size))
        var former = snapshot
        former.time = MonotonicTime(nanoseconds: snapshot.time.nanoseconds - 2_000_000_000)
        former.times = EngineTimes()
        former.events = []
        former.nextEvent = 0
        former.counters.turns = 0
        _ = model.update(.snapshot(former))
        _ = model.update(.snapshot(snapshot))
        for _ in 0..<20 where model.list.selected != SocketID(id) { model.press(.character("j")) }
        model.press(.character("3"))
        return draw(model, size).text
    }

    @Test("Every flag that is lit has its reason", arguments: SocketFlags.names.map(\.name))
    func reasons(_ name: String) {
        var socket = World.busy
        socket.flags = SocketFlags.names.first { $0.name == name }?.flag ?? []
        let reason = FlagWords.reasons(socket, World.now).first { $0.name == name }?.reason ?? ""
        #expect(reason.count > 10)
        #expect(text(World.snapshot([socket]), selecting: 7).contains("\(name): \(reason)".prefix(60)))
    }

    @Test("A fingerprint is whole at every width, and its rows are of one length")
    func fingerprint() {
        let bytes = (0..<32).map { UInt8($0 * 7) }
        for room in 12...120 {
            let rows = TLSWords.fingerprint(bytes, room: room)
            #expect(rows.allSatisfy { $0.count <= room })
            let words = rows.flatMap { $0.split(separator: " ") }.filter { $0 != "sha256" }
            #expect(words.joined(separator: ":") == TLSWords.hex(bytes))
        }
    }

    @Test("What is in progress keeps its amount and its state in the narrowest window")
    func narrow() {
        var model = World.model(size: Size(40, 60))
        model.press(.character("3"))
        let shown = draw(model, Size(40, 60)).text
        for words in ["1024/4096 25%", "ASK after 30s", "[2001:db8::5]:7070", "in flight 64K", "sndq 87K (full)"] {
            #expect(shown.contains(words), "\(words)")
        }
    }

    @Test("BYTES shows both directions and names the program, and says unread once", arguments: [79, 80, 120, 200])
    func bytes(_ width: Int) {
        var socket = World.busy
        socket.kernel?.receiveQueue = 615 << 10
        var model = Model(options: .init(ascii: true, version: "0"))
        _ = model.update(.resized(Size(80, 24)))
        _ = model.update(.snapshot(World.snapshot([socket])))
        let program = PeerEnd.Program(process: 18100, name: "redis-server", descriptor: 9)
        _ = model.update(.peers([socket.id: PeerEnd(program: program, unread: 125 << 10)]))
        let row = QueueLines(model, socket, width: width).rows[2]
        #expect(row.left.width + 1 + row.right.width < width, "\(row.left.text)|\(row.right.text)")
        #expect(row.left.text.contains("125K in redis-server[18100]") && row.right.text.hasPrefix("615K"))
        #expect((row.left.text + row.right.text).split(separator: "unread").count <= 2)
    }

    @Test("A heading of flags has flags below it")
    func listenerFlags() throws {
        let lines = text(World.full, selecting: 3).split(separator: "\n", omittingEmptySubsequences: false)
        if let heading = lines.firstIndex(where: { $0.hasPrefix("- flags") }) {
            #expect(lines[heading + 1].contains("SocketStarted"))
        }
    }

    @Test("After the peer's FIN, a read that cannot get more says so")
    func readAfterEnd() {
        var socket = World.lineReader
        var model = Model(options: .init(ascii: true, version: "0"))
        _ = model.update(.resized(Size(120, 35)))
        _ = model.update(.snapshot(World.snapshot([socket])))
        func row() -> String { QueueLines(model, socket, width: 120).rows[0].left.text }
        #expect(row().contains("until CRLF") && !row().contains("peer closed its side"), "\(row())")
        socket.flags.insert(.readStreamClosed)
        #expect(row().contains("until CRLF") && row().contains("peer closed its side (FIN)"), "\(row())")
    }

    @Test("A bar is drawn only where the whole is known")
    func honestProgress() {
        let unknown = text(World.snapshot([World.lineReader]), selecting: 8)
        #expect(unknown.contains("until CRLF max 8K  312 B so far") && !unknown.contains("[#"))
        #expect(text(World.snapshot([World.busy]), selecting: 7).contains("1024/4096 [####............] 25%"))
    }

    @Test("Who is asked is told with which key to answer, while the answer is awaited")
    func asking() {
        #expect(text(World.snapshot([World.busy]), selecting: 7).contains("press A to extend, fail or close"))
        #expect(!text(World.snapshot([World.lineReader]), selecting: 8).contains("A answers"))
    }

    @Test("Events are marked below the second in which they happened")
    func marks() throws {
        let lines = text(World.full, selecting: 7).split(separator: "\n", omittingEmptySubsequences: false)
        let sent = try #require(lines.firstIndex { $0.hasPrefix(" tx ") })
        // Two seconds are on the sparkline; the write, the partial read and the timeout lie in the one before the last.
        #expect(lines[sent + 1].hasPrefix(" ev !") && lines[sent + 1].hasSuffix("! = failure"))
    }

    @Test("The kernel's side says what limits the connection")
    func limits() {
        var socket = World.busy
        socket.kernel?.sendBufferLimited = 0.12
        socket.kernel?.isApplicationLimited = true
        socket.kernel?.deliveryRate = 1_258_291
        let shown = text(World.snapshot([socket]), selecting: 7)
        for words in ["rwnd-limited 87%", "sndbuf-limited 12%", "app-limited", "delivery 1.2M/s", "callback lag 0.4ms"]
        {
            #expect(shown.contains(words), "\(words)")
        }
    }

    @Test("The engine says how busy it is")
    func engine() {
        var snapshot = World.full
        snapshot.counters.turns = 2_000
        snapshot.times.busy = .milliseconds(60)
        snapshot.times.longestTurn = .milliseconds(4)
        snapshot.times.queueLag = .microseconds(300)
        snapshot.times.mailboxDepth = 12
        let shown = text(snapshot, selecting: 7)
        #expect(shown.contains("busy 3%   turns 1000/s   longest turn 4ms   queue lag 0.3ms   mailbox 12"))
    }

    @Test("Whoever has gone to the end of the detail stays there when rows are added")
    func endStays() {
        var snapshot = World.full
        var model = Model(options: .init(ascii: true, version: "0"))
        _ = model.update(.resized(Size(80, 16)))
        _ = model.update(.snapshot(snapshot))
        model.press(.character("3"), .character("G"))
        #expect(draw(model, model.size).text.contains("- engine test"))
        for index in snapshot.sockets.indices {
            snapshot.sockets[index].reading.pending += (0..<5).map {
                OperationSnapshot(id: OperationID(900 + $0), kind: .read(.length(1)), tag: 60)
            }
        }
        _ = model.update(.snapshot(snapshot))
        #expect(draw(model, model.size).text.contains("- engine test"))
        model.press(.character("k"))
        #expect(draw(model, model.size).text.contains("more lines below"))
    }
}
