import InspectorCore
import InspectorScreen
import SocketCore
import Testing

@Suite("Relayed pairs in the list")
struct PairTests {
    private let size = Size(80, 24)

    /// So many relayed connections through a listener.
    private func relayed(_ count: UInt64) -> EngineSnapshot {
        let legs = (1...count).flatMap { number -> [SocketSnapshot] in
            var client = World.make(number * 2, .accepted, .connected)
            client.peer = .v4(host: "192.0.2.7", port: UInt16(truncatingIfNeeded: 1_000 + number))
            var server = World.make(number * 2 + 1, .client, .connected, target: "db.example:6379")
            (client.linked, server.linked) = (server.id, client.id)
            return [client, server]
        }
        return World.snapshot([World.make(1, .listener, .listening, target: ":9000")] + legs)
    }

    private func model(_ snapshot: EngineSnapshot) -> Model {
        var model = Model(options: .init(ascii: true, version: "0"))
        _ = model.update(.resized(size))
        _ = model.update(.snapshot(snapshot))
        return model
    }

    private func row(_ id: UInt64, _ model: Model) -> String {
        draw(model, size).text.split(separator: "\n").first { line in
            line.drop { " >x&".contains($0) }.hasPrefix("\(id) ") && line.first != "#"
        }.map(String.init) ?? ""
    }

    @Test("2,000 relayed connections are 2,000 rows, and twice as many when they are split")
    func rows() {
        var model = model(relayed(2_000))
        #expect(model.list.rows.count == 2_001)
        model.press(.character("K"))
        #expect(model.list.rows.count == 4_001)
        model.press(.character("K"))
        #expect(model.list.rows.count == 2_001)
        _ = model.update(.command("legs"))
        #expect(model.list.rows.count == 4_001)
    }

    @Test("A run can begin with a row for each leg")
    func option() {
        #expect(RelayWorld.model(ascii: true, size, legs: true).list.rows.count == 7)
        #expect(RelayWorld.model(ascii: true, size).list.rows.count == 4)
    }

    @Test("A row names both ends, both rates and what is queued for either")
    func words() {
        var model = RelayWorld.model(ascii: true, Size(90, 24))
        #expect(draw(model, Size(90, 24)).text.contains("192.0.2.77:51022 > db.example:6379"))
        _ = model.update(.resized(size))
        #expect(row(2, model).contains("2.9K  1.7M"))
        #expect(row(4, model).contains("< 300K"))
        _ = model.update(.peers(RelayWorld.peers))
        #expect(row(2, model).contains("curl:51022 > redis-server:6379"), "a program's name before its address")
        #expect(row(4, model).contains("python3:51030 > redis-server:6379"))
    }

    @Test("A row shows the worse state, and whose it is")
    func worstState() {
        var snapshot = World.snapshot(RelayWorld.sockets)
        #expect(row(2, model(snapshot)).contains("& ESTAB"))
        snapshot.sockets[2].phase = .connecting
        #expect(row(2, model(snapshot)).contains("> SYN-SENT"))
        snapshot.sockets[2].phase = .connected
        snapshot.sockets[1].flags.insert(.socketHasReadEOF)
        #expect(row(2, model(snapshot)).contains("< CLOSE-WAIT"))
        let refused = row(6, model(snapshot))
        #expect(refused.hasPrefix("x") && refused.contains("refused"), "the leg that failed says why: \(refused)")
    }

    @Test("What ended keeps the programs' names and says which end closed first")
    func ended() {
        var snapshot = World.snapshot(RelayWorld.sockets)
        var model = model(snapshot)
        _ = model.update(.peers(RelayWorld.peers))
        for (index, second) in [(1, 13.1), (2, 13.0)] {
            snapshot.sockets[index].phase = .closed
            snapshot.sockets[index].activity.peerClosed = World.at(14, 2, index == 1 ? 12 : 12.5)
            snapshot.sockets[index].closed = CloseRecord(time: World.at(14, 2, second))
        }
        snapshot.time = World.at(14, 2, 15)
        snapshot.counters.closed += 2
        _ = model.update(.snapshot(snapshot))
        _ = model.update(.peers([:]))
        #expect(row(2, model).contains("curl > redis"), "\(row(2, model))")
        #expect(row(2, model).contains("client closed first (FIN)"), "\(row(2, model))")
        snapshot.sockets[2].activity.peerClosed = World.at(14, 2, 11)
        snapshot.counters.closed += 1
        _ = model.update(.snapshot(snapshot))
        #expect(row(2, model).contains("server closed first (FIN)"), "\(row(2, model))")
    }

    @Test("The header counts what the list lists: a pair is one")
    func counted() {
        var model = model(relayed(3))
        #expect(draw(model, size).text.contains("live 4  closed 0"))
        model.press(.character("K"))
        #expect(draw(model, size).text.contains("live 7  closed 0"))
    }

    @Test("Both legs in sight are asked of the kernel")
    func kernel() {
        guard case .only(let asked) = model(relayed(3)).snapshotRequest.kernel else { return #expect(Bool(false)) }
        #expect(asked.isSuperset(of: [SocketID(2), SocketID(3), SocketID(6), SocketID(7)]))
    }

    @Test("A filter lists a pair if either leg matches, and a mark is the pair's")
    func filter() {
        var model = model(relayed(3))
        _ = model.update(.command("filter role:client"))
        #expect(model.list.rows == [SocketID(2), SocketID(4), SocketID(6)])
        _ = model.update(.command("filter port:1002"))
        #expect(model.list.rows == [SocketID(4)])
        model.press(.character("L"), .character("m"))
        #expect(model.list.marked == [SocketID(4)])
    }

    @Test("L goes to the other leg and back, and the row keeps the cursor")
    func otherLeg() {
        var model = model(relayed(3))
        model.press(.character("j"), .character("L"))
        #expect(model.list.selected == SocketID(5) && row(4, model).hasPrefix(">"))
        _ = model.update(.snapshot(relayed(3)))
        #expect(model.list.selected == SocketID(5))
        model.press(.character("j"))
        #expect(model.list.selected == SocketID(6))
        model.press(.character("2"), .character("L"))
        #expect(model.list.selected == SocketID(7) && model.tab == .traffic)
        model.press(.character("L"))
        #expect(model.list.selected == SocketID(6))
    }

    @Test("Warnings of both legs are counted in the row, and rows are ordered by them")
    func warnings() {
        var snapshot = relayed(3)
        snapshot.sockets[4].activity.unreadSince = World.at(14, 2, 1)
        var model = model(snapshot)
        #expect(row(4, model).contains("!1"))
        _ = model.update(.command("sort warnings"))
        #expect(model.list.rows.first == SocketID(4))
    }

    @Test("Rows are ordered by what they show, be it of the server's leg")
    func order() {
        var snapshot = relayed(3)
        // By index: a client and a server, after the listener.
        snapshot.sockets[1].writing.pendingBytes = 100
        snapshot.sockets[4].writing.pendingBytes = 500
        snapshot.sockets[6].name = "cache"
        snapshot.sockets[4].isWriteShut = true
        var model = model(snapshot)
        func rows(_ column: String) -> [UInt64] {
            _ = model.update(.command("sort \(column)"))
            return model.list.rows.map(\.number)
        }
        #expect(rows("writing") == [4, 2, 6, 1])
        #expect(rows("name") == [6, 2, 4, 1])
        let words = [2, 4, 6].map { snapshot.pair(of: SocketID($0))?.worst.stateWord ?? "" }
        #expect(Set(words).count == 2)
        let byState = rows("state").filter { $0 != 1 }
        #expect(byState.map { words[Int($0) / 2 - 1] } == words.sorted())
    }

    @Test("A pair of which one leg is over is among those that are live, as its row is")
    func halfOver() {
        var snapshot = relayed(3)
        snapshot.sockets[1].phase = .closed
        snapshot.sockets[1].closed = CloseRecord(time: World.now, error: nil)
        snapshot.sockets[2].writing.pendingBytes = 900
        var model = model(snapshot)
        _ = model.update(.command("sort writing"))
        #expect(model.list.rows.first == SocketID(2))
    }

    @Test("Enter opens both directions, with the queues of both sides and nothing to type into")
    func opening() {
        var model = RelayWorld.model(ascii: true, size)
        model.press(.enter)
        _ = model.update(.snapshot(RelayWorld.talking))
        let text = draw(model, size).text
        #expect(model.context == .traffic)
        for words in [" CLIENT ", " SERVER ", " RELAY ", "> client 8 B", "< server 11 B", "server 7 of 15 B so far"] {
            #expect(text.contains(words), "\(words)")
        }
        model.press(.character("L"))
        var other = RelayWorld.talking
        other.trafficOf = SocketID(3)
        for index in other.traffic?.items.indices ?? 0..<0 {
            other.traffic?.items[index].direction = index % 2 == 0 ? .sent : .received
        }
        _ = model.update(.snapshot(other))
        #expect(draw(model, size).text.contains("> client 8 B"), "the other leg tells the same conversation")
    }

    @Test("Sorted by a rate the first row keeps the cursor; by ID a connection does, unless F says otherwise")
    func cursor() {
        func snapshot(_ fastest: Int) -> EngineSnapshot {
            var snapshot = World.snapshot(
                (1...4).map { World.make($0, .client, .connected, target: "host\($0).example:7") },
                time: MonotonicTime(nanoseconds: World.now.nanoseconds + Int64(fastest) * 2_000_000_000))
            for index in snapshot.sockets.indices {
                snapshot.sockets[index].receiveRate = index == fastest ? 9_000 : Double(100 - index)
            }
            return snapshot
        }
        var model = model(snapshot(0))
        #expect(model.list.sorting.column.name == "id" && model.list.selected == SocketID(1))
        _ = model.update(.command("sort rx"))
        _ = model.update(.snapshot(snapshot(2)))
        #expect(model.list.selected == SocketID(3), "the first row")
        model.press(.character("j"))
        let second = model.list.selected
        _ = model.update(.snapshot(snapshot(3)))
        #expect(model.list.selected == second, "another row keeps its connection")
        model.press(.character("F"))
        let place = model.list.selected.flatMap { model.list.rows.firstIndex(of: $0) }
        var later = snapshot(3)
        later.time = MonotonicTime(nanoseconds: later.time.nanoseconds + 3_000_000_000)
        later.sockets[0].receiveRate = 20_000
        _ = model.update(.snapshot(later))
        #expect(model.list.selected.flatMap { model.list.rows.firstIndex(of: $0) } == place)
        #expect(draw(model, size).text.contains("keeps its row (F)"))
    }
}
