import Glibc
import HostSockets
import SocketCore
import SocketTestSupport
import Testing

/// What `ss` lists and what a look lists is compared line by line, in a network namespace where nothing else happens.
@Suite(
    "All sockets", .serialized, .enabled(if: geteuid() == 0, "a network namespace needs root"), .timeLimit(.minutes(10))
)
struct ListingTests {
    private static let script = """
        import ctypes, fcntl, os, signal, socket, struct
        assert ctypes.CDLL(None).unshare(0x40000000) == 0, "unshare"
        probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        fcntl.ioctl(probe, 0x8914, struct.pack("16sH14x", b"lo", 0x1))
        probe.close()
        k = []
        def pair(family, host):
            l = socket.create_server((host, 0), family=family)
            a = socket.create_connection(l.getsockname()[:2])
            b, _ = l.accept()
            k.extend([l, a, b]); return l, a, b
        l, a, b = pair(socket.AF_INET, "127.0.0.1")
        a.send(bytes(1234))
        l, a, b = pair(socket.AF_INET6, "::1")
        b.send(bytes(99)); a.shutdown(socket.SHUT_WR)
        l, a, b = pair(socket.AF_INET, "127.0.0.1")
        a.setblocking(False)
        try:
            while True: a.send(bytes(65536))
        except BlockingIOError: pass
        both = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True, backlog=7)
        c = socket.create_connection(("127.0.0.1", both.getsockname()[1])); d, _ = both.accept()
        e = socket.create_connection(("127.0.0.1", both.getsockname()[1]))
        k += [both, c, d, e]
        u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.bind(("127.0.0.1", 0))
        v = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); v.connect(u.getsockname()); v.send(bytes(500))
        w = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); w.bind(("::1", 0))
        k += [u, v, w]
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
            m, n = socket.socketpair(socket.AF_UNIX, kind)
            m.send(b"unread"); k += [m, n]
        p = socket.socket(socket.AF_UNIX); p.bind("\\0abstract name"); p.listen(3)
        q = socket.socket(socket.AF_UNIX); q.connect("\\0abstract name")
        k += [p, q]
        if os.fork() == 0:
            ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL
            signal.pause()
        print("ready", flush=True)
        signal.pause()
        """

    /// One socket, as both can tell it.
    private struct Line: Hashable {
        var kind: String
        var state: String
        var receiveQueue: Int64
        var sendQueue: Int64
        var localPort: String
        var peerPort: String
        var owners: Set<String>
    }

    @Test("each socket is listed once, with its state, its queues and its owners")
    func listing() throws {
        let program = try RunningProgram(["python3", "-c", Self.script])
        #expect(eventually { program.text.contains("ready") }, "\(program.text)")
        let observer = HostObserver(namespace: program.process)
        var (ours, theirs): ([Line], [Line]) = ([], [])
        // Acknowledgements may still be under way.
        let isEqual = try eventually {
            var look = try observer.look()
            observer.examine(&look, inodes: Set(look.sockets.map(\.inode)), reads: false)
            let answer = try ChildProcess.run(["nsenter", "-n", "-t", "\(program.process)", "ss", "-tuxanpHO"])
            ours = look.sockets.map { line($0, look) }
            theirs = answer.output.split(separator: "\n").compactMap { line(String($0)) }
            return counts(ours) == counts(theirs)
        }
        #expect(isEqual, "only ours: \(only(ours, theirs)), only theirs: \(only(theirs, ours))")
        #expect(theirs.count >= 25 && theirs.contains { $0.owners.count == 2 })
    }

    @Test("the ends of a connection name each other, in IPv4 also where one is an IPv6 socket; names are told")
    func pairing() throws {
        let program = try RunningProgram(["python3", "-c", Self.script])
        #expect(eventually { program.text.contains("ready") }, "\(program.text)")
        let observer = HostObserver(namespace: program.process)
        var look = try observer.look()
        var connected: [HostSocket] = []
        // Acknowledgements may still be under way.
        let isWhole = try eventually {
            look = try observer.look()
            connected = look.sockets.filter { $0.transport == .tcp && !$0.isListening }
            return connected.contains { $0.state == .closeWait } && connected.allSatisfy { $0.tcp?.received != nil }
        }
        #expect(isWhole && connected.count == 10)
        for socket in connected {
            #expect(connected.count { $0.local == socket.peer && $0.peer == socket.local } == 1, "\(socket)")
            #expect(socket.tcp?.received != nil && socket.memory != nil && socket.congestion != nil)
        }
        let half = connected.first { $0.state == .closeWait }
        #expect(half?.receiveQueue == 1 && half?.unread == 0 && half?.consumed == 0)
        #expect(look.sockets.contains { $0.local == .abstract(name: "abstract name") && $0.isListening })
        #expect(look.sockets.contains { $0.transport == .unixPacket && $0.unread ?? 0 > 0 && $0.peer == .unnamed })
        #expect(look.listenOverflows == 0)
        #expect(Set(look.sockets.map(\.id)).count == look.sockets.count)
    }

    private func line(_ socket: HostSocket, _ look: HostLook) -> Line {
        let kinds: [HostTransport: String] = [
            .tcp: "tcp", .udp: "udp", .unixStream: "u_str", .unixDatagram: "u_dgr", .unixPacket: "u_seq",
        ]
        let states: [HostState: String] = [
            .established: "ESTAB", .listening: "LISTEN", .closed: "UNCONN", .closeWait: "CLOSE-WAIT",
            .finWait2: "FIN-WAIT-2", .finWait1: "FIN-WAIT-1",
        ]
        let owners = look.owners[socket.inode, default: []].map { "\($0.process) \($0.descriptor)" }
        let isUnix = socket.transport.isUnix
        return Line(
            kind: kinds[socket.transport] ?? "", state: states[socket.state] ?? "\(socket.state)",
            receiveQueue: socket.receiveQueue ?? -1, sendQueue: socket.sendQueue ?? -1,
            localPort: isUnix ? "\(socket.inode)" : "\(socket.local?.port ?? 0)",
            peerPort: isUnix ? "\(socket.peerInode)" : socket.peer?.port.map { "\($0)" } ?? "*", owners: Set(owners))
    }

    /// `tcp ESTAB 0 0 127.0.0.1:1 127.0.0.1:2 users:(("python3",pid=1,fd=3))`
    private func line(_ text: String) -> Line? {
        let words = text.split(separator: " ").map(String.init)
        guard let process = words.firstIndex(where: { $0.hasPrefix("users:") }) ?? Optional(words.count),
            words.count >= 6,
            let receive = Int64(words[2]), let send = Int64(words[3])
        else { return nil }
        let owners = text.matches(of: /pid=([0-9]+),fd=([0-9]+)/).map { "\($0.output.1) \($0.output.2)" }
        let isUnix = words[0].hasPrefix("u_")
        func port(_ word: String) -> String { String(word.split(separator: ":").last ?? "") }
        // A name may hold spaces; the last words before the owners are the own inode, `*` and the peer's.
        let ends = words[..<process].filter { !$0.contains("=") && !$0.contains("<->") }
        return Line(
            kind: words[0], state: words[1], receiveQueue: receive, sendQueue: send,
            localPort: isUnix ? ends[ends.count - 3] : port(words[4]),
            peerPort: isUnix ? ends[ends.count - 1] : port(words[5]), owners: Set(owners))
    }

    private func counts(_ lines: [Line]) -> [Line: Int] { lines.reduce(into: [:]) { $0[$1, default: 0] += 1 } }

    private func only(_ a: [Line], _ b: [Line]) -> [Line] {
        let known = counts(b)
        return counts(a).filter { known[$0.key] != $0.value }.map(\.key)
    }
}
