import Glibc
import SocketRecords
import SocketTestSupport
import Testing

@testable import SocketKit

/// What recorders of an engine write, read again by the reader of captures.
@Suite("Recording an engine", .timeLimit(.minutes(10)))
struct RecorderTests {
    /// A conversation of this engine's, and what a file has of it.
    private final class Talk {
        let pair: ConnectedPair
        let folder: TemporaryFolder

        init(_ family: ConnectedPair.Family = .tcp) throws {
            (pair, folder) = (try ConnectedPair(family), try TemporaryFolder())
        }

        var file: String { folder.path + "/r.pcapng" }

        /// What the peer sends and the socket takes, by reads of whatever comes.
        func receives(_ bytes: [UInt8]) throws {
            let before = pair.recorder.received.count
            pair.socket.read(ReadRequest(.available(limit: nil), isStanding: true))
            try pair.peerSends(bytes)
            let (recorder, wanted) = (pair.recorder, before + bytes.count)
            try #require(eventually { recorder.received.count == wanted })
        }
    }

    /// Bytes of which no two parts are alike.
    private static func pattern(_ count: Int, _ salt: UInt64 = 0) -> [UInt8] {
        var state = salt &* 0x9E37_79B9_7F4A_7C15 &+ 88_172_645_463_325_252
        return (0..<count).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state)
        }
    }

    /// Payload of all packets, by direction, and how much the file says is missing.
    /// Stops it, and waits until its file is whole.
    private static func end(_ recorder: SocketRecorder) throws {
        recorder.stop()
        try #require(eventually { recorder.status.hasEnded })
    }

    private static func read(_ path: String) throws -> (sent: [UInt8], received: [UInt8], missing: UInt64) {
        var reader = CaptureReader()
        reader.append(try bytes(of: path)[...])
        var parser = PacketParser()
        var found: (sent: [UInt8], received: [UInt8], missing: UInt64) = ([], [], 0)
        while let entry = try reader.next() {
            guard case .packet(let packet) = entry, let parsed = parser.parse(packet) else { continue }
            found.missing += packet.dropped
            if packet.isInbound == true { found.received += parsed.payload } else { found.sent += parsed.payload }
        }
        return found
    }

    private static func bytes(of path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { throw PeerFailure(errno: errno) }
        defer { close(file) }
        var (all, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 20))
        while case let count = Glibc.read(file, &buffer, buffer.count), count > 0 { all += buffer[..<count] }
        return all
    }

    @Test("long and short reads and writes are in the file as they were", arguments: [true, false])
    func bytes(isTCP: Bool) throws {
        let talk = try Talk(isTCP ? .tcp : .unix)
        let recorder = try SocketRecorder(talk.pair.engine, to: talk.file)
        let (short, long) = (Self.pattern(100, 1), Self.pattern(1 << 20, 2))
        for bytes in [short, long, short] { try talk.receives(bytes) }
        for bytes in [short, long, short, short, long] { talk.pair.socket.write(bytes) }
        let sent = short + long + short + short + long
        #expect(try talk.pair.peerReceives(sent.count) == sent)
        try #require(eventually { talk.pair.socket.pendingWriteBytes == 0 })
        try Self.end(recorder)
        let found = try Self.read(talk.file)
        #expect(found.missing == 0 && recorder.status.dropped == 0)
        #expect(found.sent == sent && found.received == short + long + short)
    }

    @Test("reads of a length, which take the kernel's bytes themselves, are in the file too")
    func length() throws {
        let talk = try Talk()
        let recorder = try SocketRecorder(talk.pair.engine, to: talk.file)
        let bytes = Self.pattern(200_000)
        talk.pair.socket.read(ReadRequest(.length(bytes.count), tag: 1))
        try talk.pair.peerSends(bytes)
        try #require(eventually { talk.pair.recorder.received == bytes })
        try Self.end(recorder)
        #expect(try Self.read(talk.file).received == bytes)
    }

    @Test("without payload the lengths stay")
    func lengths() throws {
        let talk = try Talk()
        var options = SocketRecorder.Options()
        options.snapLength = 0
        let recorder = try SocketRecorder(talk.pair.engine, to: talk.file, options)
        try talk.receives(Self.pattern(300_000))
        talk.pair.socket.write(Self.pattern(300_000))
        _ = try talk.pair.peerReceives(300_000)
        try #require(eventually { talk.pair.socket.pendingWriteBytes == 0 })
        try Self.end(recorder)
        var sessions = CapturedSessions()
        var reader = CaptureReader()
        reader.append(try Self.bytes(of: talk.file)[...])
        while let entry = try reader.next() {
            if case .interface(let interface) = entry { sessions.add(interface) }
            if case .packet(let packet) = entry { sessions.absorb(packet) }
        }
        let session = try #require(sessions.sessions.first)
        #expect(session.fromLocal.missing == 300_000 && session.fromPeer.missing == 300_000)
    }

    @Test("two recorders of one engine each have everything; one that began later what came later")
    func several() throws {
        let talk = try Talk()
        let first = try SocketRecorder(talk.pair.engine, to: talk.file)
        try talk.receives([1, 2, 3])
        let second = try SocketRecorder(talk.pair.engine, to: talk.file + "2")
        try talk.receives([4, 5])
        try Self.end(first)
        try talk.receives([6])
        try Self.end(second)
        #expect(try Self.read(talk.file).received == [1, 2, 3, 4, 5])
        #expect(try Self.read(talk.file + "2").received == [4, 5, 6])
    }

    // MARK: Kept in memory

    @Test("what happened before is written when it is asked for, as often as it is, and after the end")
    func flightRecorder() throws {
        let talk = try Talk()
        var options = SocketRecorder.Options()
        options.interval = .milliseconds(10)
        let recorder = try SocketRecorder(talk.pair.engine, keeping: .seconds(3_600), options)
        try talk.receives([1, 2, 3])
        try #require(eventually { recorder.status.kept > 1_024 })
        try recorder.write(to: talk.file)
        try talk.receives([4])
        try recorder.write(to: talk.file + "2")
        try Self.end(recorder)
        try talk.receives([5])
        try recorder.write(to: talk.file + "3")
        #expect(try Self.read(talk.file).received == [1, 2, 3])
        #expect(try Self.read(talk.file + "2").received == [1, 2, 3, 4])
        #expect(try Self.read(talk.file + "3").received == [1, 2, 3, 4])
        #expect(recorder.status.hasEnded && recorder.status.written > 0 && recorder.status.problem == nil)
        // The state of the socket is in it.
        var opened = OpenedCapture()
        try opened.absorb(Self.bytes(of: talk.file + "2"))
        #expect(
            opened.isOurs
                && opened.snapshot(SnapshotRequest(), named: "file")?.sockets.contains { $0.received > 0 } == true)
    }

    @Test("it takes no more memory than it may, and keeps what came last")
    func memory() throws {
        let talk = try Talk()
        let recorder = try SocketRecorder(talk.pair.engine, keeping: .seconds(3_600), bytes: 1 << 20)
        let bytes = Self.pattern(6 << 20)
        for start in stride(from: 0, to: bytes.count, by: 1 << 20) {
            try talk.receives(Array(bytes[start..<(start + 1 << 20)]))
            #expect(recorder.status.kept <= 1 << 20 + 64 << 10)
        }
        try recorder.write(to: talk.file)
        let found = try Self.read(talk.file).received
        #expect(found.count > 500_000 && bytes.suffix(found.count) == found[...])
    }

    @Test("a file that is removed meanwhile, or that has no room for its end, is a problem of the recording")
    func lostFile() throws {
        let removed = try Talk()
        let recorder = try SocketRecorder(removed.pair.engine, to: removed.file)
        try removed.receives([1, 2, 3])
        unlink(removed.file)
        try Self.end(recorder)
        #expect(
            recorder.status.problem
                == "the recording ended: \(removed.file): the file was removed while it was written")
        let kept = try Talk()
        let good = try SocketRecorder(kept.pair.engine, to: kept.file)
        try Self.end(good)
        #expect(good.status.problem == nil && good.status.hasEnded)
    }

    @Test("what cannot be is refused with a sentence")
    func refused() throws {
        let talk = try Talk()
        #expect(throws: SocketError.self) { try SocketRecorder(talk.pair.engine, keeping: .zero) }
        #expect(throws: SocketError.self) { try SocketRecorder(talk.pair.engine, keeping: .seconds(1), bytes: 0) }
        let toFile = try SocketRecorder(talk.pair.engine, to: talk.file)
        #expect(throws: SocketError.self) { try toFile.write(to: talk.file + "2") }
        try Self.end(toFile)
        let inMemory = try SocketRecorder(talk.pair.engine, keeping: .seconds(1))
        do throws(SocketError) {
            try inMemory.write(to: talk.file)
            #expect(Bool(false), "a file that exists was replaced")
        } catch {
            #expect(error.detail.contains("it exists"), "\(error)")
        }
        try Self.end(inMemory)
    }
}
