import Glibc
import SocketTestSupport
import Testing

/// The system calls of a program that is run, against strace and against the program's own run.
@Suite(
    "socktui run --calls",
    .enabled(if: Peer.isUsable("python3", "strace", "curl"), "python3, strace or curl is missing"),
    .timeLimit(.minutes(10)))
struct CallTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ words: [String]) throws -> (outcome: ChildProcess.Outcome, report: Report) {
        let outcome = try Program.run(["run", "--json", "--calls", "--"] + words)
        return (outcome, try Report(outcome.output))
    }

    private static func words(_ calls: [Value]) -> [String] {
        calls.map { call in
            let numbers = ["asked_bytes", "returned_bytes"].map { call[$0].number.map { "\(Int($0))" } ?? "-" }
            let names: [Double: String] = [11: "EAGAIN", 32: "EPIPE"]
            let error = call["errno"].number.map { names[$0] ?? "\($0)" } ?? "-"
            return ([call["call"].string ?? "?"] + numbers + [error]).joined(separator: " ")
        }
    }

    @Test("amounts, results and errors are those of strace, in order, and no other descriptor is listed")
    func equal() throws {
        let script = [Peer.python, "-c", CallScripts.every, folder.path + "/file"]
        let traced =
            "accept4,accept,read,write,readv,writev,recvfrom,sendto,recvmsg,sendmsg,sendfile,splice,shutdown,close"
        let file = folder.path + "/strace"
        // Where HOME is not set, Python asks for the user's home, through sockets.
        let strace = try ChildProcess.run(
            ["strace", "-f", "-yy", "-s", "32", "-e", "trace=\(traced)", "-e", "signal=none", "-o", file] + script,
            environment: Program.environment(folder.path))
        try #require(strace.status == 0, "\(strace.errors)")
        let wanted = try ChildProcess.run([Peer.python, "-c", CallScripts.reading, file])
        try #require(wanted.status == 0, "\(wanted.errors)")
        let (outcome, report) = try run(script)
        #expect(outcome.status == 0, "\(outcome.errors)")
        // strace was not asked for the calls that wait for several descriptors.
        let calls = report.lines("call").filter { $0["timeout_s"] == .null && $0["call"] != .string("connect") }
        let expected = wanted.output.split(separator: "\n").map(String.init)
        #expect(expected.count == 28 && Self.words(calls) == expected, "\(Self.words(calls))\n\(expected)")
        #expect(calls.allSatisfy { ($0["took_s"].number ?? -1) >= 0 && $0["id"] == .null })
        #expect(Set(calls.map { $0["process"].number }).count == 2)
    }

    @Test("children, threads, stops, signals and exec are as without, and each child's call is there")
    func children() throws {
        let script = [Peer.python, "-c", CallScripts.children]
        let bare = try ChildProcess.run(script)
        let (outcome, report) = try run(script)
        #expect(outcome.errors.hasPrefix(bare.output) && bare.output.contains("after exec"), "\(outcome)\n\(bare)")
        #expect(bare.signal == SIGUSR1 && outcome.status == 128 + SIGUSR1)
        let calls = report.lines("call")
        let sent = calls.filter { $0["call"] == .string("sendto") && $0["asked_bytes"] == .number(1) }
        #expect(sent.count == 501 && Set(sent.map { $0["process"].number }).count == 501)
        #expect(calls.contains { $0["errno"] == .number(512) }, "a signal interrupted a call")
        #expect(
            calls.contains {
                $0["returned_bytes"] == .null && $0["errno"] == .null && $0["call"] == .string("recvfrom")
            })
    }

    @Test("a call on a connection through the relay has its session, and without --calls there is no line")
    func sessions() throws {
        let server = try Peer.server(keeping: folder) {
            [Peer.python, "-m", "http.server", "--bind", "127.0.0.1", "-d", folder.path, "\($0)"]
        }
        let url = "http://127.0.0.1:\(server.port)/"
        let (outcome, report) = try run(["curl", "-sS", url])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let leg = try #require(report.sockets.first { $0["role"] == .string("accepted") })
        let calls = report.lines("call").filter { $0["id"] == leg["id"] }
        func sum(_ names: Set<String>) -> Double {
            calls.filter { names.contains($0["call"].string ?? "") }.reduce(0) {
                $0 + ($1["returned_bytes"].number ?? 0)
            }
        }
        #expect(leg["received_bytes"].number == sum(["sendto", "write"]))
        #expect(leg["sent_bytes"].number == sum(["recvfrom", "read"]))
        #expect(calls.last?["call"] == .string("close"))
        let plain = try Program.run(["run", "--json", "--", "curl", "-sS", url])
        #expect(try plain.status == 0 && Report(plain.output).lines("call").isEmpty)
        let hidden = try Program.run(["run", "--calls", "--", "true"])
        #expect(hidden.status == 2 && hidden.errors.contains("--calls: needs a screen"), "\(hidden)")
    }

    @Test("waits for descriptors, connects and a message in pieces are calls, and a recording has all of them")
    func recorded() throws {
        let file = folder.path + "/calls.pcapng"
        let live = try Program.run(
            ["run", "--json", "--calls", "--record", file, "--", Peer.python, "-c", CallScripts.waits])
        #expect(live.status == 0, "\(live.errors)")
        let lines = try Report(live.output).lines("call")
        func only(_ name: String) throws -> Value {
            try #require(lines.last { $0["call"] == .string(name) }, "\(name)")
        }
        let (poll, select, epoll) = (try only("poll"), try only("pselect6"), try only("epoll_wait"))
        #expect(poll["fds"] == .number(2) && poll["ready_fds"] == .number(0) && poll["timeout_s"] == .number(0.05))
        #expect(select["fds"] == .number(2) && select["ready_fds"] == .number(0), "\(select)")
        #expect(epoll["fds"] == .null && epoll["timeout_s"] == .number(0.05), "\(epoll)")
        for waited in [poll, select, epoll] { #expect((waited["took_s"].number ?? 0) >= 0.05, "\(waited)") }
        #expect(!lines.contains { $0["timeout_s"] == .number(0) }, "a poll that may not wait is not shown")
        let connect = try only("connect")
        #expect(connect["errno"] == .null && connect["id"] == poll["id"] && poll["id"] != .null, "\(connect)")
        let pieces = lines.filter { $0["call"] == .string("recvfrom") }
        #expect(pieces.map { $0["returned_bytes"] } == [.number(37), .number(987)])
        #expect(pieces.map { $0["message_had_bytes"] } == [.null, .number(37)])
        let opened = try Program.run(["open", "--json", "--once", file])
        let again = opened.output.split(separator: "\n").filter { $0.contains(#""type":"call""#) }
        #expect(again == live.output.split(separator: "\n").filter { $0.contains(#""type":"call""#) })
    }

    @Test("a killed socktui leaves the program running, a killed tracer ends it, and nothing is left")
    func deaths() throws {
        let outcome = try ChildProcess.run(
            [Peer.python, "-c", CallScripts.deaths, Program.path, folder.path],
            environment: Program.environment(folder.path))
        #expect(
            outcome.output == """
                the program went on without socktui
                it ended with its tracer: 137
                nothing is left

                """, "\(outcome)")
    }
}
