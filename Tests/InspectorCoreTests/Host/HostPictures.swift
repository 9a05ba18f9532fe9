import InspectorCore
import SocketCore
import Testing

/// The screens of sockets that are looked at from outside.
@Suite("Pictures of the host")
struct HostPictures {
    /// A deadlock, a full listener, a leak, an idle event loop and a socket of another user.
    static var world: HostWorld {
        var world = HostBlockingTests.deadlock()
        world.program(812, "nginx", .futex)
        let listener = world.listen(812, 6, port: 80, limit: 128)
        world[listener].receiveQueue = 129
        world.program(90, "redis\u{1B}-server", .epoll(5))
        world.program(77, "web.js", .epoll(4))
        let (client, server) = world.connect((77, 12), (90, 8), port: 6379)
        world.set(90, 5, [(server, Poll.input)])
        world.set(77, 4, [(client, Poll.edge)])
        world.program(3310, "orders.jar", .futex)
        let far = world.reach((3310, 88), port: 5432)
        world[far].state = .closeWait
        world.fill(far, 120)
        world[world.connect(nil, nil, port: 22).client].inode = 77_001
        return world
    }

    static func model(
        _ size: Size, _ tab: Character, selecting row: Int = 0, ascii: Bool = true, peeks: PeekRules = PeekRules()
    ) -> Model {
        let world = world
        var (judge, rows) = (HostJudge(), HostRows())
        var snapshot = EngineSnapshot(engine: "host", time: .zero, wallNanoseconds: 0)
        for time in [10, 11, 11.31] {
            let look = world.look(time)
            _ = judge.take(look)
            judge.takeExamined(look)
            snapshot = rows.snapshot(
                of: look, by: judge, judge.verdicts().found, wallNanoseconds: 1_700_000_000_000_000_000)
        }
        var options = Model.Options(ascii: ascii, version: "0.1")
        options.peeks = peeks
        var model = Model(options: options)
        _ = model.update(.resized(size))
        _ = model.update(.programs(ProgramNews(programs: [ProgramInfo(outside: "web-1", process: 0, ordinal: 0)])))
        _ = model.update(.snapshot(snapshot))
        for _ in 0..<row { model.press(.character("j")) }
        model.press(.character(tab))
        return model
    }

    @Test("list, traffic, detail and events", arguments: [("list", "1"), ("talk", "2"), ("detail", "3")])
    func pictures(_ name: String, _ tab: String) throws {
        for size in PictureTests.sizes {
            try Pictures.check(Self.model(size, Character(tab), selecting: 1), "host-\(name)", size)
        }
    }

    @Test("a listener and its queue")
    func listener() throws {
        for size in PictureTests.sizes {
            try Pictures.check(Self.model(size, "3", selecting: 2), "host-listener", size)
        }
    }

    @Test("programs instead of sockets")
    func programs() throws {
        for size in PictureTests.sizes {
            try Pictures.check(Self.model(size, "p"), "host-programs", size)
        }
    }

    @Test("p lists programs, Enter the sockets of one, Esc goes back; a filter applies")
    func listsPrograms() throws {
        var model = Self.model(Size(120, 35), "p")
        let programs = try #require(model.list.programs)
        #expect(programs.rows.first?.worst?.lint == "deadlock")
        let counted = programs.rows.reduce(0) { $0 + $1.count }
        #expect(counted == model.shown?.sockets.count)
        let api = try #require(programs.rows.first { $0.title == "api.py[4711]" })
        #expect((api.established, api.listening, api.count) == (1, 1, 2))
        while model.list.programs?.current?.owner != .process(4_711) { model.press(.character("j")) }
        model.press(.enter)
        #expect(model.list.programs == nil && model.list.rows.count == 2 && model.list.filter.text == "pid:4711")
        model.press(.escape)
        #expect(model.list.programs?.current?.owner != nil && model.list.filter.isEmpty)
        _ = model.update(.command("filter state:listen"))
        #expect(model.list.programs?.rows.map(\.count).max() == 1)
        while model.list.programs?.current?.owner != .process(812) { model.press(.character("j")) }
        model.press(.enter)
        #expect(model.list.filter.text == "(state:listen) pid:812" && model.list.rows.count == 1)
        model.press(.escape, .character("p"))
        #expect(model.list.programs == nil && model.list.filter.text == "state:listen")
    }

    @Test("filters by program, descriptor, what is asked for and warnings")
    func filters() {
        func rows(_ filter: String) -> Int {
            var model = Self.model(Size(120, 35), "1")
            _ = model.update(.command("filter \(filter)"))
            return model.list.rows.count
        }
        #expect(rows("program:nginx") == 1 && rows("pid:4711") == 2 && rows("fd:88") == 1)
        #expect(rows("asks:write") == 2 && rows("warn:deadlock") == 2 && rows("user:0") > 5)
    }

    @Test("L goes to the other end, and nothing of another program can be changed")
    func keys() {
        var model = Self.model(Size(120, 35), "1", selecting: 1)
        let first = model.list.selected
        model.press(.character("L"))
        #expect(model.list.selected != first)
        model.press(.character("L"))
        #expect(model.list.selected == first)
        for key in ["r", "x", "w", "T"] as [Character] {
            let effects = model.press(.character(key))
            #expect(!effects.contains { if case .send = $0 { true } else { false } }, "\(key)")
        }
    }
}
