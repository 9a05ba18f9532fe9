import InspectorScreen
import InspectorCore
import SocketCore
import Testing

@Suite("Searching all payloads")
struct FoundTests {
    private let size = Size(80, 24)

    private func item(_ sequence: UInt64, _ text: String, done: Int? = nil) -> TrafficItem {
        TrafficItem(
            sequence: sequence, operation: OperationID(sequence), time: World.now, direction: .received, tag: 0,
            kind: .read(.available(limit: nil)), done: done ?? text.utf8.count, total: nil,
            state: .complete(after: .zero),
            bytes: Array(text.utf8))
    }

    @Test(":find asks for every connection, the client's leg of each pair, and no listener")
    func request() {
        var model = RelayWorld.model(ascii: true, size)
        guard case .find(let request) = model.update(.command("find \"p2\"")).first else {
            return #expect(Bool(false))
        }
        #expect(request.sockets == [SocketID(2), SocketID(4), SocketID(6)] && !request.search.ignoresCase)
        model.press(.character("K"))
        guard case .find(let again) = model.update(.command("find p2")).first else { return #expect(Bool(false)) }
        #expect(again.sockets.count == 6 && again.number != request.number)
    }

    @Test("Matches, what was not kept, and connections that cannot be searched are counted")
    func progress() {
        var progress = FindProgress(number: 1)
        let kept = TrafficSnapshot(items: [item(0, "p2 P2", done: 100), item(1, "none")], dropped: 7)
        progress.search(kept, of: SocketID(1), for: FoundWorld.search)
        progress.search(nil, of: SocketID(2), for: FoundWorld.search)
        #expect(progress.count == 2 && progress.matches.map(\.offset) == [0, 3])
        #expect(progress.missingBytes == 95 && progress.droppedItems == 7)
        #expect(progress.searched == 1 && progress.unknown == 1)
    }

    @Test("What is no longer listed is not searched, and is counted first")
    func unlisted() {
        var world = World.full
        world.counters.opened = UInt64(world.sockets.count) + 7_488
        var model = World.model(once: true)
        _ = model.update(.snapshot(world))
        _ = model.update(.command("find p2"))
        var progress = FindProgress(number: 1)
        (progress.searched, progress.count, progress.isOver) = (256, 1_180, true)
        _ = model.update(.found(progress))
        let words = "1180 matches in 0+ of 256 connections; 7488 earlier sessions not searched"
        #expect(model.list.found?.words == words)
    }

    @Test("A script that waits for what it searches for waits for a match, and for the end of the search")
    func awaited() {
        var model = World.model(once: true)
        _ = model.update(.command("find p2"))
        func shows(_ words: String) -> Bool { draw(model.withoutOwnInput, size).text.contains(words) }
        #expect(draw(model, size).text.contains("FOUND p2") && !shows("p2") && !shows("match"))
        var progress = FindProgress(number: 1)
        progress.search(TrafficSnapshot(items: [item(0, "a p2")]), of: SocketID(7), for: FoundWorld.search)
        _ = model.update(.found(progress))
        #expect(shows("a p2") && !shows("1 match"))
        progress.isOver = true
        progress.matches = []
        _ = model.update(.found(progress))
        #expect(shows("1 match"))
    }

    @Test("A row shows its match, however little room there is", arguments: [40, 60, 80, 120])
    func excerpts(width: Int) {
        var model = World.model(once: true)
        let size = Size(width, 16)
        _ = model.update(.resized(size))
        _ = model.update(.command("find p2"))
        var progress = FindProgress(number: 1)
        let escapes = String(repeating: "\u{1B}\u{0}", count: 40)
        progress.search(
            TrafficSnapshot(items: [item(0, escapes + "p2" + escapes), item(1, "p2")]), of: SocketID(7),
            for: FoundWorld.search)
        _ = model.update(.found(progress))
        let rows = draw(model, size).text.split(separator: "\n").filter { $0.contains("p2") && !$0.contains("FOUND") }
        #expect(rows.count == 2, "\(draw(model, size).text)")
    }

    @Test("A thousand matches are listed, the others are counted")
    func limit() {
        var progress = FindProgress(number: 1)
        let text = String(repeating: "p2 ", count: 700)
        for id in 1...2 {
            progress.search(TrafficSnapshot(items: [item(0, text)]), of: SocketID(UInt64(id)), for: FoundWorld.search)
        }
        #expect(progress.matches.count == FindProgress.limit && progress.count == 1_400)
        var model = World.model(once: true)
        _ = model.update(.command("find p2"))
        _ = model.update(.found(progress))
        #expect(draw(model, size).text.contains("1400 matches in 2 connections, the first 1000 listed"))
    }

    @Test("Results come while the search goes on, and those of another search are dropped")
    func coming() {
        var model = World.model(once: true)
        _ = model.update(.command("find p2"))
        #expect(draw(model, size).text.contains("searching for p2"))
        var news = FoundWorld.progress(isOver: false)
        _ = model.update(.found(news))
        #expect(draw(model, size).text.contains("searching, 71%"))
        #expect(model.list.selected == SocketID(7), "the first result has the cursor")
        news.number = 9
        _ = model.update(.found(news))
        #expect(model.list.found?.matches.count == 4)
    }

    @Test("What is searched while a file is read is searched again at its end")
    func whileReading() {
        var model = World.model(once: true)
        var file = ProgramInfo(outside: "a.pcap", process: 0, ordinal: 0)
        file.progress = 40
        _ = model.update(.programs(ProgramNews(programs: [file])))
        _ = model.update(.command("find p2"))
        var news = FindProgress(number: 1)
        news.isOver = true
        _ = model.update(.found(news))
        let screen = draw(model, size).text
        #expect(screen.contains("still reading the file") && !screen.contains("no kept payload"))
        file.progress = nil
        let effects = model.update(.programs(ProgramNews(programs: [file])))
        #expect(effects.contains { if case .find(let again) = $0 { again.number == 2 } else { false } })
    }

    @Test("The cursor stays on its result when a file is searched again, wherever that result is then")
    func again() {
        var model = World.model(once: true)
        var file = ProgramInfo(outside: "a.pcap", process: 0, ordinal: 0)
        file.progress = 40
        _ = model.update(.programs(ProgramNews(programs: [file])))
        _ = model.update(.command("find p2"))
        var news = FoundWorld.progress(isOver: true)
        _ = model.update(.found(news))
        model.press(.down)
        let (chosen, selected) = (model.list.found?.current, model.list.selected)
        file.progress = nil
        _ = model.update(.programs(ProgramNews(programs: [file])))
        #expect(model.list.selected == selected)
        news.number = 2
        news.matches = Array(news.matches.reversed())
        _ = model.update(.found(news))
        #expect(model.list.found?.current == chosen && chosen != nil && model.list.selected == selected)
    }

    @Test("Enter goes to the match, as soon as the traffic of its connection is known")
    func jump() {
        var model = FoundWorld.model(ascii: true, size)
        #expect(model.list.selected == SocketID(8))
        model.press(.enter)
        #expect(model.tab == .traffic && model.list.selected == SocketID(8) && model.traffic.match == nil)
        var snapshot = World.full
        snapshot.trafficOf = SocketID(8)
        snapshot.traffic = TrafficSnapshot(items: [item(3, "first"), item(4, "GET p2 HTTP/1.1")])
        _ = model.update(.snapshot(snapshot))
        #expect(model.traffic.match?.item == 4 && model.traffic.match?.offset == 4)
        model.press(.escape)
        #expect(model.tab == .list && model.list.found != nil, "back in the results")
        #expect(model.press(.escape) == [.stopFind])
        #expect(model.list.found == nil && !model.list.rows.isEmpty)
    }

    @Test("A match that was dropped since is said so")
    func dropped() {
        var model = FoundWorld.model(ascii: true, size)
        model.press(.enter)
        var snapshot = World.full
        snapshot.trafficOf = SocketID(8)
        snapshot.traffic = TrafficSnapshot(items: [item(9, "later")], dropped: 9)
        _ = model.update(.snapshot(snapshot))
        #expect(model.notice?.text == "that is no longer kept")
    }

    @Test("Without a match it is said so, and a snapshot does not move the cursor meanwhile")
    func nothing() {
        var model = World.model(once: true)
        let selected = model.list.selected
        _ = model.update(.command("find zebra"))
        var over = FindProgress(number: 1)
        (over.searched, over.isOver) = (7, true)
        _ = model.update(.found(over))
        #expect(draw(model, size).text.contains("no kept payload contains zebra"))
        _ = model.update(.snapshot(World.full))
        #expect(model.list.selected == selected)
        model.press(.enter)
        #expect(model.tab == .list && model.notice?.text == "nothing was found")
        _ = model.update(.command("find"))
        #expect(model.notice?.isError == true)
    }
}

@Suite("Many connections at once")
struct MarkedTests {
    private let size = Size(80, 24)

    private func sends(_ effects: [Effect]) -> [SocketCommand] {
        effects.compactMap { if case .send(let command) = $0 { command } else { nil } }
    }

    @Test("All that the filter lists are marked, and closed after a question with their count")
    func closing() {
        var model = World.model(once: true)
        _ = model.update(.command("filter role:client"))
        model.press(.character("a"))
        #expect(model.list.marked == Set(model.list.rows))
        let live = model.list.rows.filter { model.shown?.socket($0)?.isLive == true }
        model.press(.character("x"))
        #expect(draw(model, size).text.contains("close \(live.count) marked connections?"))
        #expect(Set(sends(model.press(.character("t")))) == Set(live.map { .close($0, .reset) }))
        model.press(.character("a"))
        #expect(model.list.marked.isEmpty)
    }

    @Test("Both legs of a marked pair are acted on, and the pair counts once")
    func pairs() {
        var model = RelayWorld.model(ascii: true, size)
        model.press(.character("m"), .character("P"))
        #expect(draw(model, size).text.contains("1 marked connection: what to do?"))
        #expect(
            sends(model.press(.character("p"))) == [.pauseReading(SocketID(2), true), .pauseReading(SocketID(3), true)])
        model.press(.character("X"))
        #expect(sends(model.press(.character("r"))).isEmpty, "neither is paused")
    }

    @Test("The marked ones are listed alone, saved to a folder that is asked for, and unmarked")
    func others() {
        var model = World.model(once: true)
        model.press(.character("m"), .character("j"), .character("m"), .character("X"), .character("f"))
        #expect(model.list.rows.count == 2)
        model.press(.character("X"), .character("s"))
        #expect(draw(model, size).text.contains("save the traffic of 2 connections"))
        #expect(model.press(.enter) == [.saveTraffic([SocketID(7), SocketID(8)], folder: "socktui-saved")])
        model.press(.character("X"), .character("u"))
        #expect(model.list.marked.isEmpty && model.list.rows.count > 2)
        model.press(.character("X"))
        #expect(model.dialogs.open == nil && model.notice?.text.contains("a all that are listed") == true)
    }

    @Test("In the traffic, x and P are about the connection that is shown, whatever is marked")
    func elsewhere() {
        var model = World.model(once: true)
        model.press(.character("a"), .character("2"), .character("x"))
        #expect(draw(model, size).text.contains("close #7 "))
    }
}
