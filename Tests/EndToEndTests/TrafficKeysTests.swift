import Glibc
import SocketTestSupport
import Testing

@Suite(
    "Keys of the traffic", .enabled(if: Tmux.isUsable && Peer.isUsable("nc"), "tmux or nc is missing"),
    .timeLimit(.minutes(10)))
struct TrafficKeysTests {
    /// The program with one connection, whose other end is nc.
    private func conversation(_ options: String = "") throws -> (Inspection, Peer) {
        let (inspection, port) = try Peer.listening(options)
        let peer = try Peer(["nc", "127.0.0.1", "\(port)"])
        try inspection.write()
        return (inspection, peer)
    }

    private func text(_ peer: Peer) -> String { String(decoding: peer.output, as: UTF8.self) }

    @Test("Alt-t: escapes with macros, then hex; what it comes to stands below")
    func modes() throws {
        let (inspection, peer) = try conversation()
        try inspection.tmux.keys("M-t")
        try inspection.wait(for: "escapes (Alt-t)")
        try inspection.tmux.type("${len8:ab}${seq}${rand:3}")
        try inspection.wait(for: "= 7 bytes + CRLF   02 61 62 31 ?? ?? ?? 0D 0A")
        try inspection.tmux.keys("Enter")
        #expect(eventually { peer.output.count == 9 && peer.output.starts(with: [2, 0x61, 0x62, 0x31]) })
        try inspection.tmux.keys("M-t")
        try inspection.wait(for: "hex (Alt-t)")
        try inspection.send("0x00, ff 0a # three")
        #expect(eventually { peer.output.suffix(3) == [0, 0xFF, 0x0A] })
        try inspection.tmux.type("0g")
        try inspection.wait(for: "column 1")
    }

    @Test("A file goes out whole, and its size stands below")
    func file() throws {
        let (inspection, peer) = try conversation()
        let folder = try TemporaryFolder()
        let text = (0..<300_000).map { "\($0)\n" }.joined()
        folder.write(text, to: "big.txt")
        try inspection.tmux.keys("M-t", "M-t", "M-t")
        try inspection.wait(for: "file (Alt-t)")
        try inspection.tmux.type(folder.path + "/big.tx")
        try inspection.wait(for: "No such file or directory")
        try inspection.tmux.type("t")
        try inspection.wait(for: "= \(text.utf8.count) bytes")
        try inspection.tmux.keys("Enter")
        #expect(eventually { peer.output.count == text.utf8.count })
        #expect(peer.output == Array(text.utf8))
        try inspection.wait(for: "sent big.txt")
    }

    @Test("Alt-r repeats a line until it is pressed again")
    func pace() throws {
        let (inspection, peer) = try conversation()
        try inspection.tmux.keys("M-r")
        try inspection.wait(for: "pacing of")
        try inspection.tmux.type("50ms")
        try inspection.tmux.keys("Enter")
        try inspection.wait(for: "again every 50ms")
        try inspection.tmux.keys("M-t")
        try inspection.send("tick ${seq}")
        #expect(eventually { text(peer).hasPrefix("tick 1\r\ntick 2\r\ntick 3\r\n") })
        try inspection.tmux.keys("M-r")
        try inspection.wait(for: "stopped sending a message")
    }

    @Test("d cancels one queued read, and the one behind it takes the bytes")
    func operations() throws {
        let (inspection, peer) = try conversation("--no-read")
        try inspection.tmux.keys("Escape")
        for length in ["4", "2"] {
            try inspection.wait(for: "r read")
            try inspection.tmux.keys("r", "l", "Tab")
            try inspection.tmux.type(length)
            try inspection.tmux.keys("Enter")
            try inspection.wait(for: length == "4" ? "length 0/4" : "+1 queued")
        }
        try inspection.tmux.keys("d")
        try inspection.wait(for: "queued on #")
        try inspection.tmux.keys("1")
        try inspection.wait(for: "cancel it")
        try inspection.tmux.keys("t")
        try inspection.wait(for: "length 4: timeout")
        try inspection.tmux.type("90s")
        try inspection.tmux.keys("Enter")
        try inspection.wait(for: "times out in")
        try inspection.tmux.keys("d", "1", "c")
        try inspection.wait(for: "length 0/2")
        try peer.write("ab")
        try inspection.wait(for: "length 2, done")
    }

    @Test("--hold: who connects waits; A takes one and refuses one, P takes the rest")
    func hold() throws {
        let port = try Peer.freePort()
        let inspection = try Inspection("listen 127.0.0.1:\(port) --hold")
        try inspection.wait(for: "accepting is paused")
        let peers = try (0..<3).map { _ in try Peer(["nc", "127.0.0.1", "\(port)"]) }
        try inspection.wait(for: "3 waiting in the backlog")
        try inspection.tmux.keys("A")
        try inspection.wait(for: "refuse it, with RST")
        try inspection.tmux.keys("r")
        try inspection.wait(for: "2 waiting in the backlog")
        try inspection.wait(for: "refused with RST")
        try inspection.tmux.keys("A", "t")
        try inspection.wait(for: "w write")
        try inspection.tmux.keys("1")
        try inspection.wait(for: "[1 List]")
        try inspection.wait(for: "1 accepted")
        try inspection.tmux.keys("f")
        try inspection.send("id:1")
        try inspection.wait(for: "1 of 2 listed")
        try inspection.tmux.keys("P")
        try inspection.wait(for: "2 accepted")
        withExtendedLifetime(peers) {}
    }

    @Test("/ finds in payloads, y copies by OSC 52, o saves, e edits and sends again")
    func payloads() throws {
        let port = try Peer.freePort()
        let folder = try TemporaryFolder()
        var environment = Program.environment(folder.path)
        environment["EDITOR"] = "sed -i s/needle/thread/"
        let tmux = try Tmux("exec \(Program.path) listen 127.0.0.1:\(port)", environment: environment)
        _ = try tmux.command("set", "-s", "set-clipboard", "on")
        #expect(try tmux.waitFor("waiting for connections"))
        let peer = try Peer(["nc", "127.0.0.1", "\(port)"])
        #expect(try tmux.waitFor("w write"))
        try peer.write("hay hay\nneedle\nhay\n")
        #expect(try tmux.waitFor("needle"))
        try tmux.keys("/")
        try tmux.type("NEED")
        try tmux.keys("Enter")
        #expect(try tmux.waitFor("match 1 of 1 for NEED"))
        try tmux.keys("y")
        #expect(try tmux.waitFor("19 B sent to the terminal's clipboard"))
        #expect(try eventually { try tmux.command("show-buffer") == "hay hay\nneedle\nhay\n" })
        try tmux.keys("o")
        #expect(try tmux.waitFor("save bytes of #"))
        try tmux.keys("C-u")
        try tmux.type(folder.path + "/saved")
        try tmux.keys("Enter")
        #expect(try tmux.waitFor("saved 19 bytes"))
        #expect(ProcessFacts.text(folder.path + "/saved") == "hay hay\nneedle\nhay\n")
        try tmux.keys("e")
        #expect(try tmux.waitFor("Enter sends the edited text"))
        try tmux.keys("Enter")
        #expect(eventually { text(peer) == "hay hay\nthread\nhay\n" })
    }

    @Test("^X^E edits the line, and the terminal is whole afterwards")
    func editor() throws {
        let port = try Peer.freePort()
        let folder = try TemporaryFolder()
        var environment = Program.environment(folder.path)
        environment["VISUAL"] = "sed -i s/old/new/"
        let tmux = try Tmux("exec \(Program.path) listen 127.0.0.1:\(port)", environment: environment)
        #expect(try tmux.waitFor("waiting for connections"))
        let peer = try Peer(["nc", "127.0.0.1", "\(port)"])
        try tmux.write()
        try tmux.type("an old line")
        try tmux.keys("C-x", "C-e")
        #expect(try tmux.waitFor("an new line"))
        #expect(try tmux.format("#{alternate_on}") == "1")
        try tmux.keys("Enter")
        #expect(eventually { text(peer) == "an new line\r\n" })
    }

    @Test("A line sent in one run is recalled in the next, unless --no-history says not to")
    func history() throws {
        let port = try Peer.freePort()
        let folder = try TemporaryFolder()
        let environment = Program.environment(folder.path)
        for (options, recalled) in [("", false), ("--no-history", false), ("", true)] {
            let listener = try Peer(["nc", "-l", "127.0.0.1", "\(port)"])
            let tmux = try Tmux(
                "sleep 0.3; exec \(Program.path) connect 127.0.0.1:\(port) \(options)", environment: environment)
            #expect(try tmux.waitFor("Enter send"))
            try tmux.keys("Up")
            try tmux.type("!")
            #expect(try tmux.waitFor(recalled ? ">remember me!" : ">!"))
            try tmux.keys("C-u")
            try tmux.type(options.isEmpty ? "remember me" : "forget me")
            try tmux.keys("Enter")
            #expect(eventually { !listener.output.isEmpty })
            try tmux.keys("C-c", "y")
            listener.kill()
        }
    }

    @Test("R: a listener replies by itself")
    func replies() throws {
        let (inspection, port) = try Peer.listening()
        try inspection.tmux.keys("R")
        try inspection.wait(for: "auto-reply")
        try inspection.tmux.type("^PING")
        try inspection.tmux.keys("Tab")
        try inspection.tmux.type("+PONG ${seq}\\r\\n")
        try inspection.tmux.keys("Enter")
        try inspection.wait(for: "REPLY  when /^PING/ send +PONG")
        let peer = try Peer(["nc", "127.0.0.1", "\(port)"])
        try peer.write("PING\n")
        #expect(eventually { text(peer) == "+PONG 1\r\n" })
    }

    @Test("b sets the watermarks of a connection that lives")
    func watermarks() throws {
        let (inspection, peer) = try conversation()
        try inspection.tmux.keys("M-3")
        try inspection.wait(for: "write queue 0")
        try inspection.tmux.keys("b")
        try inspection.wait(for: "watermarks of #")
        try inspection.tmux.type("4096")
        try inspection.tmux.keys("Enter")
        try inspection.wait(for: "marks 0 to 4.0K")
        withExtendedLifetime(peer) {}
    }

    @Test("--reply: rules from the command line; Alt-o: a template, with what it reads after it")
    func rulesAndTemplates() throws {
        let folder = try TemporaryFolder()
        mkdir(folder.path + "/socktui", 0o700)
        folder.write(
            "[hello]\nbody = 'HELLO\\r\\n'\neol = \"none\"\nread-after = \"length 3\"\n", to: "socktui/templates")
        var environment = Program.environment(folder.path)
        environment["XDG_CONFIG_HOME"] = folder.path
        let port = try Peer.freePort()
        let server = try Tmux(
            "exec \(Program.path) listen 127.0.0.1:\(port) --reply 'when /^HELLO/ send abc'", environment: environment)
        #expect(try server.waitFor("REPLY  when /^HELLO/ send abc"))
        let client = try Tmux("exec \(Program.path) connect 127.0.0.1:\(port) --no-read", environment: environment)
        #expect(try client.waitFor("Enter send"))
        try client.keys("M-o")
        #expect(try client.waitFor("hello   HELLO"))
        try client.keys("1")
        #expect(try client.waitFor("then reads length 3"))
        try client.keys("Enter")
        #expect(try client.waitFor("length 3, done"))
        #expect(try client.text().contains("abc"))
    }
}
