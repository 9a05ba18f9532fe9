import SocketTestSupport
import Testing

@testable import SocketCore
@testable import SocketRecords

@Suite("What viewers are told")
struct InspectionBoardTests {
    private func socket(_ number: UInt64, received: UInt64 = 0, closed: Bool = false) -> SocketSnapshot {
        var socket = SocketSnapshot(
            id: SocketID(number), role: .client, phase: closed ? .closed : .connected, target: "t", opened: .zero)
        socket.received = received
        socket.writing.current = OperationSnapshot(id: OperationID(1), kind: .write, preview: Array("secret".utf8))
        return socket
    }

    private func publication(_ changed: [SocketSnapshot], next: UInt64 = 0) -> EngineSnapshot {
        var publication = EngineSnapshot(engine: "", time: .zero, wallNanoseconds: 0)
        publication.sockets = changed
        publication.nextEvent = next
        publication.changes = SnapshotChanges()
        return publication
    }

    private func events(_ range: Range<UInt64>) -> [SocketEvent] {
        range.map { SocketEvent(sequence: $0, time: .zero, socket: SocketID(1), kind: .readDone) }
    }

    /// Lets a mirror take what a viewer is told; how many blocks that was.
    @discardableResult
    private func tell(
        _ board: inout InspectionBoard, _ viewer: inout InspectionBoard.Progress, _ mirror: inout InspectionMirror
    ) throws -> Int {
        var blocks = 0
        for frame in try allPieces(&board, &viewer).joined() {
            if case .sockets(let sockets) = frame { blocks += sockets.count }
            try mirror.absorb(frame)
        }
        return blocks
    }

    /// The frames of one update, those of each piece by themselves.
    private func allPieces(
        _ board: inout InspectionBoard, _ viewer: inout InspectionBoard.Progress,
        limit: Int = InspectionBoard.chunk + 1_024
    ) throws -> [[InspectionFrame]] {
        var pieces: [[InspectionFrame]] = []
        while true {
            let (frames, isLast) = try piece(&board, &viewer, limit)
            pieces.append(frames)
            if isLast { return pieces }
        }
    }

    private func piece(
        _ board: inout InspectionBoard, _ viewer: inout InspectionBoard.Progress,
        _ limit: Int = InspectionBoard.chunk + 1_024
    ) throws -> (frames: [InspectionFrame], isLast: Bool) {
        var writer = WireWriter()
        let hasMore = board.update(&viewer, to: &writer)
        #expect(writer.bytes.count <= limit)
        var decoder = InspectionFrameDecoder()
        decoder.append(writer.bytes)
        var frames: [InspectionFrame] = []
        while let frame = try decoder.next() { frames.append(frame) }
        #expect(viewer.isUnderWay == hasMore)
        return (frames, !hasMore)
    }

    private func ids(_ frames: some Sequence<InspectionFrame>) -> [SocketID] {
        var ids: [SocketID] = []
        for case .sockets(let sockets) in frames { ids += sockets.map(\.id) }
        return ids
    }

    @Test("a new viewer is told all, then only what changed")
    func changes() throws {
        var board = InspectionBoard(showsPayload: true)
        var viewer = InspectionBoard.Progress()
        var mirror = InspectionMirror()
        board.absorb(publication((1...1_000).map { socket($0) }))
        #expect(try tell(&board, &viewer, &mirror) == 1_000)
        board.absorb(publication([socket(7, received: 5)]))
        #expect(try tell(&board, &viewer, &mirror) == 1)
        let picture = try #require(mirror.seen)
        #expect(picture.sockets.count == 1_000)
        #expect(picture.sockets[6].received == 5)
    }

    @Test("a viewer that was slow is told the latest once, and nothing of what lay between")
    func coalescing() throws {
        var board = InspectionBoard(showsPayload: true)
        var viewer = InspectionBoard.Progress()
        var mirror = InspectionMirror()
        board.absorb(publication((1...10).map { socket($0) }))
        try tell(&board, &viewer, &mirror)
        for received in 1...50 { board.absorb(publication([socket(3, received: UInt64(received)), socket(4)])) }
        #expect(try tell(&board, &viewer, &mirror) == 2)
        #expect(mirror.seen?.sockets[2].received == 50)
    }

    @Test("endings stay as long as the engine lists them, then they are gone for every viewer")
    func endings() throws {
        var board = InspectionBoard(showsPayload: true)
        var viewer = InspectionBoard.Progress()
        var mirror = InspectionMirror()
        board.absorb(publication([socket(1), socket(2), socket(3)]))
        try tell(&board, &viewer, &mirror)
        var ending = publication([socket(2, closed: true)])
        ending.changes?.oldestClosed = SocketID(2)
        board.absorb(ending)
        try tell(&board, &viewer, &mirror)
        #expect(mirror.seen?.sockets.map(\.phase) == [.connected, .closed, .connected])
        var expiry = publication([])
        expiry.changes?.gone = [SocketID(3)]
        board.absorb(expiry)
        try tell(&board, &viewer, &mirror)
        #expect(mirror.seen?.sockets.map(\.id) == [SocketID(1)])
        #expect(board.count == 1)
    }

    @Test(
        "a viewer that missed more removals than are remembered, at rest or in the midst of an update, is told everything anew behind it",
        arguments: [true, false])
    func reset(isAtRest: Bool) throws {
        var board = InspectionBoard(showsPayload: true)
        var viewer = InspectionBoard.Progress()
        var mirror = InspectionMirror()
        board.absorb(publication((1...10_000).map { socket($0) }))
        if isAtRest {
            try tell(&board, &viewer, &mirror)
        } else {
            for frame in try piece(&board, &viewer).frames { try mirror.absorb(frame) }
        }
        for number in 1...9_999 {
            var gone = publication([])
            gone.changes?.gone = [SocketID(UInt64(number))]
            board.absorb(gone)
        }
        // What was begun is ended first, or a viewer as slow as this one would never see anything.
        try tell(&board, &viewer, &mirror)
        #expect(mirror.seen?.sockets.last?.id == SocketID(10_000))
        try tell(&board, &viewer, &mirror)
        #expect(mirror.seen?.sockets.map(\.id) == [SocketID(10_000)])
    }

    @Test("without the right to payload no byte of it is told")
    func payload() {
        for shows in [false, true] {
            var board = InspectionBoard(showsPayload: shows)
            var viewer = InspectionBoard.Progress()
            viewer.watch.sockets = [SocketID(1)]
            viewer.watch.traffic = SocketID(1)
            var held = FaultSnapshot.Hold(
                breakpoint: 1, text: "fin", since: .zero, upstreamBytes: 6, downstreamBytes: 6)
            (held.upstreamNext, held.downstreamNext) = (Array("letter".utf8), Array("parcel".utf8))
            var socket = socket(1)
            socket.fault = FaultSnapshot()
            socket.fault?.hold = held
            var news = publication([socket])
            news.changes?.watched = [SocketID(1): socket]
            let item = TrafficItem(
                sequence: 0, operation: OperationID(1), time: .zero, direction: .sent, tag: 0, kind: .write, done: 6,
                total: 6, state: .inProgress, bytes: Array("secret".utf8))
            news.changes?.traffic = [SocketID(1): TrafficSnapshot(items: [item])]
            board.absorb(news)
            var writer = WireWriter()
            _ = board.update(&viewer, to: &writer)
            let bytes = writer.bytes
            for word in ["secret", "letter", "parcel"] {
                let isThere = bytes.indices.contains { bytes[$0...].starts(with: Array(word.utf8)) }
                #expect(isThere == shows, "\(word)")
            }
        }
    }

    @Test("a state larger than a piece comes complete, in order, a piece at a time, and ends with one tick")
    func pieces() throws {
        var board = InspectionBoard(showsPayload: true)
        var viewer = InspectionBoard.Progress()
        board.absorb(publication((1...9_000).shuffled().map { socket($0) }))
        let pieces = try allPieces(&board, &viewer)
        #expect(pieces.count > 4)
        #expect(ids(pieces.joined()) == (1...9_000).map { SocketID($0) })
        let ticks = pieces.map { $0.count { if case .tick = $0 { true } else { false } } }
        #expect(ticks.last == 1 && ticks.reduce(0, +) == 1)
        var mirror = InspectionMirror()
        for frame in pieces.joined() {
            #expect(mirror.seen == nil)
            try mirror.absorb(frame)
        }
        #expect(mirror.seen?.sockets == (1...9_000).map { socket($0) })
    }

    @Test("what the engine publishes in pieces is told once it is whole")
    func partial() throws {
        var board = InspectionBoard(showsPayload: true)
        var viewer = InspectionBoard.Progress()
        for start in stride(from: UInt64(1), to: 500, by: 100) {
            var piece = publication((start..<(start + 100)).map { socket($0) })
            piece.changes?.isPartial = start < 400
            board.absorb(piece)
            #expect(board.isComplete == (start > 400))
        }
        #expect(ids(try allPieces(&board, &viewer).joined()) == (1...500).map { SocketID($0) })
        for start in [UInt64(10), 20] {
            var piece = publication([socket(start, received: 1)])
            piece.changes?.isPartial = start < 20
            board.absorb(piece)
        }
        #expect(ids(try allPieces(&board, &viewer).joined()) == [SocketID(10), SocketID(20)])
    }

    @Test("what changes and goes while an update is told is right in the end")
    func meanwhile() throws {
        var board = InspectionBoard(showsPayload: true)
        var viewer = InspectionBoard.Progress()
        var mirror = InspectionMirror()
        board.absorb(publication((1...9_000).map { socket($0) }))
        let first = try piece(&board, &viewer)
        #expect(!first.isLast)
        var news = publication([socket(1, received: 7), socket(9_000, received: 7), socket(9_001)])
        news.changes?.gone = [SocketID(2), SocketID(8_999)]
        board.absorb(news)
        for frame in first.frames { try mirror.absorb(frame) }
        try tell(&board, &viewer, &mirror)
        #expect(mirror.seen?.sockets.last?.received == 7)
        #expect(mirror.seen?.sockets.count == 8_998)
        #expect(try tell(&board, &viewer, &mirror) == 3)
        #expect(mirror.seen?.sockets.map(\.id) == ([1] + (3...8_998) + [9_000, 9_001]).map { SocketID($0) })
        #expect(mirror.seen?.sockets.first?.received == 7)
    }

    @Test("events that a viewer was too slow for are a gap in their numbers")
    func lostEvents() throws {
        var board = InspectionBoard(showsPayload: true)
        var viewer = InspectionBoard.Progress()
        viewer.watch.wantsEvents = true
        var mirror = InspectionMirror()
        for start in stride(from: UInt64(0), to: 4_000, by: 500) {
            var news = publication([], next: start + 500)
            news.events = events(start..<(start + 500))
            board.absorb(news)
        }
        try tell(&board, &viewer, &mirror)
        let told = try #require(mirror.seen).events.map(\.sequence)
        #expect(told == Array(2_976..<4_000))
    }

    @Test("megabytes of traffic come in pieces, each once, and of a message its beginning and its end")
    func muchTraffic() throws {
        func item(_ sequence: UInt64, _ count: Int) -> TrafficItem {
            TrafficItem(
                sequence: sequence, operation: OperationID(sequence), time: .zero, direction: .sent, tag: 0,
                kind: .write, done: count, total: count, state: .complete(after: .zero),
                bytes: [UInt8](repeating: 1, count: count))
        }
        let items = (0..<60).map { item($0, 50_000) } + [item(60, 3_000_000)]
        var board = InspectionBoard(showsPayload: true)
        var viewer = InspectionBoard.Progress()
        viewer.watch.traffic = SocketID(1)
        var news = publication([])
        news.changes?.traffic = [SocketID(1): TrafficSnapshot(items: items)]
        board.absorb(news)
        let pieces = try allPieces(&board, &viewer, limit: 300_000)
        let changes = pieces.map { frames in
            frames.flatMap { frame -> [TrafficItem] in
                if case .traffic(let change) = frame { change.items } else { [] }
            }
        }
        #expect(changes.allSatisfy { $0.reduce(0) { $0 + $1.keptBytes } <= 256 << 10 })
        let told = changes.flatMap { $0 }
        #expect(pieces.count > 30 && told.map(\.sequence) == Array(0...60))
        #expect(told.last?.bytes.count == 128 << 10 && told.last?.tail.count == 128 << 10)
    }

    @Test("of traffic only what is new or has grown is told again")
    func traffic() throws {
        func item(_ sequence: UInt64, done: Int, _ state: TrafficItem.State) -> TrafficItem {
            TrafficItem(
                sequence: sequence, operation: OperationID(sequence), time: .zero, direction: .sent, tag: 0,
                kind: .write, done: done, total: 9, state: state, bytes: [UInt8](repeating: 1, count: done))
        }
        let steps: [[TrafficItem]] = [
            [item(0, done: 9, .complete(after: .zero)), item(1, done: 2, .inProgress)],
            [item(0, done: 9, .complete(after: .zero)), item(1, done: 5, .inProgress)],
            [item(1, done: 9, .complete(after: .zero)), item(2, done: 1, .inProgress)],
        ]
        var board = InspectionBoard(showsPayload: true)
        var viewer = InspectionBoard.Progress()
        viewer.watch.traffic = SocketID(1)
        var mirror = InspectionMirror()
        mirror.watches(viewer.watch)
        for step in steps {
            var news = publication([])
            news.changes?.traffic = [SocketID(1): TrafficSnapshot(items: step, dropped: step[0].sequence)]
            board.absorb(news)
            try tell(&board, &viewer, &mirror)
            #expect(mirror.seen?.traffic?.items == step)
        }
        #expect(mirror.seen?.traffic?.dropped == 1)
    }
}

@Suite("Several programs in one picture")
struct ProgramOrdinalTests {
    @Test("names are told apart, and the first program keeps its own")
    func names() {
        #expect(SocketID(7, of: 0) == SocketID(7))
        #expect("\(SocketID(7, of: 1))" == "#2.7")
        #expect(SocketID(7, of: 3).own == SocketID(7) && SocketID(7, of: 3).ordinal == 3)
    }

    @Test("events of two programs share one sequence, and a loss keeps its place")
    func merging() {
        func event(_ sequence: UInt64) -> SocketEvent {
            SocketEvent(sequence: sequence, time: .zero, socket: SocketID(1), kind: .readDone)
        }
        var merger = EventMerger()
        var events = merger.number([event(100), event(101)], of: 0, next: 102)
        events += merger.number([event(5)], of: 1, next: 6)
        events += merger.number([event(105)], of: 0, next: 106)
        #expect(events.map(\.sequence) == [0, 1, 2, 6])
        #expect(events.map(\.socket) == [SocketID(1), SocketID(1), SocketID(1, of: 1), SocketID(1)])
        #expect(merger.next == 7)
    }

    @Test(
        "a program that is known from its start keeps its numbers, and what was lost before the first look is missing")
    func fromTheStart() {
        func event(_ sequence: UInt64) -> SocketEvent {
            SocketEvent(sequence: sequence, time: .zero, socket: SocketID(1), kind: .readDone)
        }
        var merger = EventMerger()
        merger.expect(0, of: 0)
        #expect(merger.number([event(3), event(4)], of: 0, next: 5).map(\.sequence) == [3, 4])
        #expect(merger.number([event(5), event(6)], of: 0, next: 9).map(\.sequence) == [5, 6])
        #expect(merger.next == 9)
    }
}
