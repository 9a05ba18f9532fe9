import Glibc
import SocketTestSupport
import Testing

@Suite("--json", .timeLimit(.minutes(10)))
struct JSONTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ arguments: String...) throws -> ChildProcess.Outcome {
        try ChildProcess.run([Program.path] + arguments, environment: Program.environment(folder.path))
    }

    @Test(
        "--once prints one picture that reads back, with the connection in it",
        .enabled(if: Peer.isUsable("redis-server"), "redis-server is missing"))
    func once() throws {
        let redis = try Peer.redis()
        let outcome = try run("connect", "127.0.0.1:\(redis.port)", "--json", "--once")
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        let report = try Report(outcome.output)
        #expect(report.lines.first?["type"] == .string("hello") && report.lines.last?["type"] == .string("end"))
        #expect(report.lines.allSatisfy { $0["v"] == .number(1) })
        let row = try #require(report.sockets.first)
        #expect(report.sockets.count == 1)
        #expect(row["phase"] == .string("connected") && row["role"] == .string("client"))
        #expect(row["peer"] == .string("127.0.0.1:\(redis.port)"))
        #expect(row["kernel"]["state"] == .string("ESTAB"))
        #expect(row["read"]["current"]["kind"] == .string("available"))
        #expect(row["read"]["current"]["standing"] == .bool(true))
        #expect(row["flags"].array.contains(.string("Connected")))
        #expect(report.events(of: row["id"].number).contains("connected"))
    }

    @Test("--once tells of a refused connect with status 1, and of a listener")
    func refused() throws {
        let port = try Peer.freePort()
        let refused = try run("connect", "127.0.0.1:\(port)", "--json", "--once")
        #expect(refused.status == 1)
        #expect(refused.errors.hasPrefix("socktui: connect: "))
        let closed = try #require(try Report(refused.output).sockets.first?["closed"])
        #expect(closed["reason"] == .string("system") && closed["errno"] == .number(Double(ECONNREFUSED)))
        #expect(try Report(refused.output).lines.last?["status"] == .number(1))
        let listening = try run("listen", "127.0.0.1:0", "--json", "--once")
        let row = try #require(try Report(listening.output).sockets.first)
        #expect(row["phase"] == .string("listening") && row["kernel"]["state"] == .string("LISTEN"))
    }

    @Test("why prints an object even if there is nothing to explain")
    func unanswered() throws {
        let port = try Peer.freePort()
        let outcome = try run("why", ":\(port)", "--json")
        #expect(outcome.status == 4 && outcome.errors.hasPrefix("socktui: no socket on "), "\(outcome)")
        #expect(outcome.output.hasPrefix(#"{"type":"why","sockets":0,"#), "\(outcome)")
        #expect(outcome.output.contains(#""problem":"no socket on this host "#), "\(outcome)")
    }

    @Test("a stream tells each change in its order, and ends with its connections")
    func stream() throws {
        let port = try Peer.freePort()
        let listener = try Peer([Program.path, "listen", "127.0.0.1:\(port)", "--json"])
        try #require(eventually { listener.text.contains("\"phase\":\"listening\"") })
        let client = try Peer([Program.path, "connect", "127.0.0.1:\(port)", "--json"])
        try #require(eventually { listener.text.contains("\"role\":\"accepted\"") && client.text.contains("ESTAB") })
        kill(listener.process, SIGINT)
        #expect(eventually { listener.hasEnded && client.hasEnded })
        let report = try Report(client.text)
        let row = try #require(report.sockets.first)
        #expect(row["phase"] == .string("closed") && row["closed"]["reason"] == .string("closed_by_peer"))
        #expect(
            report.events(of: row["id"].number) == [
                "connect_attempt", "read_queued", "connected", "peer_closed", "read_failed", "closed",
            ])
        let sequences = report.lines("event").compactMap { $0["sequence"].number }
        #expect(sequences == sequences.indices.map(Double.init))
        #expect(report.lines.last?["status"] == .number(0))
        #expect(try Report(listener.text).lines.last?["type"] == .string("end"), "^C ends it as asked")
    }

    @Test(
        "on a quiet connection the kernel's side is what ss -tinm says, field by field",
        .enabled(if: Peer.isUsable("redis-server", "ss"), "redis-server or ss is missing"))
    func statistics() throws {
        let redis = try Peer.redis()
        let text = String(repeating: "x", count: 50_000)
        let client = try Peer([
            Program.path, "connect", "127.0.0.1:\(redis.port)", "--json", "--send", "ECHO \(text)\\r\\n",
        ])
        try #require(eventually { (try? Report(client.text).sockets.first?["received_bytes"].number) ?? 0 > 50_000 })
        func agreement() throws -> (ours: Value, theirs: SocketStatistics)? {
            guard let ours = try Report(client.text).sockets.last,
                let theirs = try SocketStatistics.all().first(where: { $0.processes.contains(client.process) }),
                ours["kernel"]["bytes_received"].number == Double(theirs.bytesReceived), theirs.sendQueue == 0
            else { return nil }
            return (ours, theirs)
        }
        try #require(try eventually { try agreement() != nil })
        let (ours, theirs) = try #require(try agreement())
        let kernel = ours["kernel"]
        #expect(ours["local"].string == theirs.local && ours["peer"].string == theirs.peer)
        #expect(kernel["state"].string == theirs.state)
        #expect(kernel["recv_q"].number == Double(theirs.receiveQueue))
        #expect(kernel["send_q"].number == Double(theirs.sendQueue))
        #expect(kernel["bytes_sent"].number == Double(theirs.bytesSent))
        #expect(ours["sent_bytes"].number == Double(theirs.bytesSent))
        #expect(ours["received_bytes"].number == Double(theirs.bytesReceived))
        let roundTrip = theirs.facts["rtt"]?.split(separator: "/").first.flatMap { Double($0) }
        #expect(kernel["rtt_ms"].number != nil && kernel["rtt_ms"].number == roundTrip, "\(theirs.facts)")
        #expect(kernel["cwnd"].number != nil && kernel["cwnd"].number == theirs.facts["cwnd"].flatMap { Double($0) })
        let rate = theirs.facts["delivery_rate"].flatMap { Double($0.dropLast("bps".count)) }
        #expect(kernel["delivery_rate_bps"].number != nil && kernel["delivery_rate_bps"].number == rate)
        let retransmits = theirs.facts["retrans"]?.split(separator: "/").last.flatMap { Double($0) } ?? 0
        #expect(kernel["retrans"].number == retransmits)
        #expect(kernel["notsent"].number == theirs.facts["notsent"].flatMap { Double($0) } ?? 0)
    }

    @Test(
        "what is likely wrong is told once, in words, and stands with the connection as long as it holds",
        .enabled(if: Peer.isUsable("redis-server"), "redis-server is missing"))
    func warning() throws {
        let redis = try Peer.redis()
        let client = try Peer([
            Program.path, "connect", "127.0.0.1:\(redis.port)", "--no-read", "--json", "--send", "PING\\r\\n",
        ])
        func lints() throws -> [Value] { try Report(client.text).sockets.last?["lints"].array ?? [] }
        #expect(try eventually { try lints().contains(.string("read-starved")) })
        let warnings = try Report(client.text).lines("warning").filter { $0["lint"].string == "read-starved" }
        #expect(warnings.count == 1)
        #expect(warnings.first?["sentence"].string?.contains("7 B unread") == true)
        #expect(warnings.first?["remedy"].string?.isEmpty == false)
    }

    @Test("an ended connection that failed has status 1 and its reason on stderr")
    func failed() throws {
        let outcome = try run("connect", "127.0.0.1:\(try Peer.freePort())", "--json")
        #expect(outcome.status == 1)
        #expect(outcome.errors.hasPrefix("socktui: connect: "))
        #expect(try Report(outcome.output).lines.last?["status"] == .number(1))
    }

    @Test("without a terminal the same is told as text, a line for each event")
    func text() throws {
        let port = try Peer.freePort()
        let failed = try run("connect", "127.0.0.1:\(port)")
        #expect(failed.status == 1)
        #expect(failed.output.contains("failed") && failed.output.contains("127.0.0.1:\(port): refused"))
        let once = try run("listen", "127.0.0.1:0", "--once")
        #expect(once.status == 0)
        #expect(once.output.contains("LISTEN") && once.output.split(separator: "\n").count == 2)
        #expect(!(failed.output + once.output).unicodeScalars.contains("\u{1B}"))
    }

    @Test("a socket file does not outlive a stream that a signal ends", arguments: [SIGINT, SIGTERM])
    func socketFile(signal: Int32) throws {
        let path = folder.path + "/listener"
        let listener = try Peer([Program.path, "listen", "unix:\(path)", "--json"])
        try #require(eventually { access(path, F_OK) == 0 && listener.text.contains("listening") })
        kill(listener.process, signal)
        #expect(eventually { listener.hasEnded })
        #expect(access(path, F_OK) != 0)
    }
}

extension Peer {
    /// What it has printed, as text.
    var text: String { String(decoding: output, as: UTF8.self) }
}
