import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// What recorders of an engine write, as Wireshark reads it.
@Suite(
    "Recordings of a service", .timeLimit(.minutes(10)), .enabled(if: Peer.isUsable("tshark", "tcpdump", "capinfos")))
struct RecorderInteropTests {
    private static func tshark(_ file: String, _ words: String...) throws -> String {
        let outcome = try ChildProcess.run(["tshark", "-r", file] + words)
        #expect(outcome.status == 0, "\(outcome)")
        return outcome.output
    }

    private static func expectReadable(_ file: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for words in [["capinfos", file], ["tcpdump", "-nr", file]] {
            let outcome = try ChildProcess.run(words)
            #expect(outcome.status == 0, "\(outcome)", sourceLocation: sourceLocation)
        }
        let warnings = try tshark(file, "-q", "-z", "expert,warn")
        let lines = warnings.split(separator: "\n").filter { $0.contains(where: \.isNumber) && !$0.contains("(") }
        #expect(lines.isEmpty, "\(warnings)", sourceLocation: sourceLocation)
    }

    private static func hex(_ text: String) -> String {
        text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test("a recording that ends before anything happened can be read, written at once or afterwards")
    func empty() throws {
        let (engine, folder) = (SocketEngine(), try TemporaryFolder())
        try SocketRecorder(engine, to: folder.path + "/1.pcapng").stop()
        let recorder = try SocketRecorder(engine, keeping: .seconds(60), bytes: 400_000)
        try recorder.write(to: folder.path + "/2.pcapng")
        recorder.stop()
        for name in ["1", "2"] { try Self.expectReadable("\(folder.path)/\(name).pcapng") }
    }

    @Test("the last seconds, written twice, are followed by tshark from where they begin")
    func lastSeconds() throws {
        let (pair, folder) = (try ConnectedPair(), try TemporaryFolder())
        let recorder = try SocketRecorder(pair.engine, keeping: .seconds(3_600), bytes: 400_000)
        pair.socket.read(ReadRequest(.available(limit: nil), isStanding: true))
        try pair.peerSends([UInt8](repeating: 0x2E, count: 2_000_000) + Array("the failure".utf8))
        try #require(eventually { pair.recorder.received.count == 2_000_011 })
        for name in ["1", "2"] {
            let file = "\(folder.path)/\(name).pcapng"
            try recorder.write(to: file)
            try Self.expectReadable(file)
            let followed = try Self.tshark(file, "-q", "-z", "follow,tcp,raw,0")
            #expect(followed.contains("2e2e2e2e") && followed.contains(Self.hex("the failure")))
        }
        recorder.stop()
    }

    @Test(
        "a file that follows another has the secrets and the handshake of a session that began before it",
        .enabled(if: Certificates.problem == nil))
    func secretsAfterRotation() throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/r.pcapng"
        let pair = try TLSPair()
        let flood = try ConnectedPair(engine: pair.engine)
        var options = SocketRecorder.Options()
        options.limit = 256 << 10
        let recorder = try SocketRecorder(pair.engine, to: file, options)
        try pair.startTLS(client: .testClient().with { $0.keyLogFile = folder.path + "/keys" })
        try #require(pair.isSecured)
        flood.socket.read(ReadRequest(.available(limit: nil), isStanding: true))
        for round in 1...4 {
            try flood.peerSends([UInt8](repeating: 0x2E, count: 300_000))
            try #require(eventually { flood.recorder.received.count == round * 300_000 })
        }
        let question = Array("the secret question\n".utf8)
        pair.server.read(ReadRequest(.length(question.count)))
        pair.client.write(question)
        try #require(eventually { pair.serverSide.received == question })
        recorder.stop()
        #expect(recorder.status.dropped == 0 && recorder.status.problem == nil, "\(recorder.status)")
        let port = try #require(pair.client.peerAddress?.port)
        for (name, isThere) in [(file, true), (file + ".1", false)] {
            try Self.expectReadable(name)
            let words = [
                "-d", "tcp.port==\(port),tls", "-Y", "tls && ip.addr==127.0.0.1", "-T", "fields", "-e", "data.data",
            ]
            let outcome = try ChildProcess.run(["tshark", "-r", name] + words)
            #expect(outcome.output.contains(Self.hex("the secret question")) == isThere, "\(outcome)")
        }
    }
}
