import Glibc
import SocketTestSupport
import Testing

/// A program that talks over loopback in a network namespace of its own: each line that it is told makes it talk.
final class TalkingNamespace {
    let peer: Peer

    private static let script = """
        import os, signal, socket, struct, subprocess, sys
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        def pattern(count, seed): return bytes((i * seed + (i >> 8)) % 251 for i in range(count))
        def pair():
            listener = socket.create_server(("127.0.0.1", 7100)); near = socket.socket()
            near.bind(("127.0.0.1", 7101)); near.connect(("127.0.0.1", 7100))
            far = listener.accept()[0]; listener.close()
            return near, far
        def pump(source, sink, data):
            done = 0
            while done < len(data):
                source.sendall(data[done:done + 16384]); got = 0
                while got < min(16384, len(data) - done): got += len(sink.recv(65536))
                done += 16384
        kept = []
        print("ready", flush=True)
        for line in sys.stdin:
            if line == "talk\\n":
                near, far = pair(); pump(near, far, pattern(300000, 7)); pump(far, near, pattern(200000, 11))
                near.shutdown(1); far.recv(1); far.close(); near.recv(1); near.close()
            elif line == "hold\\n":
                near, far = pair(); near.sendall(b"not read"); kept += [near, far]
            elif line == "datagram\\n":
                a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); a.bind(("127.0.0.1", 0))
                b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); b.connect(a.getsockname())
                b.send(b"question"); a.sendto(b"answer", a.recvfrom(100)[1]); b.recv(100); kept += [a, b]
            elif line == "flood\\n":
                near, far = pair(); pump(near, far, bytes(96 << 20)); near.close(); far.close()
            print("did", line, end="", flush=True)
        """

    static func pattern(_ count: Int, _ seed: Int) -> [UInt8] {
        (0..<count).map { UInt8(($0 * seed + ($0 >> 8)) % 251) }
    }

    init() throws {
        peer = try Peer(["unshare", "-n", "python3", "-c", Self.script])
        try #require(eventually { self.peer.text.contains("ready") }, "\(peer.complaints)")
    }

    func tell(_ word: String) throws {
        try peer.write(word + "\n")
        try #require(eventually { self.peer.text.contains("did \(word)\n") })
    }

    /// A command line in it.
    func inside(_ words: String...) -> [String] { ["nsenter", "-n", "-t", "\(peer.process)"] + words }
}

@Suite("Capturing", .timeLimit(.minutes(10)))
struct CaptureTests {
    static let isRoot = NamespacePair.isPossible

    /// Ends a program as ^C does and waits for it.
    private static func end(_ program: Peer) throws {
        kill(program.process, SIGINT)
        try #require(eventually { program.hasEnded }, "\(program.complaints)")
    }

    private static func listening(_ word: String, on peer: Peer) -> Bool {
        eventually { peer.complaints.contains(word) }
    }

    @Test(
        "each packet is shown and recorded once, as tcpdump has it, and the bytes are those that were sent",
        .enabled(if: isRoot && Peer.isUsable("python3", "tcpdump", "tshark", "capinfos"), "\(NamespacePair.need)"))
    func conversation() throws {
        let talk = try TalkingNamespace()
        let (ours, theirs) = try ("\(Program.folder())/ours.pcapng", "\(Program.folder())/theirs.pcap")
        let program = try Peer(talk.inside(Program.path, "capture", "--json", "--record", ours))
        // Its usual buffer has room for eight packets of this size.
        let tcpdump = try Peer(
            talk.inside(
                "tcpdump", "-i", "lo", "-Z", "root", "-B", "65536", "--immediate-mode", "-U", "-w", theirs))
        try #require(Self.listening("listening on lo", on: tcpdump))
        try #require(eventually { program.text.contains(#""type":"program""#) }, "\(program.complaints)")
        try talk.tell("talk")
        try talk.tell("datagram")
        func events() -> [String] { (try? Report(program.text).events(of: 1)) ?? [] }
        try #require(eventually { events().contains("closed") && program.text.contains("datagrams_received") })
        try Self.end(program)
        // Where it is ended, tcpdump forgets what it has not read.
        let mine = try Self.packets(ours)
        try #require(eventually { (try? Self.packets(theirs).count) ?? 0 >= mine.count })
        try Self.end(tcpdump)
        let report = try Report(program.text)
        let stream = try #require(report.sockets.first)
        #expect(stream["sent_bytes"].number == 300_000 && stream["received_bytes"].number == 200_000)
        #expect(stream["phase"].string == "closed" && report.sockets.count == 2)
        // What tcpdump saw at the same time, packet by packet.
        let reference = try Self.packets(theirs)
        #expect(mine == reference && mine.count > 40, "\(mine.count) of \(reference.count)")
        for (side, bytes) in [
            ("client", TalkingNamespace.pattern(300_000, 7)), ("server", TalkingNamespace.pattern(200_000, 11)),
        ] {
            let raw = "\(try Program.folder())/raw"
            let outcome = try Program.run("export", ours, "port:7100", "--as", "raw", "--side", side, "-o", raw)
            #expect(outcome.status == 0, "\(outcome)")
            #expect(try Self.bytes(raw) == bytes, "\(side)")
        }
        for words in [["capinfos", ours], ["tshark", "-r", ours, "-q", "-z", "expert,warn"]] {
            let outcome = try ChildProcess.run(words)
            #expect(outcome.status == 0, "\(outcome)")
        }
    }

    /// What a file has so far, one line a packet, without times.
    private static func packets(_ file: String) throws -> [Substring] {
        let outcome = try ChildProcess.run(["tcpdump", "-t", "-S", "-n", "-x", "-r", file])
        return outcome.output.split(separator: "\n").filter { $0.hasPrefix("IP") }
    }

    private static func bytes(_ path: String) throws -> [UInt8] {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes.prefix(count))
    }

    @Test(
        "both ends name their programs, and what was not read is told",
        .enabled(if: isRoot && Peer.isUsable("python3"), "\(NamespacePair.need)"))
    func owners() throws {
        let talk = try TalkingNamespace()
        let program = try Peer(talk.inside(Program.path, "capture", "-i", "lo", "port", "7100", "--json"))
        try #require(eventually { program.text.contains(#""type":"program""#) }, "\(program.complaints)")
        try talk.tell("hold")
        let process = Double(talk.peer.process)
        func ends() -> Value { (try? Report(program.text).sockets.first)??["ends"] ?? .null }
        #expect(
            eventually {
                let (client, server) = (ends()["client"], ends()["server"])
                return client["host"]["process"].number == process && server["host"]["process"].number == process
                    && server["host"]["unread_bytes"].number == 8 && client["host"]["unread_bytes"].number == 0
            }, "\(ends())")
        try Self.end(program)
    }

    @Test(
        "what the kernel has no room for is counted: in the report, in the file, and at the end",
        .enabled(if: isRoot && Peer.isUsable("python3"), "\(NamespacePair.need)"))
    func drops() throws {
        let talk = try TalkingNamespace()
        let file = "\(try Program.folder())/r.pcapng"
        let program = try Peer(talk.inside(Program.path, "capture", "--json", "--record", file, "--snaplen", "0"))
        try #require(eventually { program.text.contains(#""type":"program""#) }, "\(program.complaints)")
        kill(program.process, SIGSTOP)
        try talk.tell("flood")
        kill(program.process, SIGCONT)
        func dropped() -> Double {
            (try? Report(program.text).lines("program").last)??["dropped_packets"].number ?? 0
        }
        try #require(eventually { dropped() > 0 }, "\(program.complaints)")
        try Self.end(program)
        #expect(program.complaints.contains("packets lost by the kernel"), "\(program.complaints)")
        let opened = try Program.run("open", file, "--json")
        #expect(opened.output.contains("packets or operations not recorded"), "\(opened)")
        var status = stat()
        #expect(stat(file, &status) == 0 && status.st_size < 2 << 20, "no payload is kept: \(status.st_size)")
    }

    @Test("without the right it says which one, and how to get it")
    func refused() throws {
        let drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all"]
        let outcome = try ChildProcess.run((geteuid() == 0 ? drop : []) + [Program.path, "capture", "--once"])
        #expect(outcome.status == 1 && outcome.output.isEmpty, "\(outcome)")
        for words in ["CAP_NET_RAW", "sudo socktui capture", "sudo setcap cap_net_raw+ep /"] {
            #expect(outcome.errors.contains(words), "\(outcome)")
        }
    }

    @Test("a filter and an interface that are none are named, with what would be right, whoever asks")
    func mistakes() throws {
        let interface = try Program.run("capture", "-i", "wrong0", "--once")
        #expect(interface.status == 1)
        #expect(interface.errors.hasPrefix("socktui: capture: wrong0 is not an interface; write one of "))
        #expect(interface.errors.contains(" lo ") || interface.errors.contains("of lo"), "\(interface)")
        let filter = try Program.run("capture", "prot", "6379")
        #expect(filter.status == 1 && filter.errors.hasPrefix("socktui: capture: prot 6379: "), "\(filter)")
        #expect(filter.errors.contains("write a tcpdump filter, such as port 6379"), "\(filter)")
    }

    @Test(
        "the screen has both ends; q ends at once, and so does a signal, with the terminal as it was",
        .enabled(if: isRoot && Tmux.isUsable && Peer.isUsable("python3"), "\(NamespacePair.need)"))
    func screen() throws {
        let talk = try TalkingNamespace()
        try talk.tell("hold")
        for way in ["q", "TERM"] {
            let folder = try Program.folder()
            let enter = talk.inside().joined(separator: " ")
            let script = """
                stty -g > \(folder)/before; \(enter) \(Program.path) capture; echo "ended $?"; stty -g > \(folder)/after
                cmp -s \(folder)/before \(folder)/after && echo settings kept; exec cat
                """
            let tmux = try Tmux(script, environment: Program.environment(folder))
            try #require(try tmux.waitFor("no traffic yet"), tmux.picture)
            try talk.tell("datagram")
            #expect(try tmux.waitFor("python3[\(talk.peer.process)]"), tmux.picture)
            #expect(try tmux.text().contains("SERVER"), tmux.picture)
            try tmux.resize(50, 12)
            #expect(try tmux.waitFor("ADDRESS"), tmux.picture)
            if way == "q" {
                try tmux.keys("q")
                try tmux.expectEnd(status: 0)
            } else {
                let outcome = try ChildProcess.run(["pkill", "-TERM", "-f", "^\(Program.path) capture$"])
                #expect(outcome.status == 0)
                try tmux.expectEnd(status: 143)
            }
        }
    }

    @Test(
        "under sudo no file is written, and standard output is",
        .enabled(if: isRoot && Peer.isUsable("python3"), "\(NamespacePair.need)"))
    func sudo() throws {
        let folder = try Program.folder()
        var environment = Program.environment(folder)
        environment["SUDO_UID"] = "65534"
        let file = try ChildProcess.run(
            [Program.path, "capture", "--once", "--record", "\(folder)/r"], environment: environment)
        #expect(file.status == 2 && file.errors.contains("--record: files and editors are off under sudo"), "\(file)")
        #expect(access("\(folder)/r", F_OK) != 0)
        let stream = try ChildProcess.run(
            ["unshare", "-n", "sh", "-c", "ip link set lo up; exec \"$0\" capture --record - --for 1", Program.path],
            environment: environment)
        #expect(stream.status == 0 && stream.output.contains("packets as they were captured"), "\(stream)")
    }
}
