import InspectorCore
import InspectorScreen
import SocketCore
import Testing

@Suite("Keys change the model and ask for effects")
struct UpdateTests {
    private let seven = SocketID(7)

    private func selecting(_ id: UInt64) -> Model {
        var model = World.model()
        model.press(.character("g"))
        for _ in model.list.rows where model.list.selected != SocketID(id) { model.press(.character("j")) }
        return model
    }

    @Test("The list is in the order of IDs and the cursor on the first live connection")
    func order() {
        var model = World.model()
        #expect(model.list.rows.map(\.number) == [3, 5, 6, 7, 8, 9, 10, 11])
        #expect(model.list.selected == seven)
        #expect(model.shared.summary.live == 6 && model.shared.summary.closed == 2)
        _ = model.update(.command("sort rx"))
        #expect(model.list.rows.map(\.number) == [7, 8, 9, 10, 11, 3, 6, 5])
    }

    @Test("The cursor follows its connection through another order, never the row")
    func identity() {
        var model = selecting(9)
        model.press(.character("s"))
        #expect(model.list.selected == SocketID(9))
        #expect(model.list.sorting.column.name == "state")
        _ = model.update(.command("sort id"))
        #expect(model.list.rows.map(\.number) == [3, 5, 6, 7, 8, 9, 10, 11])
        model.press(.character("S"))
        #expect(model.list.rows.map(\.number) == [11, 10, 9, 8, 7, 6, 5, 3])
        #expect(model.list.selected == SocketID(9))
    }

    @Test("The order rests for a second after a key, then follows again")
    func orderRests() {
        var model = World.model()
        _ = model.update(.command("sort rx"))
        model.press(.character("j"))
        var faster = World.full
        for index in faster.sockets.indices where faster.sockets[index].id == SocketID(8) {
            faster.sockets[index].receiveRate = 9e9
        }
        faster.time = MonotonicTime(nanoseconds: World.now.nanoseconds + 500_000_000)
        _ = model.update(.snapshot(faster))
        #expect(model.list.rows.first == seven)
        faster.time = MonotonicTime(nanoseconds: World.now.nanoseconds + 1_100_000_000)
        _ = model.update(.snapshot(faster))
        #expect(model.list.rows.first == SocketID(8))
        #expect(model.list.selected == SocketID(8))
    }

    @Test("Until somebody moves it, the cursor goes from a listener to the first connection that lives")
    func untouched() {
        var model = Model(options: .init(ascii: true, version: "0"))
        _ = model.update(.snapshot(World.snapshot([World.listener])))
        #expect(model.list.selected == SocketID(3))
        var chosen = model
        chosen.press(.character("k"))
        _ = model.update(.snapshot(World.full))
        _ = chosen.update(.snapshot(World.full))
        #expect(model.list.selected == seven && chosen.list.selected == SocketID(3))
    }

    @Test("When the connection under the cursor is gone, the cursor stays in its row")
    func vanished() {
        var model = selecting(9)
        _ = model.update(.snapshot(World.snapshot(World.sockets.filter { $0.id != SocketID(9) })))
        #expect(model.list.selected == SocketID(10))
        _ = model.update(.snapshot(World.snapshot([])))
        #expect(model.list.selected == nil)
    }

    @Test("A snapshot is asked for what is in sight, and for the selected connection's traffic")
    func request() {
        var model = World.model(size: Size(80, 16))
        let rows = model.layout(Size(80, 16), .list).listRows
        guard case .only(let asked) = model.snapshotRequest.kernel else {
            Issue.record("no kernel data asked for")
            return
        }
        #expect(asked == Set(model.list.rows.prefix(rows)))
        #expect(model.snapshotRequest.eventsFrom == 225)
        #expect(model.snapshotRequest.traffic == seven)
        model.press(.character("G"))
        #expect(model.snapshotRequest.traffic == SocketID(11))
        #expect(model.list.top == 8 - rows)
        #expect(Model(options: .init(ascii: true, version: "0")).snapshotRequest.eventsFrom == 0)
    }

    @Test("Traffic that was asked for before the cursor moved is not shown as the new connection's")
    func staleTraffic() {
        var model = World.model()
        model.press(.character("j"))
        _ = model.update(.snapshot(World.full))
        #expect(model.traffic.shown(in: model.shared).items.isEmpty)
        var asked = World.full
        asked.trafficOf = model.list.selected
        _ = model.update(.snapshot(asked))
        #expect(!model.traffic.shown(in: model.shared).items.isEmpty)
    }

    @Test(
        "Closing asks how, and sends exactly that",
        arguments: [
            ("n", SocketCommand.close(SocketID(7), .now)), ("w", .close(SocketID(7), .afterWriting)),
            ("r", .close(SocketID(7), .afterReading)), ("b", .close(SocketID(7), .afterBoth)),
            ("h", .halfClose(SocketID(7))), ("t", .close(SocketID(7), .reset)),
        ] as [(Character, SocketCommand)])
    func close(_ key: Character, _ command: SocketCommand) {
        var model = World.model()
        #expect(model.press(.character("x")).isEmpty)
        #expect(model.press(.character(key)) == [.send(command)])
        #expect(model.dialogs.open == nil)
    }

    @Test("A listener can only be closed at once; what is closed not again")
    func closeOthers() {
        var model = selecting(3)
        model.press(.character("x"))
        #expect(model.press(.character("w")).isEmpty)
        #expect(model.press(.enter) == [.send(.close(SocketID(3), .now))])
        model = selecting(6)
        model.press(.character("x"))
        #expect(model.dialogs.open == nil && model.notice != nil)
    }

    @Test("The read dialog says what is wrong by the names of its fields")
    func readProblems() {
        for (typed, sentence) in [
            ("x", "Length: write a number of bytes, such as 512 or 8K"), ("", "Length: write a number of bytes"),
            ("0", "Length: write a number of bytes"),
        ] {
            var model = World.model()
            model.press(.character("r"), .right, .tab)
            model.type(typed)
            #expect(model.press(.enter).isEmpty)
            guard case .form(let form) = model.dialogs.open else {
                Issue.record("the dialog is closed")
                continue
            }
            #expect(form.error?.hasPrefix(sentence) == true, "\(form.error ?? "")")
        }
    }

    @Test("The dialog of a held listener says who waits")
    func waiting() {
        var model = selecting(3)
        var snapshot = World.full
        let index = snapshot.sockets.firstIndex { $0.id == SocketID(3) } ?? 0
        snapshot.sockets[index].kernel?.receiveQueue = 3
        _ = model.update(.snapshot(snapshot))
        let program = PeerEnd.Program(process: 24697, name: "curl", descriptor: 5)
        let waiting = [
            PeerEnd.Waiting(peer: "127.0.0.1:47256", program: program), PeerEnd.Waiting(peer: "192.0.2.7:1024"),
        ]
        _ = model.update(.peers([SocketID(3): PeerEnd(waiting: waiting)]))
        model.press(.character("A"))
        let shown = draw(model, Size(80, 24)).text
        for words in ["3 connections wait at #3", "127.0.0.1:47256  curl[24697]", "192.0.2.7:1024", "and 1 more"] {
            #expect(shown.contains(words), "\(words)")
        }
    }

    @Test("Reads are queued as the dialog says")
    func reads() {
        var model = World.model()
        model.press(.character("r"))
        #expect(model.press(.enter) == [.send(.read(seven, ReadRequest(.available(limit: 8192), tag: 1)))])
        model.press(.character("r"), .right, .tab)
        model.type("4096")
        model.press(.tab)
        model.type("30s")
        #expect(
            model.press(.enter)
                == [.send(.read(seven, ReadRequest(.length(4096), timeout: .seconds(30), tag: 2)))])
        model.press(.character("r"), .character("u"), .tab, .control("u"))
        model.type("\\0")
        model.press(.tab, .control("u"), .tab, .tab, .tab, .character(" "))
        #expect(
            model.press(.enter)
                == [.send(.read(seven, ReadRequest(.delimiter([0], limit: nil), tag: 3, isStanding: true)))])
    }

    @Test("A wrong field keeps the dialog open and gets the cursor")
    func wrongField() {
        var model = World.model()
        model.press(.character("r"), .right, .tab)
        model.type("many")
        #expect(model.press(.enter).isEmpty)
        guard case .form(let form) = model.dialogs.open else {
            Issue.record("the dialog is gone")
            return
        }
        #expect(form.error?.hasPrefix("Length: ") == true)
        #expect(form.fields[form.focus].name == .part(.length))
        model.press(.escape)
        #expect(model.dialogs.open == nil)
    }

    @Test("What timed out is answered")
    func answers() {
        var model = World.model()
        model.press(.character("A"))
        let operation = OperationID(101)
        #expect(model.press(.enter) == [.send(.answerTimeout(seven, operation, .extend(by: .seconds(30))))])
        model.press(.character("A"), .character("f"))
        #expect(model.press(.enter) == [.send(.answerTimeout(seven, operation, .failOperation))])
        model.press(.character("A"), .character("c"))
        #expect(model.press(.enter) == [.send(.answerTimeout(seven, operation, .close))])
        model.press(.character("A"), .tab, .control("u"))
        model.type("2m")
        #expect(model.press(.enter) == [.send(.answerTimeout(seven, operation, .extend(by: .seconds(120))))])
        model = selecting(8)
        model.press(.character("A"))
        #expect(model.dialogs.open == nil && model.notice != nil)
    }

    @Test("Connecting and listening from their dialogs")
    func opening() {
        var model = World.model()
        model.press(.character("c"))
        model.type("localhost:80")
        #expect(model.press(.enter) == [.connect(OpenRequest(.tcp(host: "localhost", port: 80)))])
        model.press(.character("c"))
        model.type("unix:/run/x")
        model.press(.tab)
        model.type("10s")
        model.press(.tab, .character(" "), .tab, .character(" "))
        #expect(
            model.press(.enter) == [
                .connect(
                    OpenRequest(
                        .unix(path: "/run/x"), timeout: .seconds(10), standingRead: false, allowsHalfOpen: true))
            ])
        model.press(.character("l"))
        model.type(":8080")
        #expect(model.press(.enter) == [.listen(OpenRequest(.tcp(host: "", port: 8080)))])
        _ = model.update(.refused("listen: address in use"))
        #expect(model.notice?.isError == true)
    }

    @Test("Pausing goes both ways")
    func pause() {
        var model = World.model()
        #expect(model.press(.character("P")) == [.send(.pauseReading(seven, true))])
        var paused = World.full
        for index in paused.sockets.indices { paused.sockets[index].isReadingPaused = true }
        _ = model.update(.snapshot(paused))
        #expect(model.press(.character("P")) == [.send(.pauseReading(seven, false))])
    }

    @Test("Quitting asks once while sockets are live", arguments: [Key.character("q"), .character("Q"), .control("c")])
    func quit(_ key: Key) {
        var model = World.model()
        #expect(model.press(key).isEmpty)
        #expect(model.dialogs.open != nil)
        var staying = model
        #expect(staying.press(.character("n")).isEmpty)
        #expect(staying.dialogs.open == nil)
        #expect(model.press(.character("y")) == [.screen(.quit)])
        var again = World.model()
        #expect(again.press(.control("c"), .control("c")) == [.screen(.quit)])
        var idle = World.model()
        _ = idle.update(.snapshot(World.snapshot([World.timedOut])))
        #expect(idle.press(key) == [.screen(.quit)])
        var fresh = Model(options: .init(ascii: true, version: "0"))
        #expect(fresh.press(.control("c")) == [.screen(.quit)])
        let help = Action.all.flatMap(\.uses).filter { $0.keys.contains(key) && !$0.contexts.allSatisfy(\.isText) }
        #expect(help.contains { $0.help == "quit; asks if sockets are live" })
        #expect(!help.contains { $0.help.contains("always") })
    }

    @Test("Freezing holds the screen and counts what happens meanwhile")
    func freeze() {
        var model = World.model()
        model.press(.character("4"), .character(" "))
        let before = draw(model, Size(80, 24)).text
        var later = World.snapshot([World.busy], time: World.at(14, 3, 0))
        later.events = [SocketEvent(sequence: 225, time: World.at(14, 3, 0), socket: seven, kind: .readDone)]
        later.nextEvent = 226
        _ = model.update(.snapshot(later))
        let after = draw(model, Size(80, 24)).text
        #expect(after.contains("FROZEN +1 "))
        func body(_ screen: String) -> Substring { screen.drop { $0 != "\n" } }
        #expect(body(after) == body(before))
        #expect(model.list.rows.count == 8)
        model.press(.character(" "))
        #expect(model.list.rows.count == 1)
        #expect(draw(model, Size(80, 24)).text.contains("14:03:00.000000 #7     read done"))
    }

    @Test("Tabs, back and the panes in their order")
    func navigation() {
        var model = World.model()
        model.press(.character("4"))
        #expect(model.tab == .events)
        model.press(.character("q"))
        #expect(model.tab == .list)
        var seen: [String] = []
        for _ in 0..<5 {
            model.press(.tab)
            seen.append("\(model.tab)\(model.isComposing ? "+" : "")")
        }
        #expect(seen == ["traffic", "traffic+", "detail", "events", "list"])
        model.press(.backTab)
        #expect(model.tab == .events)
        #expect(model.press(.control("l")) == [.screen(.repaint)])
        #expect(model.press(.control("z")) == [.screen(.suspend)])
    }

    @Test("On too small a screen only leaving works")
    func tooSmall() {
        var model = World.model(size: Size(39, 10))
        #expect(model.press(.character("x")).isEmpty)
        #expect(model.dialogs.open == nil)
        #expect(model.press(.character("q")).isEmpty)
        #expect(draw(model, Size(39, 10)).text.contains("quit?"))
        #expect(model.press(.character("y")) == [.screen(.quit)])
    }
}
