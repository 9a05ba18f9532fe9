import Glibc
import InspectorCore
import SocketCore
import SocketKit
import SocketRecords
import SocketTestSupport
import Synchronization
import Testing

@testable import InspectorShell
@testable import SockTUI

@Suite("A file that is open")
struct OpenedSourceTests {
    private static let wall: Int64 = 1_700_000_000_000_000_000

    /// A datagram each second for a minute, `beat 0` to `beat 60`.
    private static func minute(_ folder: TemporaryFolder) throws -> String {
        var writer = PcapngWriter()
        writer.section(application: "test", comment: "")
        let interface = writer.interface(name: "lo", description: "")
        let ends = [40_000, 53].map { SyntheticPacket.End(.v4(UInt32(0x7F00_0001).bigEndian), $0) }
        for number in 0...60 as ClosedRange<UInt64> {
            let frame = SyntheticPacket(from: ends[0], to: ends[1]).udp(Array("beat \(number)".utf8)[...])
            writer.packet(
                frame, length: frame.count, interface: interface,
                nanoseconds: UInt64(wall) + number * 1_000_000_000, notes: PacketNotes())
        }
        let path = folder.path + "/minute.pcapng"
        let file = try #require(fopen(path, "w"))
        #expect(fwrite(writer.bytes, 1, writer.bytes.count, file) == writer.bytes.count && fclose(file) == 0)
        return path
    }

    private static func beats(_ traffic: TrafficSnapshot?) -> [String] {
        traffic?.items.map { String(decoding: $0.bytes, as: UTF8.self) } ?? []
    }

    @Test("shows no later byte or event than those of the instant, in any order of instants, and its end again")
    func instants() async throws {
        let folder = try TemporaryFolder()
        let source = try OpenedSource(path: Self.minute(folder), keeping: TrafficLimits())
        source.start()
        try #require(await eventually { source.hasAnswered })
        func snapshot(at second: Int64?) async -> EngineSnapshot? {
            var request = SnapshotRequest(eventsFrom: 0, traffic: SocketID(1))
            request.instant = second.map { Self.wall + $0 * 1_000_000_000 }
            return await withCheckedContinuation { waiting in
                source.requestSnapshot(request) { @Sendable in waiting.resume(returning: $0) }
            }
        }
        for second in [30, 10, 11, 59, 0, 60, 1_000, -5] as [Int64] {
            let shown = min(max(second, 0), 60)
            let snapshot = try #require(await snapshot(at: second))
            let expected = (0...shown).map { "beat \($0)" }
            #expect(Self.beats(snapshot.traffic) == expected)
            #expect(snapshot.events.map(\.time) == (0...shown).map { MonotonicTime(nanoseconds: $0 * 1_000_000_000) })
            #expect(snapshot.sockets.first?.datagrams?.counters.sent == UInt64(shown + 1))
            let moment = try #require(snapshot.moment)
            #expect(moment.shown == Self.wall + shown * 1_000_000_000 && moment.first == Self.wall)
            #expect(moment.previousEvent.map { $0 - Self.wall } == (shown > 0 ? (shown - 1) * 1_000_000_000 : nil))
            #expect(moment.nextEvent.map { $0 - Self.wall } == (shown < 60 ? (shown + 1) * 1_000_000_000 : nil))
            // Searching and saving ask for the traffic of what is shown, too.
            let traffic = Mutex<[SocketID: TrafficSnapshot]?>(nil)
            source.requestTraffic(of: [SocketID(1)]) { @Sendable found in traffic.withLock { $0 = found } }
            #expect(Self.beats(traffic.withLock { $0?[SocketID(1)] }) == expected)
        }
        let end = try #require(await snapshot(at: nil))
        #expect(Self.beats(end.traffic).count == 61 && end.moment?.shown == nil)
    }
}

@Suite("A file that was read to its end")
struct EndedFileTests {
    /// The text of each datagram in a file whose traffic is kept only in part.
    private static func file(_ folder: TemporaryFolder) throws -> String {
        var writer = PcapngWriter()
        writer.section(application: "test", comment: "")
        let interface = writer.interface(name: "lo", description: "")
        for number in 0..<3_000 as Range<UInt64> {
            let ends = [40_000 + UInt16(number % 3), 53].map {
                SyntheticPacket.End(.v4(UInt32(0x7F00_0001).bigEndian), $0)
            }
            let frame = SyntheticPacket(from: ends[0], to: ends[1]).udp(Array("a needle in \(number)".utf8)[...])
            writer.packet(
                frame, length: frame.count, interface: interface, nanoseconds: 1_000_000_000 + number,
                notes: PacketNotes())
        }
        let path = folder.path + "/needles.pcapng"
        let file = try #require(fopen(path, "w"))
        #expect(fwrite(writer.bytes, 1, writer.bytes.count, file) == writer.bytes.count && fclose(file) == 0)
        return path
    }

    private static func sources(_ folder: TemporaryFolder) throws -> SourceList {
        var limits = TrafficLimits()
        (limits.each, limits.all) = (16 << 10, 32 << 10)
        let sources = SourceList(keeping: limits)
        try sources.openFile(Self.file(folder))
        return sources
    }

    private static func found(_ request: FindRequest, in sources: SourceList) throws -> [FindProgress] {
        let inbox = try Inbox()
        PayloadFinder(sources: sources, inbox: inbox).start(request)
        var reports: [FindProgress] = []
        let end = ContinuousClock.now + .seconds(60)
        while reports.last?.isOver != true, .now < end {
            for case .found(let progress) in inbox.take() { reports.append(progress) }
        }
        try #require(reports.last?.isOver == true)
        return reports
    }

    @Test("find searches the file, not only what is kept of it, and no connection that is not asked for")
    func find() throws {
        let folder = try TemporaryFolder()
        let sources = try Self.sources(folder)
        try #require(eventually { sources.hasAnswered })
        let kept = sources.traffic(of: [SocketID(1)]).first?.traffic.items.count ?? 0
        #expect(kept > 0 && kept < 1_000, "the file has more than is kept")
        var request = FindRequest(
            number: 1, search: try PayloadSearch.parse("needle").get(), sockets: [1, 2].map { SocketID($0) })
        let reports = try Self.found(request, in: sources)
        let last = try #require(reports.last)
        #expect(last.count == 2_000 && last.searched == 2 && last.droppedItems == 0 && last.missingBytes == 0)
        let matches = reports.flatMap(\.matches)
        #expect(matches.count == FindProgress.limit && matches.prefix(4).map(\.item) == [0, 0, 1, 1])
        #expect(matches.prefix(4).map(\.socket) == [1, 2, 1, 2].map { SocketID($0) })
        request.until = MonotonicTime(nanoseconds: 299)
        #expect(try Self.found(request, in: sources).last?.count == 200)
    }

    @Test("is still, and no request is made twice")
    func still() throws {
        let folder = try TemporaryFolder()
        let sources = try Self.sources(folder)
        #expect(eventually { sources.isStill })
        #expect(!SourceList().isStill)
        var settled = SettledRequest()
        var request = SnapshotRequest(eventsFrom: 0)
        func isNeeded(_ isStill: Bool) -> Bool { settled.isNeeded(request, isStill: isStill) }
        #expect([false, false, true, true, true].map(isNeeded) == [true, true, true, false, false])
        request.traffic = SocketID(1)
        #expect([true, true, false, true].map(isNeeded) == [true, false, true, true])
    }
}

/// Several files have one clock, whatever each of them counts from.
@Suite("Several files that are open")
struct OpenedFilesTests {
    private static func file(_ folder: TemporaryFolder, _ name: String, _ bytes: [UInt8]) throws -> String {
        let path = folder.path + "/" + name
        let file = try #require(fopen(path, "w"))
        #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count && fclose(file) == 0)
        return path
    }

    @Test("each is shown at its own time of day, a recording of ours and a capture")
    func clocks() async throws {
        let folder = try TemporaryFolder()
        let second: Int64 = 1_000_000_000
        let wall = 1_700_000_000 * second
        // A capture of a packet at 10 s, and a recording of a host that had run for 77 s at 40 s.
        var capture = PcapngWriter()
        capture.section(application: "test", comment: "")
        let interface = capture.interface(name: "lo", description: "")
        let ends = [40_000, 53].map { SyntheticPacket.End(.v4(UInt32(0x7F00_0001).bigEndian), $0) }
        let frame = SyntheticPacket(from: ends[0], to: ends[1]).udp([1])
        capture.packet(
            frame, length: frame.count, interface: interface, nanoseconds: UInt64(wall + 10 * second),
            notes: PacketNotes())
        var recording = RecordingWriter(application: "test", zero: wall - 37 * second)
        let booted = MonotonicTime(nanoseconds: 77 * second)
        var snapshot = EngineSnapshot(engine: "test", time: booted, wallNanoseconds: wall + 40 * second)
        snapshot.sockets = [
            SocketSnapshot(
                id: SocketID(1), role: .client, phase: .connected, target: "a:1", opened: booted + .seconds(-5))
        ]
        snapshot.events = [SocketEvent(sequence: 0, time: booted + .seconds(-1), socket: SocketID(1), kind: .connected)]
        snapshot.nextEvent = 1
        recording.add(RecordedEntry(SocketID(1), at: booted, .snapshot(snapshot, [:])))
        let paths = [
            try Self.file(folder, "capture", capture.bytes), try Self.file(folder, "ours", recording.take()),
        ]
        for order in [false, true] {
            let list = SourceList(opensSeveral: true)
            for path in order ? paths.reversed() : paths { try list.openFile(path) }
            try #require(await eventually { list.hasAnswered })
            let whole: EngineSnapshot = await withCheckedContinuation { waiting in
                list.requestSnapshot(SnapshotRequest(eventsFrom: 0)) { @Sendable in waiting.resume(returning: $0) }
            }
            #expect(whole.wallNanoseconds == wall + 40 * second)
            let opened: [Duration] = whole.sockets.map { socket in whole.time - socket.opened }
            let happened: [Duration] = whole.events.map { event in whole.time - event.time }
            #expect(Set(opened) == [.seconds(5), .seconds(30)])
            #expect(Set(happened) == [.seconds(1), .seconds(30)])
            list.close()
        }
    }
}
