import InspectorCore
import InspectorScreen
import SocketCore
import Testing

@Suite("Rewinding")
struct RewindTests {
    private static let first: Int64 = World.full.wallNanoseconds - 180_000_000_000
    private static let last = World.full.wallNanoseconds

    /// What a file of three minutes answers.
    private static func answer(_ model: Model) -> EngineSnapshot {
        let request = model.snapshotRequest
        var snapshot = World.full
        let wall = request.instant ?? last
        snapshot.time = World.now + .nanoseconds(wall - last)
        snapshot.wallNanoseconds = wall
        snapshot.jump = request.jump
        snapshot.events = snapshot.events.filter { $0.time <= snapshot.time }
        // Of another instant they are told and numbered from the beginning.
        for index in snapshot.events.indices { snapshot.events[index].sequence = UInt64(index) }
        snapshot.nextEvent = UInt64(snapshot.events.count)
        snapshot.moment = SnapshotMoment(first: first, last: last, shown: request.instant)
        snapshot.moment?.previousEvent = wall - 2_500_000_000
        snapshot.moment?.nextEvent = request.instant.map { $0 + 250_000_000 }
        return snapshot
    }

    private static func model(_ size: Size = Size(80, 24), at distance: Int64? = nil) -> Model {
        var options = Model.Options(ascii: false, version: "0.1")
        options.instant = distance
        var model = Model(options: options)
        _ = model.update(.resized(size))
        let file = ProgramInfo(ordinal: 0, name: "session.pcapng", process: 0, state: .ended("this is its end"))
        _ = model.update(.programs(ProgramNews(programs: [file])))
        _ = model.update(.snapshot(answer(model)))
        return model
    }

    private static func header(_ model: Model) -> String {
        String(draw(model, model.size).text.split(separator: "\n").first ?? "")
    }

    private func press(_ model: inout Model, _ keys: Key...) {
        for key in keys {
            _ = model.update(.key(key))
            _ = model.update(.snapshot(Self.answer(model)))
        }
    }

    @Test("while a file is opened, keys go to the list and not to the start screen")
    func opening() {
        var options = Model.Options(ascii: true, version: "0.1")
        options.isOpening = true
        var model = Model(options: options)
        _ = model.update(.resized(Size(80, 24)))
        model.press(.character("/"))
        #expect(model.tab == .list && model.field.open?.purpose == .listSearch)
        // If it can't be opened, that is said where one can try another one.
        var refused = Model(options: options)
        _ = refused.update(.refused("open: x: No such file or directory"))
        #expect(refused.tab == .start && refused.start.error != nil)
    }

    @Test("In the composer arrows move the cursor, and with Alt they go one second")
    func composer() {
        var model = Conversation.model(ascii: true, size: Size(80, 24))
        var snapshot = Conversation.snapshot()
        let last = snapshot.wallNanoseconds
        snapshot.moment = SnapshotMoment(first: last - 60_000_000_000, last: last)
        _ = model.update(.snapshot(snapshot))
        model.type("ab")
        model.press(.left, .altLeft, .altLeft, .altRight)
        #expect(model.isComposing && model.shared.rewind?.instant == last - 1_000_000_000)
        model.type("X")
        #expect(model.composer.editor.text == "aXb")
    }

    @Test("Arrows go one second, with Shift ten, and never beyond what there is")
    func arrows() {
        var model = Self.model()
        #expect(!Self.header(model).contains("REWIND"))
        press(&model, .left)
        #expect(Self.header(model).contains("REWIND 02:59.000 / 03:00.000 x1"))
        press(&model, .shiftLeft, .right)
        #expect(Self.header(model).contains("REWIND 02:50.000 /"))
        press(&model, .shiftRight, .shiftRight)
        #expect(Self.header(model).contains("REWIND 03:00.000 /"))
        for _ in 0..<20 { press(&model, .shiftLeft) }
        #expect(Self.header(model).contains("REWIND 00:00.000 /"))
        press(&model, "0")
        #expect(!Self.header(model).contains("REWIND") && model.snapshotRequest.instant == nil)
    }

    @Test("Comma and full stop go from event to event, and say where there is none")
    func events() {
        var model = Self.model()
        press(&model, ",")
        #expect(Self.header(model).contains("REWIND 02:57.500 /"))
        press(&model, ".")
        #expect(Self.header(model).contains("REWIND 02:57.750 /"))
        var end = Self.answer(model)
        end.moment?.nextEvent = nil
        _ = model.update(.snapshot(end))
        _ = model.update(.key("."))
        #expect(model.notice?.text == "there is no event after this")
    }

    @Test("A time is typed as it is shown, and one that makes no sense stays to be corrected")
    func typed() {
        var model = Self.model()
        press(&model, "t")
        model.type("1:30.5")
        press(&model, .enter)
        #expect(Self.header(model).contains("REWIND 01:30.500 /"))
        press(&model, "t")
        model.type("1:90")
        press(&model, .enter)
        #expect(model.context == .field)
        press(&model, .escape)
        _ = model.update(.command("at 500"))
        #expect(model.notice?.text == "it ends at 03:00.000")
        _ = model.update(.command("at noon"))
        #expect(model.notice?.isError == true)
    }

    @Test("Space plays as time passes, faster and slower, and stops at the end; elsewhere it freezes")
    func plays() {
        var model = Self.model()
        press(&model, " ")
        #expect(model.shared.frozen != nil && !model.isPlaying)
        press(&model, .left)
        #expect(model.shared.frozen == nil)
        for _ in 0..<2 { press(&model, .shiftLeft) }
        press(&model, " ", "}", "}")
        #expect(model.isPlaying && Self.header(model).contains(" x4"))
        func pass(_ seconds: Double) {
            let begin = MonotonicTime(nanoseconds: 9_000_000_000)
            _ = model.update(.time(begin + .seconds(seconds)))
            _ = model.update(.snapshot(Self.answer(model)))
        }
        pass(0)
        pass(0.5)
        #expect(Self.header(model).contains("REWIND 02:41.000 /"))
        press(&model, "{", "{", "{")
        #expect(Self.header(model).contains("x1/2"))
        pass(1)
        #expect(Self.header(model).contains("REWIND 02:41.250 /"))
        for _ in 0..<8 { press(&model, "}") }
        for second in 2..<5 { pass(Double(second)) }
        #expect(!model.isPlaying && Self.header(model).contains("REWIND 03:00.000 /"))
    }

    @Test("An event that is shown is gone to by Enter; events after the instant are in no list")
    func event() throws {
        var model = Self.model()
        let times = World.full.events.map(\.time)
        let early = try #require(times.first), late = try #require(times.last)
        press(&model, .left, "4", "g", .enter)
        #expect(model.now == early)
        let listed = model.log.entries.compactMap { if case .event(let event) = $0 { event.time } else { nil } }
        #expect(!listed.isEmpty && listed.allSatisfy { $0 <= early } && late > early)
    }

    @Test("An answer to what was asked before the last key is not shown")
    func stale() {
        var model = Self.model()
        let old = Self.answer(model)
        _ = model.update(.key(.left))
        _ = model.update(.snapshot(old))
        #expect(!Self.header(model).contains("REWIND"))
        _ = model.update(.snapshot(Self.answer(model)))
        _ = model.update(.snapshot(old))
        #expect(Self.header(model).contains("REWIND 02:59.000"))
    }

    @Test("What has only a present is refused by every key that goes back")
    func refused() {
        for key in [.left, .shiftLeft, ",", "t"] as [Key] {
            var model = World.model()
            model.press(key)
            #expect(model.notice?.text.contains("only an opened file") == true && model.snapshotRequest.instant == nil)
        }
    }

    /// What a run of 13 minutes answers of which the last minute is kept.
    private static func answerOfRun(_ model: Model) -> EngineSnapshot {
        var snapshot = answer(model)
        let shown = model.snapshotRequest.instant
        var moment = SnapshotMoment(first: last - 60_000_000_000, last: last, shown: shown)
        (moment.isLive, moment.origin) = (true, last - 780_000_000_000)
        snapshot.moment = moment
        return snapshot
    }

    private static func run(_ keys: Key...) -> Model {
        var model = World.model()
        _ = model.update(.snapshot(answerOfRun(model)))
        for key in keys {
            _ = model.update(.key(key))
            _ = model.update(.snapshot(answerOfRun(model)))
        }
        return model
    }

    @Test("A run that goes on says how far back it reaches, and shows the past by its own time")
    func ofRun() {
        #expect(Self.header(Self.run()).contains("back 60s"), "\(Self.header(Self.run()))")
        #expect(Self.header(Self.run(.left)).contains("REWIND 12:59.000 / 13:00.000 x1 from 12:00.000"))
        #expect(!Self.header(Self.run(.left, "0")).contains("REWIND"))
        // What is gone on from the last instant is the present.
        #expect(!Self.header(Self.run(.left, .right)).contains("REWIND"))
        let early = Self.run(.left, .shiftLeft, .shiftLeft, .shiftLeft, .shiftLeft, .shiftLeft, .shiftLeft, .shiftLeft)
        #expect(Self.header(early).contains("REWIND 12:00.000 /"))
        #expect(early.notice?.text == "nothing before 12:00.000 is kept")
        var model = Self.run()
        _ = model.update(.command("at 12:30"))
        _ = model.update(.snapshot(Self.answerOfRun(model)))
        #expect(Self.header(model).contains("REWIND 12:30.000 /"))
    }

    @Test("Nothing is done to a socket while its past is shown; what is opened is shown in the present")
    func past() {
        var model = Self.run(.left)
        #expect(model.update(.command("close now")).isEmpty)
        #expect(model.notice?.text == "not possible in the past; 0 goes back to the present")
        #expect(model.update(.command("write x")).isEmpty && model.update(.key("x")).isEmpty)
        #expect(model.whyNoSending != nil)
        _ = model.update(.opened(SocketID(99), OpenRequest(.tcp(host: "a", port: 1))))
        #expect(!model.isRewound)
        model = Self.run(.left)
        #expect(model.update(.command("rewind off")) == [.keepHistory(nil)] && !model.isRewound)
        #expect(model.update(.command("rewind 5m")) == [.keepHistory(.seconds(300))])
        _ = model.update(.command("rewind tomorrow"))
        #expect(model.notice?.isError == true)
    }

    @Test("What adds up is made from what was shown before the instant")
    func history() throws {
        var model = Self.run(.left)
        var snapshot = Self.answerOfRun(model)
        let socket = try #require(snapshot.sockets.first { $0.phase == .connected })
        let index = try #require(snapshot.position(of: socket.id))
        snapshot.before = (1...5).reversed().map { second in
            var former = snapshot
            former.time = snapshot.time + .seconds(-second)
            former.events = []
            former.sockets[index].received = socket.received - UInt64(min(Int(socket.received), 10 * second))
            return former
        }
        _ = model.update(.snapshot(snapshot))
        #expect(model.shared.histories[socket.id]?.received.count == 5)
        #expect(model.shared.latest?.before == nil)
    }

    @Test("The command line's time is gone to once it was read")
    func atFirst() {
        var model = Self.model(at: 12_480_000_000)
        _ = model.update(.snapshot(Self.answer(model)))
        #expect(Self.header(model).contains("REWIND 00:12.480 / 03:00.000 x1"))
    }

    @Test(
        "Times are read as they are written",
        arguments: [
            ("0", 0), ("12.48", 12_480_000_000), ("00:12.480", 12_480_000_000), ("1:02:03.5", 3_723_500_000_000),
            ("90", 90_000_000_000), ("0.000000001", 1),
        ])
    func text(text: String, nanoseconds: Int64) {
        #expect(InstantText.parse(text) == nanoseconds)
        #expect(InstantText.parse(InstantText.text(nanoseconds)) == nanoseconds / 1_000_000 * 1_000_000)
    }

    @Test(
        "What is no time is refused",
        arguments: [
            "", "-1", "1:60", "1:2:3:4", "1.", ".5", "1.0000000001", "1e3", "٣",
        ])
    func wrong(text: String) { #expect(InstantText.parse(text) == nil) }

    static let screens: [Screen] = [
        Screen("rewound") { size in
            var model = model(size)
            _ = model.update(.key(.shiftLeft))
            _ = model.update(.snapshot(answer(model)))
            return model
        }
    ]
}
