import Glibc
import HostSockets
import SocketCore
import SocketTestSupport
import Testing

/// Programs that use Multipath TCP, as servers in Go do: their data waits where the tables of TCP do not show it.
@Suite(
    "Multipath TCP",
    .enabled(
        if: geteuid() == 0 && access("/proc/sys/net/mptcp/enabled", F_OK) == 0,
        "a network namespace needs root, and the kernel Multipath TCP"), .timeLimit(.minutes(10))
)
struct MultipathTests {
    /// A connection by Multipath TCP, and a client whose server does not speak it. The clients read when they are told to.
    private static let script = """
        import ctypes, fcntl, signal, socket, struct
        assert ctypes.CDLL(None).unshare(0x40000000) == 0, "unshare"
        probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        fcntl.ioctl(probe, 0x8914, struct.pack("16sH14x", b"lo", 0x1))
        def multipath(): return socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
        a = multipath(); a.bind(("127.0.0.1", 7000)); a.listen()
        b = socket.create_server(("127.0.0.1", 7001))
        c = multipath(); c.connect(("127.0.0.1", 7000)); d, _ = a.accept()
        e = multipath(); e.connect(("127.0.0.1", 7001)); f, _ = b.accept()
        d.sendall(bytes(5000)); f.sendall(bytes(3000))
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
        print("ready", flush=True)
        signal.sigwait({signal.SIGUSR1})
        for s, n in ((c, 5000), (e, 3000)):
            while n: n -= len(s.recv(n))
        print("done", flush=True)
        signal.pause()
        """

    @Test("what it has not read is unread, once: one row per end, and none after it was read")
    func unread() throws {
        let program = try RunningProgram(["python3", "-c", Self.script])
        #expect(eventually { program.text.contains("ready") }, "\(program.text)")
        let observer = HostObserver(namespace: program.process)
        func readers(_ look: HostLook) -> [HostSocket] {
            look.sockets.filter { !$0.isListening && [7000, 7001].contains($0.peer?.port) }
        }
        #expect(
            try eventually {
                let ends = readers(try observer.look())
                return ends.count == 2 && ends.allSatisfy { $0.unread ?? 0 >= 3_000 && $0.multipath != nil }
            })
        let former = try observer.look()
        kill(program.process, SIGUSR1)
        #expect(eventually { program.text.contains("done") }, "\(program.text)")
        var (look, told) = (former, Set<UInt64>())
        #expect(
            try eventually {
                look = try observer.look()
                told.formUnion(look.changes?.told ?? [])
                return readers(look).map(\.unread) == [0, 0]
            })
        #expect(look.sockets.count == former.sockets.count && told.isSuperset(of: readers(look).map(\.id)))
    }

    /// A connection of two subflows, and what it does when it is told to.
    private static func joined(_ act: String = "") -> String {
        """
        import ctypes, os, signal, socket
        assert ctypes.CDLL(None).unshare(0x40000000) == 0, "unshare"
        for command in ("link set lo up", "addr add 127.0.0.2/8 dev lo", "mptcp limits set subflow 2 add_addr_accepted 2",
                        "mptcp endpoint add 127.0.0.2 dev lo subflow"):
            assert os.system("ip " + command) == 0, command
        def multipath(): return socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
        a = multipath(); a.bind(("127.0.0.1", 7000)); a.listen()
        c = multipath(); c.connect(("127.0.0.1", 7000)); d, _ = a.accept()
        c.sendall(b"hello"); d.recv(5); d.sendall(b"hello"); c.recv(5)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
        print("ready", flush=True)
        signal.sigwait({signal.SIGUSR1})
        \(act)
        c.sendall(bytes(5000))
        signal.pause()
        """
    }

    @Test("a connection of several subflows is one row per end", .enabled(if: Peer.isUsable("ip")))
    func joined() throws {
        let program = try RunningProgram(["python3", "-c", Self.joined()])
        #expect(eventually { program.text.contains("ready") }, "\(program.text)")
        let observer = HostObserver(namespace: program.process)
        var look = try observer.look()
        func ends() -> [HostSocket] { look.sockets.filter { !$0.isListening && $0.transport == .tcp } }
        // The second subflow is made when the first has carried data.
        let isJoined = try eventually {
            look = try observer.look()
            return ends().count == 2 && ends().allSatisfy { $0.multipath?.others.count == 1 }
        }
        #expect(isJoined, "\(ends())")
        let first = SocketAddress.v4(host: "127.0.0.1", port: 7000)
        let client = try #require(ends().first { $0.peer == first })
        let server = try #require(ends().first { $0.local == first })
        #expect(client.local == server.peer && client.local?.host == "127.0.0.1")
        #expect(client.multipath?.others.first?.local?.host == "127.0.0.2")
        #expect(client.sentBytes == 5 && server.receivedBytes == 5 && server.sentBytes == 5)
        #expect(look.sockets.allSatisfy { look.socket($0.id) == $0 })
        kill(program.process, SIGUSR1)
        #expect(
            try eventually {
                look = try observer.look()
                return look.socket(server.id)?.unread ?? 0 >= 5_000 && look.socket(server.id)?.receivedBytes == 5_005
            })
        #expect(ends().count == 2 && look.changes?.told.isSubset(of: ends().map(\.id)) == true)
    }

    /// Ends the first subflow on both sides. Says so, unless this kernel cannot.
    private static let endsFirst =
        "os.system('ss -K \"src 127.0.0.1 and dst 127.0.0.1\" > /dev/null 2>&1'); "
        + "print('kept' if os.system('ss -Htn src 127.0.0.1 and dst 127.0.0.1 | grep -q ESTAB') == 0 else 'ended', "
        + "flush=True)"

    @Test("a connection keeps its row when its first subflow ends", .enabled(if: Peer.isUsable("ip")))
    func firstEnds() throws {
        let program = try RunningProgram(["python3", "-c", Self.joined(Self.endsFirst)])
        #expect(eventually { program.text.contains("ready") }, "\(program.text)")
        let observer = HostObserver(namespace: program.process)
        var look = try observer.look()
        func ends() -> [HostSocket] { look.sockets.filter { !$0.isListening && $0.transport == .tcp } }
        let isJoined = try eventually {
            look = try observer.look()
            return ends().count == 2 && ends().allSatisfy { $0.multipath?.others.count == 1 }
        }
        #expect(isJoined, "\(ends())")
        let former = Set(ends().map(\.id))
        kill(program.process, SIGUSR1)
        let isTold = eventually {
            program.text.contains("ended") || program.text.contains("kept")
        }
        #expect(isTold, "\(program.text)")
        guard program.text.contains("ended") else { return }
        var closings: [UInt64] = []
        let isRead = try eventually {
            look = try observer.look()
            closings += look.closings.map(\.id)
            return Set(ends().map(\.id)) == former && ends().allSatisfy { $0.multipath?.others.isEmpty == true }
                && ends().contains { $0.unread ?? 0 >= 5_000 }
        }
        #expect(isRead, "\(ends())")
        #expect(former.isDisjoint(with: closings) && look.sockets.allSatisfy { look.socket($0.id) == $0 })
        #expect(look.changes?.gone.isDisjoint(with: former) == true)
    }
}
