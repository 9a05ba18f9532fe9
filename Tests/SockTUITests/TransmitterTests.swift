import Glibc
import InspectorCore
import SocketKit
import SocketTestSupport
import Testing

@testable import InspectorShell
@testable import SockTUI

@Suite("Sending what takes a while", .timeLimit(.minutes(10)))
struct TransmitterTests {
    /// The engine of the program, one connection of it, and its peer.
    private final class Bench {
        let engine = EngineSource()
        let inbox: Inbox
        let transmitter: Transmitter
        let peer: Recorder
        let reception: Reception
        let id: SocketID

        init(reads: Bool = true) throws {
            let peer = Recorder()
            self.peer = peer
            inbox = try Inbox()
            reception = try Reception(
                accepting: Recorder(onAccept: { socket in
                    socket.delegate = peer
                    if reads { socket.read(.standing) }
                }))
            transmitter = Transmitter(sources: SourceList(own: engine), inbox: inbox)
            let opened = Lock<SocketID?>(nil)
            let request = OpenRequest(.tcp(host: "127.0.0.1", port: reception.port))
            engine.connect(request) { result in opened.withLock { $0 = try? result.get() } }
            #expect(eventually { opened.withLock { $0 } != nil })
            id = try #require(opened.withLock { $0 })
        }

        func ending() -> TransmissionEnding? {
            for message in inbox.take() {
                if case .transmissionEnded(_, let ending) = message { return ending }
                if case .refused(let sentence) = message { return .failed(sentence) }
            }
            return nil
        }

        func waitForEnding() -> TransmissionEnding? {
            var ending: TransmissionEnding?
            #expect(
                eventually {
                    ending = ending ?? self.ending()
                    return ending != nil
                })
            return ending
        }
    }

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("a file goes out whole, piece by piece")
    func file() throws {
        let bench = try Bench()
        let text = (0..<200_000).map { "\($0)\n" }.joined()
        folder.write(text, to: "big")
        bench.transmitter.start(Transmission(bench.id, .file(folder.path + "/big"), tag: 3))
        #expect(bench.waitForEnding() == .done)
        #expect(eventually { bench.peer.received == Array(text.utf8) })
    }

    @Test("a peer that does not read holds the file back: our queue has one piece at most, until it is stopped")
    func backPressure() throws {
        let bench = try Bench(reads: false)
        folder.write(String(repeating: "0123456789abcdef", count: 2_000_000), to: "big")
        bench.transmitter.start(Transmission(bench.id, .file(folder.path + "/big"), tag: 3))
        let snapshot = Lock<EngineSnapshot?>(nil)
        #expect(
            eventually {
                bench.engine.requestSnapshot(SnapshotRequest()) { picture in snapshot.withLock { $0 = picture } }
                let socket = snapshot.withLock { $0?.socket(bench.id) }
                return socket.map { !$0.flags.contains(.socketCanAcceptBytes) && $0.writing.pendingBytes > 0 } ?? false
            })
        let writing = snapshot.withLock { $0?.socket(bench.id)?.writing }
        #expect(writing?.pendingCount == 0 && writing?.pendingBytes ?? .max <= Transmitter.pieceLength)
        bench.transmitter.stop(bench.id)
        #expect(bench.waitForEnding() == .stopped)
    }

    @Test("a file that waits behind another says how large it is, and how much of it is out")
    func waiting() throws {
        let bench = try Bench(reads: false)
        let bytes = 32_000_000
        folder.write(String(repeating: "0123456789abcdef", count: bytes / 16), to: "big")
        let file = Transmission(bench.id, .file(folder.path + "/big"), tag: 3)
        func reports() -> [TransmissionProgress] {
            bench.inbox.take().compactMap { if case .transmission(let progress) = $0 { progress } else { nil } }
        }
        bench.transmitter.start(file)
        // Some pieces are out, and the last report says how many, though nothing goes out any more.
        var latest: TransmissionProgress?
        let snapshot = Lock<EngineSnapshot?>(nil)
        #expect(
            eventually {
                latest = reports().last ?? latest
                bench.engine.requestSnapshot(SnapshotRequest()) { picture in snapshot.withLock { $0 = picture } }
                guard let latest, let socket = snapshot.withLock({ $0?.socket(bench.id) }) else { return false }
                let isStalled = !socket.flags.contains(.socketCanAcceptBytes)
                let sent = Int(clamping: socket.sent)
                return isStalled && latest.done > 0 && latest.done <= sent
                    && sent - latest.done < Transmitter.pieceLength
            })
        #expect(latest?.total == bytes)
        bench.transmitter.stop(bench.id)
        #expect(bench.waitForEnding() == .stopped)
        // The piece that was under way is still queued; the same file waits behind it.
        var second: TransmissionProgress?
        bench.transmitter.start(Transmission(bench.id, .file(folder.path + "/big"), tag: 4))
        #expect(
            eventually {
                second = reports().last ?? second
                return second != nil
            })
        #expect(second?.total == bytes && second?.done == 0)
        bench.transmitter.stop(bench.id)
    }

    @Test("a message is sent again and again with its number, in pieces, until it is stopped")
    func pace() throws {
        let bench = try Bench()
        var pace = Pace()
        pace.interval = .milliseconds(5)
        pace.dribble = .init(bytes: 2, interval: .milliseconds(1))
        let message = [MessagePiece.bytes(Array("n=".utf8)), .sequence, .bytes([10])]
        bench.transmitter.start(Transmission(bench.id, .message(message, sequence: 8), tag: 1, pace: pace))
        #expect(eventually { bench.peer.received.starts(with: Array("n=8\nn=9\nn=10\n".utf8)) })
        bench.transmitter.stop(bench.id)
        #expect(bench.waitForEnding() == .stopped)
        // What the peer reads at once says nothing of the pieces: on a busy machine they arrive together.
        let snapshot = Lock<EngineSnapshot?>(nil)
        #expect(
            eventually {
                bench.engine.requestSnapshot(SnapshotRequest()) { picture in snapshot.withLock { $0 = picture } }
                return snapshot.withLock { $0?.socket(bench.id)?.writing.completed ?? 0 } >= 7
            }, "pieces of two bytes")
    }

    @Test("a macro's file that is not there is told, and nothing is sent")
    func missingFile() throws {
        let bench = try Bench()
        let missing = folder.path + "/none"
        bench.transmitter.start(Transmission(bench.id, .message([.file(missing)], sequence: 1), tag: 1))
        #expect(bench.waitForEnding() == .failed("\(missing): No such file or directory"))
        #expect(bench.peer.received.isEmpty)
    }

    @Test("a connection that is over is told")
    func closed() throws {
        let bench = try Bench()
        bench.engine.perform(.close(bench.id, .now))
        folder.write("x", to: "small")
        bench.transmitter.start(Transmission(bench.id, .file(folder.path + "/small"), tag: 1))
        guard case .failed = bench.waitForEnding() else {
            Issue.record("it was sent")
            return
        }
    }

    @Test("time and random macros have the length that was promised")
    func values() throws {
        let values = MessageValues.now(sequence: 1)
        #expect(values.time().count == MessagePiece.timeLength)
        #expect(values.time().starts(with: Array("20".utf8)) && values.time().last == 0x5A)
        #expect(values.random(33).count == 33)
    }

    @Test("only regular files are sent")
    func kinds() throws {
        #expect(ReadFile.facts("/dev/zero").problem == "/dev/zero: is not a regular file")
        #expect(ReadFile.facts(folder.path).size == nil)
        folder.write("four", to: "f")
        #expect(ReadFile.facts(folder.path + "/f") == FileFacts(path: folder.path + "/f", size: 4))
    }
}

extension ReadRequest {
    fileprivate static let standing = ReadRequest(.available(limit: nil), isStanding: true)
}
