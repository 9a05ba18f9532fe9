import Glibc
import HostSockets
import SocketTestSupport

/// A Python program of which each thread waits in one call. It writes a line for each: the call's name, the descriptor,
/// and what else is known; and `ready` at the end.
enum Asking {
    /// Whether calls of other programs may be read here (ptrace_scope of the Yama module).
    static var isAllowed: Bool {
        let scope = try? HostSystem.live.read("/proc/sys/kernel/yama/ptrace_scope", 0, 1)
        return geteuid() == 0 || scope == nil || scope == [UInt8(ascii: "0")]
    }

    struct NotReady: Error { var text: String }

    static let script = """
        import ctypes, os, select, socket, struct, threading
        libc = ctypes.CDLL(None)
        # Blocks for good; Python's own functions poll first where a timeout is set.
        def start(name, descriptor, extra, body):
            print(name, descriptor, *extra, flush=True)
            threading.Thread(target=body, daemon=True).start()
        def pair():
            listener = socket.create_server(("127.0.0.1", 0))
            near = socket.create_connection(listener.getsockname())
            far = listener.accept()[0]
            kept.extend([listener, near, far])
            return near, far
        kept = []
        big = bytes(64 << 20)
        a, b = pair()
        start("recv", a.fileno(), [4321], lambda: a.recv(4321))
        c, d = pair()
        start("waitall", c.fileno(), [1000], lambda: c.recv(1000, socket.MSG_WAITALL))
        e, f = pair()
        start("send", e.fileno(), [len(big)], lambda: libc.send(e.fileno(), big, ctypes.c_size_t(len(big)), 0))
        g, h = pair()
        start("recvmsg", g.fileno(), [777], lambda: g.recvmsg(777))
        i, j = pair()
        start("writev", i.fileno(), [2 * len(big)], lambda: os.writev(i.fileno(), [big, big]))
        k, l = pair()
        def poll():
            p = select.poll(); p.register(k, select.POLLIN); p.register(l, select.POLLPRI); p.poll()
        start("poll", k.fileno(), [l.fileno()], poll)
        m, n = pair()
        start("select", m.fileno(), [], lambda: select.select([m], [], []))
        o, p = pair()
        sets = select.epoll(); sets.register(o, select.EPOLLIN | select.EPOLLET); sets.register(p, select.EPOLLIN)
        start("epoll_wait", sets.fileno(), [o.fileno(), p.fileno()], lambda: sets.poll())
        q = socket.create_server(("127.0.0.1", 0))
        start("accept4", q.fileno(), [], lambda: q.accept())
        r, s = socket.socketpair()
        start("read", r.fileno(), [55], lambda: os.read(r.fileno(), 55))
        t = os.pipe()
        start("futex", -1, [], lambda: threading.Event().wait())
        print("ready", flush=True)
        threading.Event().wait()
        """

    /// What it said of itself.
    struct Line {
        var name: String
        var descriptor: Int32
        var numbers: [Int]
    }

    /// Starts it and waits until all its threads were told to begin.
    static func start(_ prefix: [String] = []) throws -> (program: RunningProgram, lines: [Line]) {
        let program = try RunningProgram(prefix + ["python3", "-c", script])
        guard eventually({ program.text.contains("ready\n") }) else {
            throw NotReady(text: program.text)
        }
        let lines = program.text.split(separator: "\n").compactMap { line -> Line? in
            let words = line.split(separator: " ")
            guard words.count > 1, let descriptor = Int32(words[1]) else { return nil }
            return Line(
                name: String(words[0]), descriptor: descriptor, numbers: words.dropFirst(2).compactMap { Int($0) })
        }
        return (program, lines)
    }
}
