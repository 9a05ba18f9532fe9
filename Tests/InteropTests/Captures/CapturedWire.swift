import Glibc
import SocketTestSupport

/// Two network namespaces of the test's own that a pair of virtual Ethernet devices connects, with tcpdump in both: one
/// sends, the other receives.
struct CapturedWire {
    static let need = "network namespaces need root, ip, python3 and tcpdump"
    static var isPossible: Bool {
        Peer.areRequired || NamespacePair.isPossible && Peer.isUsable("ip", "python3", "tcpdump", "tshark")
    }

    private let folder: TemporaryFolder
    /// As the one end saw it, the other end, and the other end by its device `any`.
    var near: String { folder.path + "/near" }
    var far: String { folder.path + "/far" }
    var any: String { folder.path + "/any" }

    /// Sends frames as they are from one end to the other.
    init(sending frames: [[UInt8]]) throws {
        folder = try TemporaryFolder()
        let digits = frames.map { $0.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
        let path = folder.path + "/frames"
        let text = digits.joined(separator: "\n")
        guard let file = fopen(path, "w"), fputs(text, file) >= 0, fclose(file) == 0 else { throw Unusable(path: path) }
        try run("frames", path)
    }

    /// Talks over TCP, both ways, while a rule of nft drops every `part`th packet that one side (`client` or `server`)
    /// receives.
    init(losing part: Int, at side: String, bytes: Int) throws {
        folder = try TemporaryFolder()
        try run("talk", "\(bytes)", side, "\(part)")
    }

    private func run(_ words: String...) throws {
        let outcome = try ChildProcess.run(
            ["python3", "-c", Self.script, folder.path] + words)
        guard outcome.status == 0 else { throw Failed(outcome: outcome) }
    }

    struct Failed: Error { var outcome: ChildProcess.Outcome }

    /// A byte of what both ends of `talk` send.
    static func truth(_ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: index &* 167 &+ index >> 8) }

    private static let script = """
        import os, select, signal, socket, subprocess, sys, time
        from ctypes import CDLL
        libc = CDLL(None)
        folder, mode, rest = sys.argv[1], sys.argv[2], sys.argv[3:]
        os.environ["PATH"] += ":/usr/sbin:/sbin"
        def run(*words, text=None): subprocess.run(words, check=True, input=text, text=True)
        def truth(count): return bytes((i * 167 + (i >> 8)) & 255 for i in range(count))
        def enter():
            assert libc.unshare(0x40000000) == 0, "unshare"
            for name in ("all", "default"):
                try: open(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6", "w").write("1")
                except OSError: pass
            run("ip", "link", "set", "lo", "up")
        def capture(name, device, *words):
            dump = subprocess.Popen(["tcpdump", "-Z", "root", "-n", "-i", device, "-B", "16384", "-U",
                "-w", f"{folder}/{name}", *words], stderr=subprocess.PIPE,
                preexec_fn=lambda: libc.prctl(1, 9))
            line = b""
            while b"listening on" not in line:
                line = dump.stderr.readline()
                assert line, "tcpdump ended"
            return dump
        def finish(dump, name):
            while b"THE END OF THE TEST" not in open(f"{folder}/{name}", "rb").read(): select.select([], [], [], .01)
            dump.send_signal(signal.SIGINT); dump.wait()
        def up(name, address):
            if mode == "talk": run("ip", "addr", "add", address + "/24", "dev", name)
            run("ip", "link", "set", name, "up")
        def lose(side):
            if mode == "talk" and rest[1] == side:
                run("nft", "-f", "-", text=f'''table ip t {{
                    chain c {{ type filter hook input priority 0; meta l4proto tcp numgen inc mod {rest[2]} == 3 drop; }}
                }}
                ''')
        def exchange(stream, mine, theirs):
            stream.setblocking(False)
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sent, got, deadline = 0, b"", time.time() + 90
            while sent < len(mine) or len(got) < len(theirs):
                assert time.time() < deadline, f"{sent} of {len(mine)}, {len(got)} of {len(theirs)}"
                try: sent += stream.send(mine[sent:sent + 700])
                except BlockingIOError: pass
                if len(got) == len(theirs): continue
                try:
                    part = stream.recv(65536)
                    assert part
                    got += part
                except BlockingIOError: select.select([stream], [], [], .0005)
            assert got == theirs
            stream.setblocking(True); stream.shutdown(socket.SHUT_WR); assert stream.recv(1) == b""
        def last(device):
            raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); raw.bind((device, 0x88B5))
            raw.send(bytes(12) + b"\\x88\\xb5" + b"THE END OF THE TEST" + bytes(40))
        enter()
        (down_in, down), (up_in, there) = os.pipe(), os.pipe()
        child = os.fork()
        if child == 0:
            libc.prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL
            try:
                enter()
                os.write(there, b"1"); os.read(down_in, 1)
                up("vb", "10.9.0.2"); lose("server")
                far, all = capture("far", "vb"), capture("any", "any", "-y", "LINUX_SLL2")
                listener = socket.create_server(("10.9.0.2", 9000)) if mode == "talk" else None
                os.write(there, b"2")
                if listener: exchange(listener.accept()[0], truth(int(rest[0]) // 2), truth(int(rest[0])))
                finish(far, "far"); finish(all, "any")
                os.read(down_in, 1)  # the device goes with this namespace
                os._exit(0)
            except BaseException as problem:
                print(problem, file=sys.stderr, flush=True)
                os._exit(1)
        assert os.read(up_in, 1)
        run("ip", "link", "add", "va", "type", "veth", "peer", "name", "vb", "netns", str(child))
        up("va", "10.9.0.1"); lose("client")
        os.write(down, b"1"); os.close(there); assert os.read(up_in, 1), "the other end did not begin"
        near = capture("near", "va")
        if mode == "talk":
            exchange(socket.create_connection(("10.9.0.2", 9000)), truth(int(rest[0])), truth(int(rest[0]) // 2))
        else:
            raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); raw.bind(("va", 0))
            for line in open(rest[0]): raw.send(bytes.fromhex(line))
        last("va")
        finish(near, "near")
        os.write(down, b"1")
        sys.exit(os.waitpid(child, 0)[1] >> 8)
        """
}
