import InspectorCore
import InspectorScreen
import SocketCore
import Testing

@Suite("What the model keeps")
struct StateTests {
    private func matches(_ filter: String) throws -> [UInt64] {
        let filter = try Filter.parse(filter).get()
        return filter.matching(World.sockets, World.now, Findings(LintSettings())).map(\.id.number)
    }

    @Test("Words of a filter are joined by AND")
    func filter() throws {
        #expect(try matches("") == [3, 5, 6, 7, 8, 9, 10, 11])
        #expect(try matches("id:7") == [7])
        #expect(try matches("id:#7") == [7])
        #expect(try matches("state:close-wait") == [9])
        #expect(try matches("STATE:ESTAB port:8080") == [8])
        #expect(try matches("port:993") == [10])
        #expect(try matches("peer:192.0.2.7") == [8, 9])
        #expect(try matches("role:accepted state:closed") == [5])
        #expect(try matches("imap") == [10])
        #expect(try matches("10.0.0.9:6379") == [11])
        #expect(try matches("imap id:7") == [])
    }

    @Test(
        "A filter that cannot be read says why", arguments: ["id:x", "port:99999", "state:nowhere", "peer:", "role:z"])
    func badFilter(_ text: String) {
        guard case .failure(let failure) = Filter.parse(text) else {
            Issue.record("\(text) was taken")
            return
        }
        #expect(failure.message.hasPrefix(text))
    }

    @Test("The last good filter stays while a bad one is typed; Esc brings back the one before")
    func typedFilter() {
        var model = World.model()
        model.press(.character("f"))
        model.type("port:8080")
        #expect(model.list.rows.map(\.number) == [3, 8, 9])
        model.type("00")
        #expect(model.field.open?.error != nil)
        #expect(model.list.rows.map(\.number) == [3, 8, 9])
        #expect(model.press(.enter).isEmpty)
        #expect(model.field.open != nil)
        model.press(.backspace, .backspace, .enter)
        #expect(model.field.open == nil && model.list.filter.text == "port:8080")
        model.press(.character("f"), .control("u"))
        #expect(model.list.rows.count == 8)
        model.press(.escape)
        #expect(model.list.rows.count == 3)
        model.press(.escape)
        #expect(model.list.rows.count == 8)
    }

    @Test("Events keep gaps in their place, take nothing twice and stay bounded")
    func eventLog() {
        var log = EventLog()
        func absorb(_ numbers: Range<UInt64>, next: UInt64? = nil) {
            var snapshot = World.snapshot([])
            snapshot.events = numbers.map {
                SocketEvent(sequence: $0, time: World.now, socket: SocketID(1), kind: .readDone)
            }
            snapshot.nextEvent = next ?? numbers.upperBound
            log.absorb(snapshot)
        }
        absorb(3..<5)
        #expect(log.entries.first == .lost(3, next: 3))
        absorb(3..<6)
        #expect(log.entries.count == 4)
        absorb(9..<10)
        #expect(log.entries[4] == .lost(3, next: 9))
        absorb(10..<10, next: 12)
        #expect(log.entries.last == .lost(2, next: 12))
        #expect(log.lost == 8 && log.next == 12)
        for batch in 0..<50 { absorb(UInt64(12 + batch * 1000)..<UInt64(12 + (batch + 1) * 1000)) }
        #expect(log.entries.count <= EventLog.limit + 2000)
        #expect(log.entries.count >= EventLog.limit)
        #expect(log[log.end - 1] == log.entries.last)
        #expect(log[log.first] == log.entries.first)
        #expect(log[log.first - 1] == nil)
    }

    @Test("A session's events come with every gap, and with the event after it")
    func eventsOfOneSession() {
        var log = EventLog()
        var snapshot = World.snapshot([])
        let numbers: [(sequence: UInt64, socket: SocketID)] = [
            (0, SocketID(1)), (1, SocketID(2)), (5, SocketID(2)), (6, SocketID(2)), (7, SocketID(1)),
        ]
        snapshot.events = numbers.map {
            SocketEvent(sequence: $0.sequence, time: World.now, socket: $0.socket, kind: .readDone)
        }
        snapshot.nextEvent = 8
        log.absorb(snapshot)
        let about = log.entries(about: SocketID(1)).map { entry -> UInt64 in
            switch entry {
            case .event(let event): event.sequence
            case .lost(let count, _): 100 + count
            case .note: 0
            }
        }
        #expect(about == [0, 103, 5, 7])
        for batch in 0..<3 {
            snapshot.events = (0..<9000).map {
                let sequence = UInt64(8 + batch * 9000 + $0)
                return SocketEvent(sequence: sequence, time: World.now, socket: SocketID(sequence % 2), kind: .readDone)
            }
            snapshot.nextEvent = UInt64(8 + (batch + 1) * 9000)
            log.absorb(snapshot)
        }
        let odd = log.entries(about: SocketID(1))
        #expect(odd.count == log.entries.count / 2, "what was dropped is dropped here too")
        #expect(odd.last == log.entries.last)
    }

    @Test("Searching events goes round, and jumping opens the connection")
    func searchEvents() {
        var model = World.model()
        model.press(.character("4"), .character("/"))
        model.type("timeout")
        model.press(.enter)
        func found() -> UInt64? {
            guard let cursor = model.events.cursor, case .event(let event) = model.log[cursor] else { return nil }
            return event.sequence
        }
        #expect(found() == 220)
        model.press(.character("N"))
        #expect(found() == 4)
        model.press(.character("N"))
        #expect(found() == 220)
        model.press(.character("n"))
        #expect(found() == 4)
        model.press(.enter)
        #expect(model.tab == .traffic && model.list.selected == SocketID(7))
        model.press(.character("4"), .character("/"))
        model.type("no such thing")
        model.press(.enter)
        #expect(model.notice?.isError == true)
    }

    @Test("The event at the cursor is shown whole, wherever the cursor goes", arguments: PictureTests.sizes)
    func wholeEvent(size: Size) {
        var model = World.model(once: true, size: size)
        model.press(.character("4"))
        func words() -> String {
            draw(model, size).text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
        #expect(words().contains("trying 10.0.0.9:6379") || words().contains("trying - 10.0.0.9:6379"))
        for _ in 0..<2 { model.press(.up) }
        #expect(words().contains("read t5 timed out after 30s; 3 reads unfinished"), "\(words())")
        model.press(.down)
        #expect(words().contains("bytes are waiting, but no read is queued for them"))
        model.press(.enter)
        #expect(model.tab == .traffic && model.list.selected == SocketID(10))
    }

    @Test("Filtered events stay filtered as more come")
    func filterEvents() {
        var model = World.model()
        model.press(.character("4"), .character("f"))
        model.type("id:6")
        model.press(.enter)
        let before = model.events.shown(in: model.shared).count
        #expect(before == 4)
        var more = World.snapshot(World.sockets)
        more.events = [
            SocketEvent(sequence: 225, time: World.now, socket: SocketID(6), kind: .closed),
            SocketEvent(sequence: 226, time: World.now, socket: SocketID(7), kind: .readDone),
        ]
        more.nextEvent = 227
        _ = model.update(.snapshot(more))
        #expect(model.events.shown(in: model.shared).count == before + 1)
    }

    @Test("Histories hold a minute, and are dropped with their connection")
    func histories() {
        var histories = RateHistories()
        var socket = World.busy
        for second in 0..<100 {
            socket.received = UInt64(second * 1000)
            histories.absorb(World.snapshot([socket], time: MonotonicTime(nanoseconds: Int64(second) * 1_000_000_000)))
        }
        #expect(histories[socket.id]?.received == Array(repeating: 1000, count: 60))
        histories.absorb(World.snapshot([], time: MonotonicTime(nanoseconds: 200_000_000_000)))
        #expect(histories[socket.id] == nil)
    }

    @Test("A time of day does not tremble with the clocks, and follows a step")
    func wallClock() {
        var clock = WallClock()
        var snapshot = World.snapshot([])
        clock.absorb(snapshot)
        #expect(clock.text(World.at(14, 2, 10.911204)) == "14:02:10.911204")
        snapshot.wallNanoseconds += 7000
        clock.absorb(snapshot)
        #expect(clock.text(World.at(14, 2, 10.911204)) == "14:02:10.911204")
        snapshot.wallNanoseconds += 3_600_000_000_000
        clock.absorb(snapshot)
        #expect(clock.text(World.at(14, 2, 10)).hasPrefix("15:02:10."))
    }

    @Test("The start screen opens what is typed, and what a line's number stands for")
    func start() {
        var model = Model(options: .init(ascii: true, version: "0"))
        _ = model.update(.start(World.offers))
        model.type("1")
        #expect(model.press(.enter) == [.connect(OpenRequest(.tcp(host: "imap.example", port: 993)))])
        _ = model.update(.refused("connect: no"))
        #expect(model.start.error == "connect: no")
        model.press(.control("u"))
        model.type("2")
        #expect(model.press(.enter) == [.listen(OpenRequest(.tcp(host: "127.0.0.1", port: 8080)))])
        model.press(.control("u"))
        model.type("9")
        #expect(model.press(.enter).isEmpty)
        model.press(.control("u"))
        // No line has such a number, so it is what a line has in it.
        model.type("8080")
        #expect(model.press(.enter) == [.listen(OpenRequest(.tcp(host: "127.0.0.1", port: 8080)))])
        model.press(.control("u"))
        model.type("host")
        #expect(model.press(.enter) == [.showHost])
        model.press(.control("u"))
        model.type("im")
        model.press(.tab)
        #expect(model.start.editor.text == "imap.example:993")
        model.press(.control("u"))
        model.type("demo")
        #expect(model.press(.enter) == [.startDemo])
        _ = model.update(.snapshot(World.full))
        #expect(model.tab == .list)
    }

    @Test("Numbers as a person reads them")
    func format() {
        #expect(
            [0, 312, 1023, 1024, 89_088, 1_474_576, 1_048_575].map { Format.bytes($0) } == [
                "0", "312", "1023", "1.0K", "87K", "1.4M", "1.0M",
            ])
        #expect(Format.rate(nil) == "-" && Format.rate(.nan) == "-" && Format.rate(0.4) == "0")
        #expect(Format.percent(done: 4095, total: 4096) == "99%" && Format.percent(done: 1, total: 0) == "-")
        #expect(
            [40_000, 200_000, 31_000_000, 2_300_000_000, 30_000_000_000, 600_000_000_000].map {
                Format.duration(.nanoseconds($0))
            } == ["40us", "0.2ms", "31ms", "2.3s", "30s", "10m"])
        #expect(Format.age(.seconds(252)) == "04:12" && Format.age(.seconds(100_000)) == "1d 03h")
        #expect(Format.timeOfDay(wallNanoseconds: -1) == "23:59:59.999999")
        #expect(Format.bytes(UInt64.max).count <= 4 && Format.rate(1e300).count <= 4)
        #expect(Glyphs.ascii.bar(done: 4095, total: 4096, width: 6) == "[###.]")
        #expect(Glyphs.ascii.bar(done: 4096, total: 4096, width: 6) == "[####]")
    }
}
