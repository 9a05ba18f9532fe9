import Glibc
import SocketTestSupport
import Testing

/// Where connects can't be taken as usual, because a filter of the test refuses system calls.
@Suite(
    "socktui run where calls are refused", .timeLimit(.minutes(10)),
    .enabled(if: Peer.isUsable("python3", "curl", "bash"), "python3, curl or bash is missing"))
struct RunLadderTests {
    /// Refuses the system calls with these numbers with EPERM, and becomes the program after `--`.
    private static let refusal = #"""
        import ctypes, os, struct, sys
        split = sys.argv.index("--")
        numbers = [int(n) for n in sys.argv[1:split]]
        code = [(0x20, 0, 0, 0)] + [(0x15, len(numbers) - i, 0, n) for i, n in enumerate(numbers)]
        code += [(0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x50001)]
        held = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
        libc = ctypes.CDLL(None)
        program = struct.pack("HxxxxxxP", len(code), ctypes.addressof(held))
        assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program) == 0
        os.execv(sys.argv[split + 1], sys.argv[split + 1:])
        """#

    #if arch(arm64)
    private static let (seccomp, readMemory) = (277, 270)
    #else
    private static let (seccomp, readMemory) = (317, 310)
    #endif
    private static let duplicate = 438

    private static func run(refusing numbers: [Int], _ words: [String], options: [String] = []) throws -> (
        outcome: ChildProcess.Outcome, report: Report
    ) {
        let program = ["--", Program.path, "run", "--json"] + options + ["--"]
        let outcome = try ChildProcess.run(
            ["python3", "-c", refusal] + numbers.map(String.init) + program + words,
            environment: Program.environment(try Program.folder()))
        return (outcome, try Report(outcome.output))
    }

    private static func server() throws -> (peer: Peer, port: UInt16) {
        let folder = try TemporaryFolder()
        folder.write("hello\n", to: "file")
        return try Peer.server(keeping: folder) {
            ["python3", "-m", "http.server", "--bind", "127.0.0.1", "-d", folder.path, "\($0)"]
        }
    }

    private static let refused = "Operation not permitted"

    @Test("without pidfd_getfd, blocking connects get new sockets, and others are counted")
    func replacement() throws {
        let server = try Self.server()
        let script = """
            import socket
            s = socket.socket(); s.connect(("127.0.0.1", \(server.port)))
            print(s.getpeername()[1] == \(server.port), s.fileno(), s.get_inheritable())
            s.sendall(b"GET /file HTTP/1.0\\r\\n\\r\\n"); print(s.makefile().read()[-6:])
            try: s.connect(("127.0.0.1", \(server.port)))
            except OSError as error: print(error.errno)
            s = socket.socket(); print(s.connect_ex(("127.0.0.1", 9)), s.connect_ex(("127.0.0.1", \(server.port))))
            s = socket.socket(); s.setblocking(False); print(s.connect_ex(("127.0.0.1", \(server.port))))
            raise SystemExit(5)
            """
        let bare = try ChildProcess.run(["python3", "-c", script])
        let (outcome, report) = try Self.run(refusing: [Self.duplicate], ["python3", "-c", script])
        #expect(bare.status == 5 && outcome.status == 5 && outcome.errors.hasPrefix(bare.output), "\(outcome.errors)")
        let sentence = "run: only blocking connects are intercepted here (pidfd_getfd: \(Self.refused)), "
        #expect(outcome.errors.contains(sentence + "and each gets a new socket without its options\n"))
        #expect(outcome.errors.contains("run: not shown: 1 nonblocking\n"), "\(outcome.errors)")
        let child = report.lines("child").last
        #expect(child?["via"] == .string("connect") && child?["connections"] == .number(3))
        #expect(child?["not_shown"] == .number(1))
    }

    @Test(
        "where nothing can be taken, a proxy is offered, and the sentence says why",
        arguments: [
            ([seccomp], "seccomp: \(refused)"),
            ([duplicate, readMemory], "pidfd_getfd: \(refused), and then: \(refused)"),
        ])
    func proxy(numbers: [Int], reason: String) throws {
        let server = try Self.server()
        let words = ["bash", "-c", "curl -sS http://127.0.0.1:\(server.port)/file; exit 7"]
        let (outcome, report) = try Self.run(refusing: numbers, words)
        #expect(outcome.status == 7 && outcome.errors.hasPrefix("hello\n"), "\(outcome.errors)")
        let sentence = "run: connects can't be intercepted here (\(reason)), so bash is offered an HTTP proxy\n"
        #expect(outcome.errors.contains(sentence), "\(outcome.errors)")
        let child = report.lines("child").last
        #expect(child?["via"] == .string("http") && child?["connections"] == .number(1))
        let traced = try Self.run(refusing: numbers, words, options: ["--calls"])
        #expect(traced.outcome.status == 7 && traced.report.lines("call").isEmpty)
        let addition = sentence.dropLast() + "; its calls are not shown\n"
        #expect(traced.outcome.errors.contains(addition), "\(traced.outcome.errors)")
    }
}
