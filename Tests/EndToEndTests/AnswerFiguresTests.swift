import Glibc
import SocketTestSupport
import Testing

@Suite(
    "Answer times of one run, told in three ways", .timeLimit(.minutes(10)),
    .enabled(if: CaptureTests.isRoot && Peer.isUsable("redis-server", "redis-cli", "tcpdump"), "\(NamespacePair.need)"))
struct AnswerFiguresTests {
    private static let facts = [
        "exchanges", "overlaps", "unanswered_since", "answer_last_s", "answer_median_s", "answer_p99_s",
        "answer_worst_s",
    ]

    @Test("live, after --record and open, and of a tcpdump of the same run")
    func redis() throws {
        let redis = try Peer.redis()
        let run = try RecordedRun(relayingTo: redis.port)
        let capture = try Program.folder() + "/theirs.pcap"
        let tcpdump = try Peer([
            "tcpdump", "-i", "lo", "-Z", "root", "--immediate-mode", "-U", "-w", capture, "tcp port \(run.port)",
        ])
        try #require(eventually { tcpdump.complaints.contains("listening on lo") }, "\(tcpdump.complaints)")
        let commands = (1...20).map { "SET key\($0) value\nGET key\($0)\n" }.joined()
        let command = "printf '\(commands)' | redis-cli -p \(run.port) >/dev/null"
        #expect(try ChildProcess.run(["sh", "-c", command]).status == 0)
        try run.end(afterClosing: 2)

        let live = try Report(run.program.text).sockets.filter { $0["exchanges"].number ?? 0 > 0 }
        // redis-cli may have asked for the commands first.
        let count = try #require(live.first?["exchanges"].number)
        #expect(live.count == 2 && count >= 40)
        for leg in live {
            #expect(leg["exchanges"].number == count && leg["overlaps"] != .bool(true))
            #expect(leg["answer_median_s"].number ?? 0 <= leg["answer_worst_s"].number ?? -1)
        }
        let recorded = try Self.opened(run.file)
        func facts(_ leg: Value) -> [Value] { Self.facts.map { leg[$0] } }
        #expect(recorded.map(facts) == live.map(facts))

        // The file grows behind the packets.
        func captured() -> Value? { (try? Self.opened(capture))?.first { $0["exchanges"].number == count } }
        try #require(eventually { captured() != nil }, "\(tcpdump.complaints)")
        let wire = try #require(captured())
        #expect(wire["overlaps"] != .bool(true))
        // The capture has the times of the wire, which include those of our own turns.
        #expect(wire["answer_median_s"].number ?? 0 > 0)
    }

    private static func opened(_ file: String) throws -> [Value] {
        let outcome = try Program.run("open", file, "--once", "--json")
        return try Report(outcome.output).sockets.filter { $0["exchanges"].number ?? 0 > 0 }
    }
}
