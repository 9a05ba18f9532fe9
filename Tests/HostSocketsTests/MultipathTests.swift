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
        "a network namespace needs root, and the kernel Multipath TCP"), .timeLimit(.minutes(5))
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

    @Test("what it has not read is unread, once: one row for each end, and none after it was read")
    func unread() throws {
        let program = try RunningProgram(["python3", "-c", Self.script])
        #expect(eventually(within: .seconds(60)) { program.text.contains("ready") }, "\(program.text)")
        let observer = HostObserver(namespace: program.process)
        func readers(_ look: HostLook) -> [HostSocket] {
            look.sockets.filter { !$0.isListening && [7000, 7001].contains($0.peer?.port) }
        }
        #expect(
            try eventually(within: .seconds(60)) {
                let ends = readers(try observer.look())
                return ends.count == 2 && ends.allSatisfy { $0.unread ?? 0 >= 3_000 && $0.multipath != nil }
            })
        let former = try observer.look()
        kill(program.process, SIGUSR1)
        #expect(eventually(within: .seconds(60)) { program.text.contains("done") }, "\(program.text)")
        let look = try observer.look()
        #expect(readers(look).map(\.unread) == [0, 0] && look.sockets.count == former.sockets.count)
        #expect(look.changes?.told.isSuperset(of: readers(look).map(\.id)) == true)
    }
}
