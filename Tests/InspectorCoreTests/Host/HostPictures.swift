import InspectorCore
import InspectorScreen
import SocketCore
import Testing

/// The screens of sockets that are looked at from outside.
@Suite("Pictures of the host")
struct HostPictures {
    /// A deadlock, a full listener, a leak, an idle event loop and a socket of another user.
    static var world: HostWorld {
        var world = HostBlockingTests.deadlock()
        world.processes[4711]?.flagsRead = [4]
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
        _ size: Size, _ tab: Character, selecting row: Int = 0, ascii: Bool = true, peeks: PeekRules = PeekRules(),
        of world: HostWorld = world
    ) -> Model {
        var (judge, rows) = (HostJudge(), HostRows())
        var snapshot = EngineSnapshot(engine: "host", time: .zero, wallNanoseconds: 0)
        for time in [10, 11, 11.31] {
            let look = world.look(time)
            _ = judge.absorb(look)
            judge.absorbExamined(look)
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

    static let screens: [Screen] = [
        Screen("host-list") { model($0, "1", selecting: 1) }, Screen("host-talk") { model($0, "2", selecting: 1) },
        Screen("host-detail") { model($0, "3", selecting: 1) },
        // A listener and its queue.
        Screen("host-listener") { model($0, "3", selecting: 8) },
        // Programs instead of sockets.
        Screen("host-programs") { model($0, "p") },
    ]

    @Test("p lists programs, Enter the sockets of one, Esc goes back; a filter applies")
    func listsPrograms() throws {
        var model = Self.model(Size(120, 35), "p")
        let programs = try #require(model.list.programs)
        #expect(programs.rows.first?.worst?.lint == "deadlock")
        let counted = programs.rows.reduce(0) { $0 + $1.count }
        #expect(counted == model.shown?.sockets.count)
        let api = try #require(programs.rows.first { $0.title == "api.py[4711]" })
        #expect((api.established, api.listening, api.count) == (1, 1, 2))
        while model.list.programs?.current?.owner != .process(4_711, on: nil) { model.press(.character("j")) }
        model.press(.enter)
        #expect(model.list.programs == nil && model.list.rows.count == 2 && model.list.filter.text == "pid:4711")
        model.press(.escape)
        #expect(model.list.programs?.current?.owner != nil && model.list.filter.isEmpty)
        _ = model.update(.command("filter state:listen"))
        #expect(model.list.programs?.rows.map(\.count).max() == 1)
        while model.list.programs?.current?.owner != .process(812, on: nil) { model.press(.character("j")) }
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

    /// A server that has left two of twenty connections unread.
    private static var crowd: HostWorld {
        var world = HostWorld()
        world.program(4711, "api.py")
        world.program(81, "curl")
        _ = world.listen(4711, 3, port: 80)
        for descriptor in 4..<24 as Range<Int32> {
            let ends = world.connect((81, descriptor), (4711, descriptor), port: 80)
            if descriptor % 10 == 3 { world.fill(ends.server, 18) }
        }
        return world
    }

    @Test("the list is as high wherever its cursor is", arguments: PictureTests.sizes)
    func height(_ size: Size) {
        var model = Self.model(size, "1", of: Self.crowd)
        let height = model.layout.listRows
        #expect(model.list.rows.count == 41 && model.shared.findings.count > 0)
        for _ in model.list.rows {
            model.press(.character("j"))
            #expect(model.layout.listRows == height, "\(model.selected?.id.description ?? "-")")
        }
    }

    @Test(
        "L keeps the cursor in its line, or the list where it is, and L again shows what was there",
        arguments: PictureTests.sizes)
    func jumps(_ size: Size) throws {
        var model = Self.model(size, "1", of: Self.crowd)
        for _ in 0..<38 {
            model.press(.character("j"))
            let (top, height) = (model.list.top, model.layout.listRows)
            let from = try #require(model.list.selected.flatMap { model.list.row(of: $0, in: model.shared) })
            model.press(.character("L"))
            let to = try #require(model.list.selected.flatMap { model.list.row(of: $0, in: model.shared) })
            if from == to { continue }
            let most = model.list.rows.count - height
            let inSight = (top..<top + height).contains(to)
            #expect(model.list.top == (inSight ? top : min(max(0, top + to - from), most)), "\(from) \(to)")
            model.press(.character("L"))
            #expect(model.list.top == top, "\(from) \(to)")
        }
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
