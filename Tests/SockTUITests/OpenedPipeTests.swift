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

/// What comes through a pipe, as `socktui open -` reads it.
@Suite("A recording that comes through a pipe")
struct OpenedPipeTests {
    /// A capture of one datagram a second, cut into the bytes of its head and of each packet.
    private static func beats(_ count: UInt64) -> [[UInt8]] {
        var writer = PcapngWriter()
        writer.section(application: "test", comment: "")
        let interface = writer.interface(name: "lo", description: "")
        let ends = [40_000, 53].map { SyntheticPacket.End(.v4(UInt32(0x7F00_0001).bigEndian), $0) }
        var pieces: [[UInt8]] = []
        var done = 0
        for number in 0..<count {
            let frame = SyntheticPacket(from: ends[0], to: ends[1]).udp(Array("beat \(number)".utf8)[...])
            writer.packet(
                frame, length: frame.count, interface: interface,
                nanoseconds: 1_700_000_000_000_000_000 + number * 1_000_000_000, notes: PacketNotes())
            pieces.append(Array(writer.bytes[done...]))
            done = writer.bytes.count
        }
        return pieces
    }

    private struct Pipe {
        let reading: Int32
        let writing: Int32

        init() throws {
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0)
            // A child of another test that had the writing end would keep the pipe open.
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            (reading, writing) = (ends[0], ends[1])
        }

        func open(kept: UInt64 = OpenedBytes.mostKept) throws -> OpenedSource {
            let source = try OpenedSource(path: "-", keeping: TrafficLimits(), input: reading, kept: kept)
            close(reading)
            source.start()
            return source
        }

        func write(_ bytes: [UInt8]) { #expect(FileOutput.write(bytes, to: writing)) }
    }

    private static func snapshot(of source: OpenedSource, at instant: Int64? = nil) async -> EngineSnapshot? {
        var request = SnapshotRequest(eventsFrom: 0, traffic: SocketID(1))
        request.instant = instant
        return await withCheckedContinuation { waiting in
            source.requestSnapshot(request) { @Sendable in waiting.resume(returning: $0) }
        }
    }

    private static func shows(_ count: Int, _ source: OpenedSource) async throws -> EngineSnapshot {
        var last: EngineSnapshot?
        let end = ContinuousClock.now + .seconds(30)
        while last?.traffic?.items.count != count || last?.events.isEmpty == true, .now < end {
            last = await snapshot(of: source)
        }
        let shown = try #require(last)
        #expect(shown.traffic?.items.count == count)
        return shown
    }

    @Test("is shown with its events as it comes, and can be rewound and searched before it ends")
    func live() async throws {
        let pipe = try Pipe()
        let source = try pipe.open()
        let beats = Self.beats(4)
        for (number, beat) in beats.enumerated() {
            pipe.write(beat)
            let shown = try await Self.shows(number + 1, source)
            #expect(shown.events.count == number + 1)
            #expect(!source.hasAnswered && source.info(ordinal: 1).state == .live)
        }
        let moment = try #require(await Self.snapshot(of: source)?.moment)
        let past = try #require(await Self.snapshot(of: source, at: moment.first + 1_000_000_000))
        #expect(past.traffic?.items.count == 2)
        #expect(source.canReadAgain && source.takeNotices().isEmpty)
        close(pipe.writing)
        #expect(await eventually { source.hasAnswered })
        #expect(source.problem == nil)
    }

    @Test("is shown without a past from where more came than is kept, and says so once")
    func limit() async throws {
        let pipe = try Pipe()
        let beats = Self.beats(3)
        let source = try pipe.open(kept: UInt64(beats[0].count + beats[1].count))
        for beat in beats { pipe.write(beat) }
        close(pipe.writing)
        #expect(await eventually { source.hasAnswered })
        let shown = try await Self.shows(3, source)
        #expect(shown.moment == nil && !source.canReadAgain)
        #expect(await Self.snapshot(of: source, at: 0)?.traffic?.items.count == 3)
        let notices = source.takeNotices()
        #expect(notices.count == 1 && notices[0].contains("cannot be rewound: more than"), "\(notices)")
        #expect(source.takeNotices().isEmpty && source.problem == nil)
    }

    @Test("a stream that ends within a block is a problem, and so is one that is no recording")
    func damaged() async throws {
        for (bytes, problem) in [
            (Array(Self.beats(1)[0].dropLast(5)), "the rest is missing"),
            (Array("garbage\n".utf8), "neither pcapng nor pcap"),
        ] {
            let pipe = try Pipe()
            let source = try pipe.open()
            pipe.write(bytes)
            close(pipe.writing)
            #expect(await eventually { source.hasAnswered })
            #expect(source.problem?.hasPrefix("standard input: ") == true && source.problem?.contains(problem) == true)
        }
    }
}
