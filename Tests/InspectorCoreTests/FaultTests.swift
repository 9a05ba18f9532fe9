import InspectorCore
import InspectorScreen
import SocketCore
import SocketWorkshop
import Testing

@Suite("Faults and breakpoints on the screen")
struct FaultTests {
    private let size = Size(100, 24)

    private func snapshot(
        _ change: (inout FaultSnapshot) -> Void, events: [SocketEvent] = []
    ) -> EngineSnapshot {
        var fault = FaultSnapshot()
        fault.rules = [FaultSnapshot.Rule(number: 2, effect: "slice", text: "slice 7", count: 12)]
        change(&fault)
        var client = World.make(2, .accepted, .connected)
        client.peer = .v4(host: "192.0.2.7", port: 1_000)
        var server = World.make(3, .client, .connected, target: "db.example:6379")
        (client.linked, server.linked) = (server.id, client.id)
        (client.fault, server.fault) = (fault, fault)
        var snapshot = World.snapshot([World.make(1, .listener, .listening, target: ":9000"), client, server])
        snapshot.events = events
        snapshot.nextEvent = UInt64(events.count)
        return snapshot
    }

    private func hold(_ fault: inout FaultSnapshot, _ now: MonotonicTime = .zero) {
        fault.hold = FaultSnapshot.Hold(
            breakpoint: 1, text: "bytes 4711", since: now, upstreamBytes: 4_289, downstreamBytes: 0)
    }

    private func model(_ snapshot: EngineSnapshot) -> Model {
        var model = Model(options: .init(ascii: true, version: "0"))
        _ = model.update(.resized(size))
        _ = model.update(.snapshot(snapshot))
        model.press(.down)
        return model
    }

    @Test("the control socket takes the commands for faults that a key and a script have")
    func verbs() { #expect(FaultCommand.verbs == Action.faults.map(\.name)) }

    @Test("A row says which fault it has, and that it is held and for how long")
    func rows() {
        #expect(draw(model(snapshot { _ in }), size).text.contains("FAULT slice"))
        #expect(draw(model(snapshot { $0.rules[0].text = "downstream slice 7" }), size).text.contains("FAULT < slice"))
        var fault = FaultSnapshot()
        hold(&fault)
        let held = draw(model(snapshot { $0.hold = fault.hold }), size).text
        #expect(held.contains("HELD"))
        let untouched = draw(model(snapshot { $0.rules[0].count = 0 }), size).text
        #expect(!untouched.split(separator: "\n")[3].contains("FAULT"))
    }

    @Test("The detail counts, and says what waits")
    func detail() {
        var model = model(
            snapshot {
                hold(&$0)
                ($0.delayedBytes, $0.droppedBytes, $0.isLimitedByBuffer) = (4_096, 7, true)
            })
        _ = model.update(.command("detail"))
        let text = draw(model, Size(200, 40)).text
        for words in ["slice 7 x12", "4.0K delayed", "7 B dropped", "rules limited by buffer", "bytes 4711", "4.2K"] {
            #expect(text.contains(words), "\(words) in \(text)")
        }
    }

    @Test("The detail shows the next bytes that wait, escaped, and which key releases them")
    func heldBytes() {
        var model = model(
            snapshot {
                hold(&$0)
                $0.hold?.upstreamNext = Array("GET \u{1B}[2J\r\n\u{202E}".utf8)
            })
        _ = model.update(.command("detail"))
        let text = draw(model, Size(100, 40)).text
        #expect(text.contains(#"HELD > 4.2K  "GET \x1b[2J\r\n\xe2\x80\xae"..."#), "\(text)")
        #expect(text.contains("B or :release continues it") && !text.contains("Idle: nothing is in transit"))
        let narrow = draw(model, Size(40, 20)).text
        #expect(narrow.contains(#"HELD > 4.2K  "GET"#) && narrow.contains(#""..."#), "\(narrow)")
    }

    @Test("Nothing is said to be at rest while a breakpoint, a delay or a stall keeps it")
    func notQuiet() {
        func quiet(_ change: (inout FaultSnapshot) -> Void) -> String? {
            var fault = FaultSnapshot()
            fault.rules = [FaultSnapshot.Rule(number: 1, effect: "slice", text: "slice 7", count: 1)]
            change(&fault)
            var socket = World.make(2, .client, .connected)
            var kernel = KernelSnapshot()
            (kernel.sendQueue, kernel.receiveQueue) = (0, 0)
            (socket.kernel, socket.fault) = (kernel, fault)
            socket.activity.lastByte = .zero
            return Situation(Side(socket), now: .zero + .seconds(9)).quiet(last: nil)
        }
        #expect(quiet { _ in } != nil)
        #expect(quiet { hold(&$0) } == nil && quiet { $0.delayedBytes = 1 } == nil)
        #expect(quiet { $0.rules = [.init(number: 1, effect: "stall", text: "stall", count: 1)] } == nil)
    }

    @Test("Below the list, what the relay holds back is not covered by the last minute")
    func preview() {
        var held = snapshot { hold(&$0) }
        for index in held.sockets.indices where held.sockets[index].linked != nil {
            held.sockets[index].isHeldBack = held.sockets[index].role == .accepted
        }
        let lines = draw(model(held), Size(80, 24)).text.split(separator: "\n").map(String.init)
        #expect(lines.contains { $0.contains(" RELAY ") && $0.contains("client held back") }, "\(lines)")
        let narrow = draw(model(held), Size(60, 16)).text
        #expect(narrow.contains("HELD   by breakpoint 1 for 15h"), "\(narrow)")
        #expect(lines.contains { $0.contains(" rx ") && $0.contains("tx ") })
    }

    @Test("Quitting counts a relayed connection once, as the header does")
    func quit() {
        var model = model(snapshot { hold(&$0) })
        #expect(draw(model, size).text.contains("live 2"))
        model.press(.character("q"))
        #expect(draw(model, size).text.contains("quit? live 2: all will close"))
    }

    @Test("A listener that a rule shuts says so, and whether it is paused too")
    func shut() {
        var shut = snapshot { _ in }
        var fault = FaultSnapshot()
        fault.rules = [.init(number: 3, effect: "no-accept", text: "no-accept", count: 1)]
        shut.sockets[0].fault = fault
        var model = Model(options: .init(ascii: true, version: "0"))
        _ = model.update(.resized(size))
        _ = model.update(.snapshot(shut))
        model.press(.up)
        let text = draw(model, size).text
        #expect(text.contains("FAULT no-accept") && text.contains("fault 3 accepts no connections"), "\(text)")
        shut.sockets[0].isReadingPaused = true
        _ = model.update(.snapshot(shut))
        #expect(draw(model, size).text.contains("fault 3 accepts no connections; paused too (P)"))
    }

    @Test("When a breakpoint is hit the bell rings and a notice names the key")
    func hit() {
        let event = SocketEvent(sequence: 0, time: .zero, socket: SocketID(2), kind: .held, first: 1, second: 4_289)
        var model = Model(options: .init(ascii: true, version: "0"))
        _ = model.update(.resized(size))
        let effects = model.update(.snapshot(snapshot({ hold(&$0) }, events: [event])))
        #expect(effects.contains(.screen(.bell)))
        #expect(draw(model, size).text.contains("#2 is held by breakpoint 1; B releases it"))
    }

    @Test("What another program holds, it alone releases")
    func heldElsewhere() {
        var model = model(snapshot { hold(&$0) })
        _ = model.update(.programs(ProgramNews(programs: [ProgramInfo(ordinal: 0, name: "chatd", process: 42)])))
        #expect(!draw(model, size).text.contains("B release"))
        model.press(.character("B"))
        let text = draw(model, size).text
        #expect(text.contains("#2 is held by a breakpoint of chatd"), "\(text)")
        #expect(model.update(.key(.character("c"))) != [.fault(.release(.all, SocketID(2), nil))])
    }

    @Test(
        "B on a held row opens a menu, whose letters act",
        arguments: [
            ("c", Effect.fault(.release(.all, SocketID(2), nil))), ("n", .fault(.release(.read, SocketID(2), nil))),
            ("x", .fault(.release(.drop, SocketID(2), nil))), ("e", .fetchHeld(SocketID(2))),
            ("a", .fault(.clearBreaks)),
        ])
    func menu(key: String, effect: Effect) {
        var model = model(snapshot { hold(&$0) })
        model.press(.character("B"))
        #expect(draw(model, size).text.contains("held by breakpoint 1"))
        #expect(model.update(.key(.character(Character(key)))) == [effect])
    }

    @Test("A reset of a held connection asks first, and so many bytes are typed")
    func asks() {
        var model = model(snapshot { hold(&$0) })
        model.press(.character("B"))
        #expect(model.update(.key(.character("r"))).isEmpty)
        #expect(draw(model, size).text.contains("Reset #2"))
        #expect(model.update(.key(.character("y"))) == [.fault(.reset(SocketID(2)))])
        model.press(.character("B"))
        model.press(.character("b"))
        for character in "10" { model.press(.character(character)) }
        #expect(model.update(.key(.enter)) == [.fault(.release(.bytes(10), SocketID(2), nil))])
    }

    @Test("No bare letter acts on held bytes, and B elsewhere begins a breakpoint")
    func noLetters() {
        var model = model(snapshot { hold(&$0) })
        for key in "cnbexra" where key != "c" && key != "b" && key != "r" && key != "x" {
            #expect(!model.update(.key(.character(key))).contains { if case .fault = $0 { true } else { false } })
        }
        var other = self.model(snapshot { _ in })
        other.press(.character("B"))
        for character in "bytes 5" { other.press(.character(character)) }
        #expect(other.update(.key(.enter)) == [.fault(.addBreak("on bytes 5"))])
    }

    @Test("Held bytes go to the editor, and what was edited is released")
    func edit() {
        var model = model(snapshot { hold(&$0) })
        let bytes = Array("held".utf8)
        #expect(model.update(.held(SocketID(2), bytes)) == [.screen(.edit(.held(SocketID(2)), bytes))])
        #expect(model.update(.held(SocketID(2), [])).isEmpty)
        #expect(model.update(.edited(.held(SocketID(2)), bytes, wasChanged: false)).isEmpty)
        let other = Array("other".utf8)
        #expect(
            model.update(.edited(.held(SocketID(2)), other, wasChanged: true))
                == [.fault(.release(.edit(other), SocketID(2), nil))])
    }

    @Test(
        "Commands are read",
        arguments: [
            ("fault add downstream latency 200ms", FaultCommand.add("downstream latency 200ms")),
            ("fault add slow", .add("slow")), ("held", .held),
            ("fault list", .list), ("fault off 2", .off(2)), ("fault clear", .clear),
            ("break upstream on bytes 4711", .addBreak("upstream on bytes 4711")), ("break off 1", .breakOff(1)),
            ("break clear", .clearBreaks), ("release", .release(.all, nil, nil)),
            ("release 10 upstream #7", .release(.bytes(10), SocketID(7), .upstream)),
            ("release edit a\\r\\n", .release(.edit([0x61, 13, 10]), nil, nil)),
            ("release edit hex:0aFF #3", .release(.edit([10, 255]), SocketID(3), nil)),
            ("release edit \"a  b\" upstream #3", .release(.edit(Array("a  b".utf8)), SocketID(3), .upstream)),
            ("release reset #3", .reset(SocketID(3))),
        ])
    func commands(line: String, command: FaultCommand) throws {
        #expect(try FaultCommand.parse(line).get() == command)
        #expect(throws: Never.self) { try Instruction.parse(line).get() }
    }

    @Test(
        "What is wrong with a command is named",
        arguments: [
            ("fault add latency", "latency"), ("fault add downstream latancy 5ms", "latancy"), ("fault of 2", "of"),
            ("fault off x", "x"), ("break on byte 3", "byte"), ("break sstate:x on fin", "sstate:x"),
            ("release ten", "ten"), ("release edit", "edit"), ("release edit hex:4", "hex:4"),
            ("release edit hex:+1", "hex:+1"), ("release #x", "#x"), ("hold", "hold"),
            ("fault add", "add"), ("held all", "all"), ("relase", "relase"),
        ])
    func problems(line: String, word: String) {
        guard case .failure(let failure) = FaultCommand.parse(line) else {
            Issue.record("\(line) was read")
            return
        }
        #expect(failure.message.hasPrefix(word) || failure.message.hasPrefix("column"), "\(failure.message)")
    }

    @Test(
        "A direction of a breakpoint that is misspelt is no text to look for, and a filter that is none is named once",
        arguments: [
            ("up on bytes 5", "up: no such direction; did you mean upstream? (column 1)"),
            ("donwstream on fin", "donwstream: no such direction; did you mean downstream? (column 1)"),
            ("xyzzy:bar on fin", "xyzzy:bar: no such key; quotes search for text (column 1)"),
        ])
    func filters(line: String, problem: String) throws {
        #expect(throws: FaultProblem.self) { try Breakpoint.parse(line).checkFilter() }
        guard case .failure(let failure) = FaultCommand.parse("break " + line) else {
            Issue.record("\(line) was read")
            return
        }
        #expect(failure.message == problem)
        #expect(throws: Never.self) { try Breakpoint.parse("port:80 upstream on fin").checkFilter() }
    }

    @Test("fault: and held filter")
    func filter() throws {
        let sockets = snapshot { hold(&$0) }.sockets
        func count(_ text: String) throws -> Int {
            try Filter.parse(text).get().matching(sockets, .zero, Findings(LintSettings())).count
        }
        #expect(try count("fault:slice") == 2 && count("fault:dribble") == 2 && count("fault:any") == 2)
        #expect(try count("fault:reset") == 0 && count("held") == 2 && count("!held") == 1)
        #expect(throws: (any Error).self) { try Filter.parse("fault:slize").get() }
    }

    @Test("The configuration has rules by names, and refuses bad ones with their place")
    func configuration() throws {
        let text = "[fault.flaky]\nrules = [\"prob 0.1 reset\", \"latency 50ms\"]\n"
        let configuration = try Configuration.parse(text).get()
        #expect(configuration.faults["flaky"] == ["prob 0.1 reset", "latency 50ms"])
        #expect(configuration.faults["slow"] != nil)
        let printed = configuration.text { _ in ColourText() }
        #expect(try Configuration.parse(printed).get().faults == configuration.faults)
        for (bad, word) in [
            ("[fault.flaky]\nrules = [\"latancy 5ms\"]\n", "latancy"),
            ("[fault.reset]\nrules = [\"stall\"]\n", "reset"),
            ("[fault.x]\nrule = [\"stall\"]\n", "rules"), ("[fault.x]\nrules = \"stall\"\n", "list"),
            ("[fault]\nrules = [\"stall\"]\n", "name"),
        ] {
            guard case .failure(let failure) = Configuration.parse(bad) else {
                Issue.record("\(bad) was read")
                continue
            }
            #expect(failure.message.contains(word), "\(failure.message)")
            #expect(failure.position.line >= 1)
        }
    }

    @Test("JSON has what is done to a connection")
    func json() {
        let socket = snapshot { hold(&$0) }.sockets[1]
        let members = SocketJSON(clock: WallClock()).members(socket)
        let text = members.first { $0.name == "fault" }.map { "\($0.value.text)" } ?? ""
        for part in [#""effect":"slice""#, #""count":12"#, #""breakpoint":1"#, #""upstream_bytes":4289"#] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
    }
}
