import Glibc
import InspectorCore
import SocketTestSupport
import Testing

@testable import InspectorShell
@testable import SockTUI

/// A program in a frozen cgroup cannot read: that it is frozen is what is said of it, and nothing worse.
@Suite("Programs in a frozen cgroup", .enabled(if: Peer.isUsable("python3")), .timeLimit(.minutes(10)))
struct FrozenProgramTests {
    /// A cgroup with a freezer, of version 1 or 2. What it holds is killed and thawed in the end: a frozen process of
    /// version 1 does not die before.
    final class Freezer {
        struct Kind: Sendable, CustomTestStringConvertible {
            var base: String
            var file: String
            var (frozen, thawed): (String, String)

            var testDescription: String { "\(base) \(file)" }
        }

        private let kind: Kind
        private let folder: String

        /// Those that can be made on this machine.
        static let kinds = [
            Kind(base: "/sys/fs/cgroup/freezer", file: "freezer.state", frozen: "FROZEN", thawed: "THAWED"),
            Kind(base: "/sys/fs/cgroup/unified", file: "cgroup.freeze", frozen: "1", thawed: "0"),
            Kind(base: "/sys/fs/cgroup", file: "cgroup.freeze", frozen: "1", thawed: "0"),
        ].filter { (try? Freezer($0)) != nil }

        init(_ kind: Kind) throws {
            (self.kind, folder) = (kind, "\(kind.base)/socktui-test-\(getpid())")
            guard mkdir(folder, 0o755) == 0 else { throw PeerFailure(errno: errno) }
            guard access("\(folder)/\(kind.file)", W_OK) == 0 else {
                rmdir(folder)
                throw PeerFailure(errno: ENOENT)
            }
        }

        func freeze(_ process: Int32) throws {
            try write("\(process)", to: "cgroup.procs")
            try write(kind.frozen, to: kind.file)
            // The kernel freezes it some time later.
            let file = kind.file == "freezer.state" ? kind.file : "cgroup.events"
            #expect(eventually { lines(of: file).contains { $0 == "FROZEN\n" || $0 == "frozen 1\n" } })
        }

        private func write(_ text: String, to name: String) throws {
            let descriptor = open("\(folder)/\(name)", O_WRONLY | O_CLOEXEC)
            defer { close(descriptor) }
            guard Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count else {
                throw PeerFailure(errno: errno)
            }
        }

        private func lines(of name: String) -> [String] {
            guard let file = fopen("\(folder)/\(name)", "r") else { return [] }
            defer { fclose(file) }
            var lines: [String] = []
            var buffer = [CChar](repeating: 0, count: 64)
            while fgets(&buffer, Int32(buffer.count), file) != nil {
                lines.append(String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
            }
            return lines
        }

        private var processes: [Int32] { lines(of: "cgroup.procs").compactMap { Int32($0.dropLast()) } }

        func end() {
            for process in processes { kill(process, SIGKILL) }
            try? write(kind.thawed, to: kind.file)
            _ = eventually { rmdir(folder) == 0 || errno != EBUSY }
        }

        deinit { end() }
    }

    private static let server = """
        import socket, sys
        listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
        end, _ = listener.accept()
        end.sendall(b"k")
        print("ready", flush=True)
        while end.recv(100): pass
        """
    private static let client = """
        import signal, socket, sys
        end = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        end.recv(1)
        print("ready", flush=True)
        sys.stdin.readline()
        end.sendall(bytes(int(sys.argv[2])))
        signal.pause()
        """

    private func isReady(_ peer: Peer) -> Bool { eventually { peer.output.starts(with: "ready".utf8) } }

    @MainActor
    @Test(
        "that it is frozen is said of it, and nobody is accused",
        .enabled(if: !Freezer.kinds.isEmpty, "no cgroup with a freezer can be made: that needs root and a hierarchy"),
        arguments: Freezer.kinds, [18, 50_000_000])
    func frozen(_ kind: Freezer.Kind, _ amount: Int) throws {
        let (server, port) = try Peer.server { ["python3", "-c", Self.server, "\($0)"] }
        let client = try Peer(["python3", "-c", Self.client, "\(port)", "\(amount)"])
        #expect(isReady(server) && isReady(client), "\(server.complaints) \(client.complaints)")
        let freezer = try Freezer(kind)
        // Before its process is waited for, which would not die.
        defer { withExtendedLifetime(server) { freezer.end() } }
        try freezer.freeze(server.process)
        try client.write("go\n")
        var watch = HostWatch(HostOptions(), LintSettings())
        var lines: [String] = [], accused: [String] = []
        let isTold = try eventually {
            try watch.settle(span: .zero) { $0.local?.port == port || $0.peer?.port == port }
            guard let answer = HostAnswer(.port(port), [], watch.look, watch.judge) else { return false }
            lines = answer.lines
            accused += answer.found.filter { $0.severity > .note }.map(\.lint)
            return answer.found.contains { verdict in
                verdict.severity == .note && verdict.processes.contains { $0.number == server.process }
            } && lines.contains { $0.contains("in a frozen cgroup") }
        }
        #expect(isTold && accused.isEmpty, "\(accused) \(lines)")
    }
}
