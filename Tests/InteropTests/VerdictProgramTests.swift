import Glibc
import HostSockets
import InspectorCore
import SocketCore
import SocketKit
import SocketTestSupport
import Testing

@testable import InspectorShell
@testable import SockTUI

/// Faulty programs at both ends of a relay, or of a connection of our own: the one at fault is named. Innocent ones are not.
@Suite("Verdicts on programs", .enabled(if: Peer.isUsable("python3")), .timeLimit(.minutes(10)))
struct VerdictProgramTests {
    /// The other ends, as last found.
    private final class Ends: Sendable {
        let found = Lock<[SocketID: PeerEnd]>([:])
    }

    /// An engine with a relay, and an inspector that looks at both.
    private final class Watch {
        let engine = SocketEngine()
        let relay: Relay
        private var findings: Findings
        private let ends = Ends()
        private let observer: PeerObserver
        /// What was worse than a note at any look.
        private(set) var accusations: Set<String> = []

        init(to port: UInt16, _ times: String...) throws {
            var settings = LintSettings()
            for time in times { try settings.warn(reading: time) }
            findings = Findings(settings)
            observer = PeerObserver { @Sendable [ends] found in ends.found.withLock { $0 = found } }
            relay = Relay(
                engine: engine,
                request: RelayRequest(
                    listen: .tcp(host: "127.0.0.1", port: 0), target: .endpoint(.tcp(host: "127.0.0.1", port: port))))
            try relay.start()
        }

        var port: UInt16 { engine.snapshot().sockets.first { $0.role == .listener }?.local?.port ?? 0 }

        /// Looks once, as the screen does.
        func look() -> Findings {
            let snapshot = engine.snapshot(SnapshotRequest(kernel: .all))
            observer.look(snapshot, .all) { @Sendable _ in Int(getpid()) }
            findings.absorb(snapshot, among: Surroundings(peers: ends.found.withLock { $0 }), lost: 0)
            for finding in findings.first(.max, selected: nil) where finding.severity > .note {
                accusations.insert("\(finding.lint): \(finding.sentence)")
            }
            return findings
        }

        /// Looks until something of this name is found.
        func finding(_ lint: String, where holds: (Verdict) -> Bool = { _ in true }) -> Verdict? {
            var finding: Verdict?
            _ = eventually {
                finding = look().first(.max, selected: nil).first { $0.lint == lint && holds($0) }
                return finding != nil
            }
            return finding
        }

        /// Looks until this many things are urgent: who is at the other ends is found a look later than the wait for them.
        func isUrgent(_ count: Int) -> Bool { eventually { look().urgent == count } }

        /// Whether the other end of a leg holds unread bytes, and a look has taken that in. Asked first: what is found
        /// during a look is taken in by the next one.
        var hasUnreadThere: Bool {
            let isFound = ends.found.withLock { $0.values.contains { $0.unread ?? 0 > 0 && $0.program != nil } }
            _ = look()
            return isFound
        }
    }

    private static let server = """
        import signal, socket, sys
        s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(('127.0.0.1', int(sys.argv[1]))); s.listen()
        c = s.accept()[0]

        """
    private static let client = """
        import signal, socket, sys
        c = socket.create_connection(('127.0.0.1', int(sys.argv[1])))

        """

    private static func start(server: String) throws -> (peer: Peer, port: UInt16) {
        try Peer.server { ["python3", "-c", Self.server + server, "\($0)"] }
    }

    private static func start(client: String, to port: UInt16) throws -> Peer {
        try Peer(["python3", "-c", Self.client + client, "\(port)"])
    }

    @Test("a server that never reads is blamed by name, and its client is not")
    func writeBlocked() throws {
        let (server, port) = try Self.start(server: "signal.pause()")
        let watch = try Watch(to: port, "write-blocked=300ms")
        let client = try Self.start(client: "c.sendall(b'x' * 50_000_000)", to: watch.port)
        let finding = try #require(watch.finding("write-blocked") { $0.subject?.hasPrefix("python3") == true })
        #expect(finding.subject?.hasSuffix("[\(server.process)]") == true && finding.severity == .warning)
        #expect(finding.sentence.contains("unread there") && finding.next == "py-spy dump --pid \(server.process)")
        let waiting = watch.finding("write-blocked") { $0.sentence.contains("[\(client.process)] waits to send") }
        #expect(waiting != nil)
        #expect(watch.isUrgent(1), "one cause, one verdict: \(watch.accusations)")
    }

    @Test("two programs that both write and never read are in a deadlock, and both are named")
    func deadlock() throws {
        let (server, port) = try Self.start(server: "c.sendall(b's' * 50_000_000)")
        let watch = try Watch(to: port, "write-blocked=300ms", "deadlock=300ms")
        let client = try Self.start(client: "c.sendall(b'c' * 50_000_000)", to: watch.port)
        let finding = try #require(
            watch.finding("deadlock") {
                $0.subject?.contains("[\(server.process)]") == true
                    && $0.subject?.contains("[\(client.process)]") == true && $0.others.count == 1
            })
        #expect(finding.severity == .critical && watch.isUrgent(1))
    }

    @Test("so are our own end and a program, where neither reads")
    func ownDeadlock() throws {
        let (server, port) = try Self.start(server: "c.sendall(b's' * 50_000_000)")
        let watch = try Watch(to: port, "write-blocked=300ms", "deadlock=300ms")
        let socket = AsyncSocket(engine: watch.engine)
        try socket.connect(toHost: "127.0.0.1", port: port)
        socket.write([UInt8](repeating: 7, count: 50_000_000))
        let finding = try #require(watch.finding("deadlock") { $0.subject?.contains("[\(server.process)]") == true })
        #expect(finding.sentence.hasPrefix("this end and python3"))
    }

    @Test("a program that closes with bytes unread has made the reset")
    func resetCause() throws {
        let (server, port) = try Self.start(server: "sys.stdin.readline(); c.close(); signal.pause()")
        let watch = try Watch(to: port)
        let client = try Self.start(client: "c.sendall(b'x' * 98_304); signal.pause()", to: watch.port)
        #expect(eventually { watch.hasUnreadThere })
        try server.write("go\n")
        let finding = try #require(watch.finding("reset-cause"), "\(watch.look().first(.max, selected: nil))")
        #expect(finding.sentence.contains("[\(server.process)] closed with ") && finding.sentence.contains("unread"))
        #expect(!client.hasEnded)
    }

    @Test("a server that has read the end and does not close is named")
    func closeWait() throws {
        let (server, port) = try Self.start(server: "\nwhile c.recv(4096): pass\nsignal.pause()")
        let watch = try Watch(to: port, "close-wait=300ms", "half-closed-long=300ms")
        let client = try Self.start(client: "c.sendall(b'bye'); c.close()", to: watch.port)
        let finding = try #require(
            watch.finding("close-wait") {
                $0.subject?.contains("[\(server.process)]") == true && $0.sentence.hasSuffix("it has read the FIN")
            })
        #expect(finding.severity == .note)
        #expect(eventually { watch.look().first(.max, selected: nil).count == 1 })
        #expect(eventually { client.hasEnded })
    }

    @Test(
        "nobody innocent is accused",
        arguments: [
            // A bulk reader at full speed, and a reader that takes a little at a time.
            ("\nwhile c.recv(65536): pass\nc.close()", "c.sendall(b'x' * 200_000_000); c.close()"),
            (
                "\nimport select\nwhile c.recv(20_000): select.select([], [], [], 0.05)\nc.close()",
                "c.sendall(b'x' * 3_000_000); c.close()"
            ),
            // An answer after a half-close, as of nc -N, and a connection that is kept alive between two requests.
            (
                "\nwhile c.recv(4096): pass\nc.sendall(b'y' * 10_000_000); c.close()",
                "c.sendall(b'GET'); c.shutdown(1)\nwhile c.recv(65536): pass"
            ),
            (
                "\nwhile c.recv(4096): c.sendall(b'ok')",
                "\nimport select\nfor i in range(2): c.sendall(b'hi'); c.recv(9); select.select([], [], [], 3)"
            ),
        ])
    func innocent(_ server: String, _ client: String) throws {
        let (peer, port) = try Self.start(server: server)
        let watch = try Watch(to: port)
        let other = try Self.start(client: client, to: watch.port)
        #expect(
            eventually {
                _ = watch.look()
                return other.hasEnded && watch.engine.snapshot().sockets.allSatisfy { $0.phase != .connected }
            })
        #expect(watch.accusations.isEmpty)
        #expect(peer.complaints.isEmpty && other.complaints.isEmpty)
    }
}
