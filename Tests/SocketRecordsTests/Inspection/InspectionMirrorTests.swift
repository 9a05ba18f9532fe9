import SocketTestSupport
import Testing

@testable import SocketCore
@testable import SocketRecords

@Suite("The picture that a viewer keeps")
struct InspectionMirrorTests {
    private func socket(_ number: UInt64, received: UInt64 = 0) -> SocketSnapshot {
        var socket = SocketSnapshot(
            id: SocketID(number), role: .client, phase: .connected, target: "t", opened: .zero)
        socket.received = received
        return socket
    }

    private func tick(removing removed: [UInt64] = []) -> InspectionFrame {
        var tick = InspectionTick()
        tick.removed = removed.map { SocketID($0) }
        return .tick(tick)
    }

    private func received(_ mirror: InspectionMirror) -> [UInt64: UInt64] {
        let sockets = mirror.seen?.sockets ?? []
        return Dictionary(uniqueKeysWithValues: sockets.map { ($0.id.number, $0.received) })
    }

    @Test("shows updates one by one and whole, and leaves pictures that were taken as they are")
    func updates() throws {
        var mirror = InspectionMirror()
        try mirror.absorb(.sockets([socket(3), socket(1)]))
        try mirror.absorb(.sockets([socket(2)]))
        #expect(mirror.seen == nil)
        try mirror.absorb(tick())
        #expect(mirror.seen?.sockets.map(\.id.number) == [1, 2, 3])
        var pictures: [EngineSnapshot] = []
        for round in UInt64(1)...5 {
            try mirror.absorb(.sockets([socket(round % 3 + 1, received: round)]))
            #expect(received(mirror).values.max() == round - 1)
            try mirror.absorb(tick())
            pictures.append(try #require(mirror.seen))
        }
        #expect(
            pictures.map { $0.sockets.map(\.received) } == [[0, 1, 0], [0, 1, 2], [3, 1, 2], [3, 4, 2], [3, 4, 5]])
    }

    @Test("keeps what did not change when sessions come and go")
    func comingAndGoing() throws {
        var mirror = InspectionMirror()
        for frame in [.sockets((1...4).map { socket($0, received: $0) }), tick()] { try mirror.absorb(frame) }
        for frame in [.sockets([socket(2, received: 9)]), tick()] { try mirror.absorb(frame) }
        for frame in [.sockets([socket(6), socket(5), socket(5, received: 5)]), tick(removing: [1, 6, 77])] {
            try mirror.absorb(frame)
        }
        #expect(received(mirror) == [2: 9, 3: 3, 4: 4, 5: 5])
        for frame in [.sockets([socket(3, received: 8)]), tick()] { try mirror.absorb(frame) }
        #expect(received(mirror) == [2: 9, 3: 8, 4: 4, 5: 5])
        for frame in [.reset, .sockets([socket(7)]), tick()] { try mirror.absorb(frame) }
        #expect(received(mirror) == [7: 0])
    }

    @Test("forgets the kernel's side of what is watched no more")
    func unwatched() throws {
        var mirror = InspectionMirror()
        var watch = InspectionWatch()
        watch.sockets = [SocketID(1), SocketID(2)]
        mirror.watches(watch)
        var watched = [socket(1), socket(2)]
        for index in watched.indices { watched[index].kernel = KernelSnapshot() }
        for frame in [.sockets(watched), tick()] { try mirror.absorb(frame) }
        watch.sockets = [SocketID(2)]
        mirror.watches(watch)
        for _ in 1...3 {
            try mirror.absorb(tick())
            #expect(mirror.seen?.sockets.map { $0.kernel == nil } == [true, false])
        }
    }

    private func item(_ sequence: UInt64, bytes: Int = 0, done: Int = 0) -> TrafficItem {
        TrafficItem(
            sequence: sequence, operation: OperationID(1), time: .zero, direction: .received, tag: 0, kind: .write,
            done: done, total: nil, state: .inProgress, bytes: Array(repeating: 0, count: bytes))
    }

    private func traffic(_ items: [TrafficItem], first: UInt64 = 0) -> InspectionFrame {
        var change = InspectionTraffic()
        (change.socket, change.first, change.items) = (SocketID(1), first, items)
        return .traffic(change)
    }

    private func watching() throws -> InspectionMirror {
        var mirror = InspectionMirror()
        var watch = InspectionWatch()
        watch.traffic = SocketID(1)
        mirror.watches(watch)
        try mirror.absorb(tick())
        return mirror
    }

    @Test("refuses items of traffic that do not ascend")
    func descendingTraffic() throws {
        var mirror = try watching()
        let frame = traffic((1...20).reversed().map { item($0) })
        #expect(throws: WireError.self) { try mirror.absorb(frame) }
    }

    @Test("keeps no more traffic than a program does, and counts what it drops")
    func boundedTraffic() throws {
        var mirror = try watching()
        for round in 0..<4 {
            try mirror.absorb(traffic((0..<400).map { item(UInt64(round * 400 + $0), bytes: 100_000) }))
        }
        try mirror.absorb(tick())
        let kept = try #require(mirror.seen?.traffic)
        #expect(kept.items.last?.sequence == 1_599)
        #expect(kept.items.reduce(0) { $0 + $1.keptBytes } <= TrafficLog.standardTotal)
        #expect(kept.dropped == 1_600 - UInt64(kept.items.count))
        try mirror.absorb(traffic([item(1_400, done: 7), item(1_600)], first: 1_399))
        let later = try #require(mirror.seen?.traffic)
        #expect(later.items.map(\.sequence) == Array(1_399...1_600))
        #expect(later.items[1].done == 7)
    }

    @Test("keeps what the program had to drop from the middle, and says nothing is missing there")
    func mirroredGap() throws {
        var mirror = try watching()
        try mirror.absorb(traffic((1...6).map { item($0, bytes: 10, done: 10) }, first: 1))
        var after = item(7, bytes: 10, done: 10)
        after.skipped = 30
        try mirror.absorb(traffic([after], first: 1))
        try mirror.absorb(tick())
        let kept = try #require(mirror.seen?.traffic)
        #expect(kept.items.map(\.sequence) == Array(1...7) && kept.items.allSatisfy { $0.skipped == 0 })
    }

    @Test("keeps what a frame changes and adds, and drops what the program keeps no more")
    func mergedTraffic() throws {
        var mirror = try watching()
        var (first, next, seed) = (UInt64(1), UInt64(1), UInt64(7))
        var wanted: [UInt64: Int] = [:]
        func pick(_ count: UInt64) -> UInt64 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (seed >> 33) % max(1, count)
        }
        for round in 1...500 {
            if pick(4) == 0 { first += pick(next - first + 1) }
            var brought: Set<UInt64> = []
            if next > first { for _ in 0..<pick(6) { brought.insert(first + pick(next - first)) } }
            for _ in 0..<pick(5) {
                next += 1 + pick(2)
                brought.insert(next - 1)
            }
            wanted = wanted.filter { $0.key >= first }
            for sequence in brought { wanted[sequence] = round }
            try mirror.absorb(traffic(brought.sorted().map { item($0, done: round) }, first: first))
            try mirror.absorb(tick())
            let items = try #require(mirror.seen?.traffic).items
            #expect(items.map(\.sequence) == wanted.keys.sorted())
            #expect(items.allSatisfy { wanted[$0.sequence] == $0.done })
        }
    }

    @Test("changes items where they are, however many others there are")
    func trafficInPlace() throws {
        var mirror = try watching()
        try mirror.absorb(traffic((1...1_000).map { item($0) }, first: 1))
        try mirror.absorb(tick())
        func place() -> UnsafeRawPointer? {
            mirror.snapshot(engine: "")?.traffic?.items.withUnsafeBufferPointer { UnsafeRawPointer($0.baseAddress) }
        }
        let before = try #require(place())
        try mirror.absorb(traffic([item(3, done: 9), item(1_000, done: 9)], first: 1))
        #expect(place() == before)
        #expect(mirror.seen?.traffic?.items.filter { $0.done == 9 }.map(\.sequence) == [3, 1_000])
    }

    @Test("refuses sockets without an id, and more of them than a viewer keeps")
    func boundedSessions() throws {
        var mirror = InspectionMirror()
        #expect(throws: WireError.self) { try mirror.absorb(.sockets([socket(0)])) }
        var number: UInt64 = 0
        let limit = UInt64(InspectionMirror.sessionLimit)
        while number < limit {
            try mirror.absorb(.sockets((1...16_384).map { socket(number + $0) }))
            try mirror.absorb(tick())
            number += 16_384
        }
        try mirror.absorb(.sockets([socket(limit + 1)]))
        #expect(throws: WireError.self) { try mirror.absorb(tick()) }
    }

    @Test("refuses sockets whose texts and lists take more memory than a viewer has for them")
    func boundedMemory() throws {
        var mirror = InspectionMirror()
        let text = String(repeating: "x", count: 1 << 20)
        #expect(throws: WireError.self) {
            for number in UInt64(1)...1_000 {
                var large = socket(number)
                large.name = text
                try mirror.absorb(.sockets([large]))
                if number % 7 == 0 { try mirror.absorb(tick()) }
            }
        }
    }

    @Test("shows no update that is later than now, or before the one before it")
    func time() throws {
        var mirror = InspectionMirror()
        func tick(_ nanoseconds: Int64) -> InspectionFrame {
            var tick = InspectionTick()
            tick.time = MonotonicTime(nanoseconds: nanoseconds)
            return .tick(tick)
        }
        let now = MonotonicTime(nanoseconds: 1_000)
        var times: [Int64] = []
        for claimed: Int64 in [500, 1 << 61, 7] {
            try mirror.absorb(tick(claimed), now: now)
            times.append(try #require(mirror.tick?.time.nanoseconds))
        }
        #expect(times == [500, 1_000, 1_000])
    }

    @Test("corrects progress that no WebSocket can have made")
    func webSocketProgress() throws {
        var mirror = InspectionMirror()
        var socket = socket(1)
        var picture = WebSocketPicture(role: .client, stage: .open, target: "")
        var progress = WebSocketSnapshot(role: .client)
        progress.awaiting = .payload(.binary, done: 1 << 53, total: 2)
        progress.sending = WebSocketSendProgress(opcode: .binary, message: nil, done: -3, total: -1)
        picture.traffic = progress
        socket.webSocket = picture
        // As it is read: counts below 0 do not pass the wire.
        for frame in [.sockets([try WireReader.message(socket.encoded[...])]), tick()] { try mirror.absorb(frame) }
        let seen = try #require(mirror.seen?.sockets.first?.webSocket?.traffic)
        #expect(seen.awaiting == .payload(.binary, done: 1 << 53, total: 1 << 53))
        #expect(seen.sending?.done == 0 && seen.sending?.total == 0)
    }
}

@Suite("Snapshots of several programs in one")
struct ProgramMergerTests {
    @Test("when any of the programs last was out of descriptors is kept, whichever snapshot is the latest")
    func outOfDescriptors() {
        let refusals: [Int64?] = [3, nil, 2]
        let snapshots = refusals.enumerated().map { ordinal, refused in
            let time = MonotonicTime(nanoseconds: Int64(ordinal) + 5)
            var snapshot = EngineSnapshot(engine: "e", time: time, wallNanoseconds: 0)
            snapshot.times.outOfDescriptors = refused.map { MonotonicTime(nanoseconds: $0) }
            return (snapshot: snapshot, ordinal: ordinal)
        }
        var merger = ProgramMerger()
        let whole = merger.merge(snapshots, SnapshotRequest())
        #expect(whole.times.outOfDescriptors == MonotonicTime(nanoseconds: 3))
    }

    @Test("each engine keeps its own numbers, and the whole has the worst of them")
    func times() {
        let snapshots = [(9, 1), (2, 8)].enumerated().map { ordinal, peaks in
            var snapshot = EngineSnapshot(
                engine: "e\(ordinal)", time: MonotonicTime(nanoseconds: Int64(ordinal)), wallNanoseconds: 0)
            snapshot.times.longestTurn = .milliseconds(peaks.0)
            snapshot.times.queueLag = .milliseconds(peaks.1)
            snapshot.times.busy = .seconds(10 - ordinal)
            return (snapshot: snapshot, ordinal: ordinal)
        }
        var merger = ProgramMerger()
        let whole = merger.merge(snapshots, SnapshotRequest())
        #expect(whole.times.longestTurn == .milliseconds(9) && whole.times.queueLag == .milliseconds(8))
        for (snapshot, ordinal) in snapshots {
            #expect(whole.engine(of: SocketID(3, of: ordinal)) == EngineShare(snapshot, ordinal: ordinal))
        }
    }

    @Test("sums and numbers of events that do not fit stay at the largest number")
    func sums() {
        var merger = ProgramMerger()
        let snapshots = (0..<6).map { ordinal in
            var snapshot = EngineSnapshot(engine: "e", time: .zero, wallNanoseconds: 0)
            snapshot.counters.turns = 1 << 62
            snapshot.counters.received = 1 << 62
            snapshot.counters.descriptorsRefused = 1 << 62
            snapshot.counters.unfinishedMessageBytes = 1 << 62
            snapshot.counters.messagesWithoutRoom = 1 << 62
            snapshot.nextEvent = 1
            return (snapshot: snapshot, ordinal: ordinal)
        }
        _ = merger.merge(snapshots, SnapshotRequest(eventsFrom: 0))
        var later = snapshots
        for index in later.indices {
            later[index].snapshot.events = [
                SocketEvent(sequence: 1 << 62, time: .zero, socket: SocketID(1), kind: .connected)
            ]
            later[index].snapshot.nextEvent = 1 << 62 + 1
        }
        let whole = merger.merge(later, SnapshotRequest(eventsFrom: 0))
        #expect(whole.counters.turns == .max && whole.counters.received == .max)
        #expect(whole.counters.descriptorsRefused == .max)
        #expect(whole.counters.unfinishedMessageBytes == .max && whole.counters.messagesWithoutRoom == .max)
        let numbers = whole.events.map(\.sequence)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
    }
}
