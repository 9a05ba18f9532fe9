import SocketTestSupport
import Testing

/// Hosts made of namespaces: each has its own network, processes, mounts and name, and a program whose connection fills
/// up, because neither end reads. They are gone when nobody holds this.
final class FleetHosts {
    /// The first process of each host, by name.
    private(set) var processes: [String: String] = [:]
    private let program: RunningProgram

    static let need = "namespaces need root, ip, nsenter and unshare"
    static var isPossible: Bool { NamespacePair.isPossible && Peer.isUsable("python3", "unshare", "nsenter") }

    /// Arguments: pairs of hosts, as `web:50000000-db:50000000`, with what each end writes. The first of a pair listens
    /// at 10.9.0.1:9100, the second connects from 10.9.0.2:40001. Prints `NAME PID` for each host, then `ready`.
    private static let script = #"""
        import ctypes, os, signal, subprocess, sys
        INNER = r"""
        import socket, sys
        name, amount = sys.argv[1], int(sys.argv[2])
        socket.sethostname(name)
        print("up", flush=True)
        role = sys.stdin.readline().strip()
        if role == "listen":
            listener = socket.create_server(("10.9.0.1", 9100))
            print("listening", flush=True)
            far, _ = listener.accept()
        else:
            far = socket.create_connection(("10.9.0.1", 9100), source_address=("10.9.0.2", 40001))
        print("connected", flush=True)
        far.sendall(bytes(amount))
        sys.stdin.read()
        """
        libc = ctypes.CDLL(None)
        os.closerange(3, 4096)  # what tests beside this one have open without O_CLOEXEC
        def run(*words): subprocess.run(words, check=True)
        def host(text):
            name, amount = text.split(":")
            words = ["unshare", "--net", "--pid", "--uts", "--mount", "--mount-proc", "--fork", "--kill-child"]
            p = subprocess.Popen(words + [sys.executable, "-c", INNER, name, amount], stdin=-1, stdout=-1, text=True,
                                 preexec_fn=lambda: libc.prctl(1, signal.SIGKILL))
            assert p.stdout.readline() == "up\n"
            pid = open(f"/proc/{p.pid}/task/{p.pid}/children").read().split()[0]
            print(name, pid, flush=True)
            return p, pid
        def up(pid, name, address):
            enter = ["nsenter", "-t", pid, "-n"]
            run(*enter, "ip", "addr", "add", address + "/24", "dev", name)
            run(*enter, "ip", "link", "set", name, "up")
            run(*enter, "ip", "link", "set", "lo", "up")
        kept = []
        for number, pair in enumerate(sys.argv[1:]):
            (near, one), (far, other) = [host(text) for text in pair.split("-")]
            run("ip", "link", "add", "fa", "netns", one, "type", "veth", "peer", "name", "fb", "netns", other)
            up(one, "fa", "10.9.0.1"); up(other, "fb", "10.9.0.2")
            near.stdin.write("listen\n"); near.stdin.flush()
            assert near.stdout.readline() == "listening\n"
            far.stdin.write("connect\n"); far.stdin.flush()
            assert near.stdout.readline() == far.stdout.readline() == "connected\n"
            kept += [near, far]
        print("ready", flush=True)
        while True: signal.pause()
        """#

    init(_ pairs: String...) throws {
        let program = try RunningProgram(["python3", "-c", Self.script] + pairs)
        self.program = program
        let isReady = eventually(within: .seconds(120)) { program.text.hasSuffix("ready\n") }
        try #require(isReady, "\(program.text)")
        for line in program.text.split(separator: "\n").dropLast() {
            let words = line.split(separator: " ").map(String.init)
            if words.count == 2 { processes[words[0]] = words[1] }
        }
    }

    /// The option by which a host is reached.
    func through(_ name: String) -> [String] {
        ["--through", "\(name)=nsenter -t \(processes[name] ?? "0") -n -p -m -u \(Program.path) agent"]
    }
}
