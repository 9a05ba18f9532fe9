import InspectorCore
import InspectorScreen
import SocketCore
import Testing

@Suite("The list")
struct ListTests {
    private func many(_ count: UInt64) -> EngineSnapshot {
        World.snapshot((1...count).map { World.make($0, .client, .connected, target: "host\($0).example:7") })
    }

    private func model(_ snapshot: EngineSnapshot, _ size: Size = Size(80, 24)) -> Model {
        var model = Model(options: .init(ascii: true, version: "0"))
        _ = model.update(.resized(size))
        _ = model.update(.snapshot(snapshot))
        _ = model.update(.snapshot(snapshot))
        return model
    }

    @Test("Rows out of sight are told of")
    func rowsOutOfSight() {
        var model = model(many(40))
        #expect(draw(model, Size(80, 24)).text.contains("rows 1-14 of 40"))
        #expect(draw(model, Size(80, 24)).text.contains("26 more rows below"))
        model.press(.character("G"))
        #expect(draw(model, Size(80, 24)).text.contains("rows 27-40 of 40"))
        #expect(!draw(model, Size(80, 24)).text.contains("more rows below"))
        let few = self.model(many(4))
        #expect(!draw(few, Size(80, 24)).text.contains("rows 1-"))
    }

    @Test("The always-shown columns are there from 80 columns on, one pane or three", arguments: [80, 119, 120, 140])
    func columnsByWidth(_ width: Int) {
        let text = draw(model(many(4), Size(width, 30)), Size(width, 30)).text
        for title in ["ID", "STATE", "PEER", "READING", "WRITING", "RX/s", "TX/s"] { #expect(text.contains(title)) }
    }

    @Test("Columns hide in the order of what matters least")
    func hiding() {
        var seen = Set<String>()
        for width in 60...200 {
            let layout = ListLayout(.sockets, width: width, idWidth: 4, optional: ["recvq", "age"])
            let shown = layout.places.filter { $0.column.rank > 0 }.map(\.column.name)
            #expect(seen.isSubset(of: shown), "nothing goes when there is more room: \(width)")
            seen = Set(shown)
        }
        #expect(seen == ["state", "writing", "rx", "tx", "recvq", "age"])
    }

    @Test("Columns are chosen in a dialog that stays, and the list is sorted by them")
    func choosingColumns() {
        var model = model(World.full, Size(200, 60))
        #expect(!draw(model, model.size).text.contains(" AGE "))
        model.press(.character("C"), .character("f"))
        #expect(draw(model, model.size).text.contains("[x] AGE"))
        for column in ListKind.sockets.optional {
            #expect(draw(model, model.size).text.contains("] \(Format.padded(column.title, to: 8))\(column.meaning)"))
        }
        model.press(.escape)
        #expect(draw(model, model.size).text.contains(" AGE"))
        for _ in 0..<20 where model.list.sorting.column.name != "age" { model.press(.character(">")) }
        #expect(model.list.rows.first == SocketID(3), "the oldest first")
        model.press(.character("<"))
        #expect(model.list.sorting.column.name == "sendq")
        #expect(model.snapshotRequest.kernel == .all)
    }

    @Test("Each list is sorted by its own columns, and says which they are")
    func sortWords() {
        var model = model(many(3))
        _ = model.update(.command("sort unread"))
        #expect(model.notice?.isError == true && model.notice?.text.contains("id, state, peer") == true)
        #expect(model.list.sorting.column.name == "id")
        for kind in ListKind.allCases {
            #expect(Set(kind.sortable.map(\.name)).count == kind.sortable.count)
            #expect(kind.sortable.contains(kind.order.column))
        }
    }

    @Test("The chosen order stays when the first pair of a relay gives the columns other names")
    func sortTwins() {
        var snapshot = many(3)
        var model = model(snapshot)
        _ = model.update(.command("sort rx"))
        (snapshot.sockets[0].linked, snapshot.sockets[1].linked) = (snapshot.sockets[1].id, snapshot.sockets[0].id)
        _ = model.update(.snapshot(snapshot))
        #expect(model.list.kind == .relayed && model.list.sorting.column.name == "toserver")
        #expect(model.list.sorting.descending)
        for name in ["rx", "tx", "rxtotal", "txtotal"] {
            #expect(ListKind.sockets.column(name).flatMap(ListKind.captured.column(like:)) != nil, "\(name)")
        }
        _ = model.update(.snapshot(many(3)))
        #expect(model.list.sorting.column.name == "rx")
    }

    @Test("Marked rows can be listed alone, and a mark goes with its session")
    func marks() {
        var model = model(World.full)
        model.press(.character("m"), .character("j"), .character("j"), .character("m"))
        #expect(draw(model, model.size).text.contains("   7*>"))
        model.press(.character("M"))
        #expect(Set(model.list.rows.map(\.number)) == [7, 9])
        var snapshot = World.full
        snapshot.sockets.removeAll { $0.id == SocketID(9) || $0.id == SocketID(7) }
        _ = model.update(.snapshot(snapshot))
        #expect(!model.list.showsMarked && model.list.marked.isEmpty)
        #expect(model.list.rows.count == 6)
    }

    @Test("Search goes from match to match and around the end")
    func search() {
        var model = model(World.full)
        model.press(.character("/"))
        model.type("192.0.2")
        model.press(.enter)
        var seen: [UInt64] = [model.list.selected?.number ?? 0]
        for _ in 0..<4 {
            model.press(.character("n"))
            seen.append(model.list.selected?.number ?? 0)
        }
        #expect(Set(seen) == [8, 9, 10, 6, 5])
        model.press(.character("N"))
        #expect(model.list.selected?.number == seen[3])
        model.press(.character("/"))
        model.type("nowhere")
        model.press(.enter)
        #expect(model.notice?.text.contains("not found") == true)
    }

    @Test("Following, the cursor goes to what is new; moving it ends that")
    func following() {
        var model = model(many(4))
        model.press(.character("F"), .character("F"))
        _ = model.update(.snapshot(many(7)))
        #expect(model.list.selected == SocketID(7))
        model.press(.character("k"))
        _ = model.update(.snapshot(many(9)))
        #expect(model.list.selected != SocketID(9) && !model.list.follows)
    }

    @Test("Of a connection that never stood it is said how long it tried")
    func neverOpen() {
        var socket = World.dialing
        socket.phase = .closed
        socket.closed = CloseRecord(
            time: World.now, error: SocketError(.connectTimeout, operation: "connect", detail: "no answer"))
        let text = draw(model(World.snapshot([socket])), Size(80, 24)).text
        #expect(text.contains("never opened; tried for 1.2s"))
    }

    @Test("What waits for a connect is shown before it stands")
    func waitingForConnect() {
        var socket = World.dialing
        socket.writing.pendingCount = 2
        socket.writing.pendingBytes = 30
        let text = draw(model(World.snapshot([socket])), Size(80, 24)).text
        #expect(text.contains("waiting: 2 writes (30 B)"))
    }

    @Test("A read is not offered, and not asked for, once a close was")
    func closing() {
        var socket = World.lineReader
        socket.flags.insert(.forbidReadsWrites)
        var model = model(World.snapshot([socket]))
        #expect(!draw(model, model.size).text.contains("r read"))
        model.press(.character("r"))
        #expect(model.dialogs.open == nil && model.notice?.text.contains("closing") == true)
    }

    @Test("Events keep the address and the reason of sessions that are listed no longer")
    func vanished() {
        var snapshot = World.full
        var model = model(snapshot)
        snapshot.events = []
        snapshot.sockets.removeAll { $0.id == SocketID(6) }
        _ = model.update(.snapshot(snapshot))
        model.press(.character("4"))
        #expect(draw(model, model.size).text.contains("read t5 timed out after 30s"))
    }
}
