import Glibc
import HostSockets
import SocketCore
import SocketTestSupport
import Testing

/// Programs in a network namespace of their own whose unread bytes are looked at without a pause while either end closes,
/// resets or goes away: they see what they see without a look. SOCKTUI_PEEK_ROUNDS sets how often each is tried.
@Suite(
    "Unread bytes of connections that end", .serialized,
    .enabled(if: geteuid() == 0, "a network namespace needs root"), .timeLimit(.minutes(20)))
struct PeekClosingTests {
    private static let variable = "SOCKTUI_PEEK_ROUNDS"
    private static let rounds = Rounds.of(variable, else: 50)
    /// From a close to its FIN.
    private static let limit = 0.05

    /// Each round makes a pair, of which `far` is looked at, waits, ends it, and prints the two ports, who closed, when,
    /// and what the program then saw.
    private static let script = """
        import ctypes, errno, fcntl, os, socket, struct, sys, time
        assert ctypes.CDLL(None).unshare(0x40000000) == 0, "unshare"
        probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        fcntl.ioctl(probe, 0x8914, struct.pack("16sH14x", b"lo", 0x1))
        listener = socket.create_server(("127.0.0.1", 0))
        def stream():
            near = socket.create_connection(listener.getsockname())
            return near, listener.accept()[0]
        def datagrams():
            ends = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
            for end in ends: end.bind(("127.0.0.1", 0))
            for end, other in zip(ends, ends[::-1]): end.connect(other.getsockname())
            return ends
        def sees(end):
            try: return "%d_bytes" % len(end.recv(10))
            except OSError as problem: return errno.errorcode[problem.errno]
        print("open", flush=True)
        for line in sys.stdin:
            kind = line.strip()
            near, far = datagrams() if kind == "unreachable" else stream()
            near.send(b"x")
            ports = near.getsockname()[1], far.getsockname()[1]
            print("ready", far.fileno(), os.fstat(far.fileno()).st_ino, flush=True)
            sys.stdin.readline()
            closer, seen = ports[0], []
            if kind == "program":
                seen, closer = [sees(far)], ports[1]
                began = time.time(); far.close(); seen.append(sees(near))
            else:
                if kind == "reset": near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                began = time.time(); near.close()
                if kind == "unreachable": far.send(b"y")
                seen = [sees(far), sees(far)]
            print("done", *ports, closer, "%.6f" % began, *seen, flush=True)
            near.close(); far.close()
        """

    /// One end of a round: from which port to which it was closed first, when, and what the program saw.
    private struct Ending {
        var ports: String
        var time: Double
        var seen: [String]
    }

    private final class Program {
        let peer: Peer
        private let observer: HostObserver
        private var looks = 0
        private var read = 0

        init() throws {
            peer = try Peer(["python3", "-c", PeekClosingTests.script])
            let peer = peer
            #expect(eventually { peer.output.starts(with: "open\n".utf8) }, "\(peer.complaints)")
            observer = HostObserver(namespace: peer.process)
            read = 5
        }

        /// The next line that it prints; `work` is done again and again until it is there.
        private func line(_ work: (() -> Void)? = nil) throws -> [String] {
            var line: ArraySlice<UInt8>?
            func isThere() -> Bool {
                let text = peer.output.dropFirst(read)
                line = text.firstIndex(of: 10).map { text[..<$0] }
                return line != nil
            }
            _ = eventually {
                for _ in 0..<20 where !isThere() { work?() }
                return isThere()
            }
            let found = try #require(line, "\(peer.complaints)")
            read = found.endIndex + 1
            return found.split(separator: 32).map { String(decoding: $0, as: UTF8.self) }
        }

        func round(_ kind: String, isPeeked: Bool) throws -> Ending {
            try peer.write("\(kind)\n")
            let ready = try line()
            let (descriptor, inode) = (try #require(Int32(ready[1])), try #require(UInt64(ready[2])))
            var socket: HostSocket?
            if isPeeked {
                let isFound = try eventually {
                    socket = try observer.look().sockets.first { $0.inode == inode && $0.receiveQueue ?? 0 > 0 }
                    return socket != nil
                }
                #expect(isFound)
            }
            func peek() {
                guard let socket else { return }
                let found = try? observer.peek(socket, process: peer.process, descriptor: descriptor)
                if found?.bytes.isEmpty == false { looks += 1 }
            }
            let before = looks
            peek()
            #expect(looks == before + (isPeeked ? 1 : 0))
            try peer.write("go\n")
            let done = try line(isPeeked ? peek : nil)
            let closer = done[3], other = done[1] == closer ? done[2] : done[1]
            return Ending(ports: "\(closer) \(other)", time: try #require(Double(done[4])), seen: Array(done[5...]))
        }
    }

    @Test(
        "the FIN of either end goes out when it closes, while unread bytes are looked at",
        .enabled(if: Peer.isUsable("tcpdump")))
    func end() throws {
        let program = try Program()
        let dump = try RunningProgram([
            "nsenter", "-n", "-t", "\(program.peer.process)", "tcpdump", "-i", "lo", "-tt", "-n", "-l",
            "--immediate-mode", "tcp[tcpflags] & tcp-fin != 0",
        ])
        #expect(eventually { dump.text.contains("listening on") }, "\(dump.text.suffix(500))")
        var endings: [Ending] = []
        for _ in 0..<Self.rounds {
            for (kind, seen) in [("peer", ["1_bytes", "0_bytes"]), ("program", ["1_bytes", "0_bytes"])] {
                let ending = try program.round(kind, isPeeked: true)
                #expect(ending.seen == seen, "\(kind)")
                endings.append(ending)
            }
        }
        var fins: [String: [Double]] = [:]
        let isComplete = eventually {
            fins = Self.fins(dump.text)
            return endings.allSatisfy { fins[$0.ports] != nil }
        }
        #expect(isComplete, "\(dump.text.suffix(500))")
        let delays = endings.compactMap { ending in
            fins[ending.ports]?.map { $0 - ending.time }.filter { $0 > -0.001 }.min()
        }.sorted()
        #expect(delays.count == endings.count)
        let worst = delays.last ?? 1
        Rounds.tell(
            Self.variable,
            "\(delays.count) FINs, median \(delays[delays.count / 2] * 1e6) us, 99th "
                + "\(delays[delays.count * 99 / 100] * 1e6) us, worst \(worst * 1e6) us")
        // A busy machine may keep a program from running between its clock and its close, the more so where other tests
        // run. A look that kept the socket open would make half of them late.
        let share = getenv(Self.variable) == nil ? 10 : 100
        #expect(delays.count { $0 > Self.limit } * share <= delays.count, "worst \(worst) s")
    }

    /// `1700000000.123456 IP 127.0.0.1.4567 > 127.0.0.1.33: Flags [F.], seq 1`, by the two ports.
    private static func fins(_ text: String) -> [String: [Double]] {
        var fins: [String: [Double]] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 5, let time = Double(words[0]), let from = words[2].split(separator: ".").last,
                let to = words[4].dropLast().split(separator: ".").last
            else { continue }
            fins["\(from) \(to)", default: []].append(time)
        }
        return fins
    }

    /// A look takes away what comes between its question for an error and itself; of a connection that has bytes it does
    /// not, since the kernel gives those first.
    @Test(
        "a reset, and that a port is unreachable, come to the program as without a look",
        arguments: ["reset", "unreachable"])
    func errors(_ kind: String) throws {
        let program = try Program()
        var (alone, watched): ([[String]: Int], [[String]: Int]) = ([:], [:])
        for _ in 0..<Self.rounds {
            alone[try program.round(kind, isPeeked: false).seen, default: 0] += 1
            watched[try program.round(kind, isPeeked: true).seen, default: 0] += 1
        }
        Rounds.tell(Self.variable, "\(kind): alone \(alone), watched \(watched)")
        let usual = try #require(alone.max { $0.value < $1.value })
        let same = watched[usual.key] ?? 0
        // What answers a datagram may come a moment after the call that sent it, with a look or without.
        let least = kind == "reset" ? Self.rounds : Self.rounds - max(2, Self.rounds / 50)
        #expect(usual.value >= least && same >= least, "\(alone) \(watched)")
    }
}
