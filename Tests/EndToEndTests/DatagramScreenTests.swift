import Glibc
import SocketTestSupport
import Testing

@Suite("Datagrams in a terminal", .enabled(if: Tmux.isUsable, "tmux is missing"), .timeLimit(.minutes(10)))
struct DatagramScreenTests {
    @Test("who speaks to us is shown and answered", .enabled(if: Peer.isUsable("nc"), "nc is missing"))
    func listening() throws {
        let (inspection, port) = try Self.listening()
        let peer = try Peer(["nc", "-u", "127.0.0.1", "\(port)"])
        try peer.write("said by the peer")
        try inspection.wait(for: "said by the peer")
        try inspection.wait(for: "16 B from 127.0.0.1:")
        try inspection.wait(for: "to 127.0.0.1:")
        try inspection.send("typed on the screen")
        #expect(eventually { peer.output == Array("typed on the screen".utf8) })
        try inspection.wait(for: "19 B to 127.0.0.1:")
        try inspection.tmux.keys("M-3")
        try inspection.wait(for: "received 1  sent 1")
        try inspection.tmux.keys("1")
        try inspection.wait(for: "1 in")
        try inspection.wait(for: "UNCONN")
    }

    @Test("a connected socket talks, and that nobody listens is said while it stays open")
    func connecting() throws {
        let inspection = try Inspection("connect udp://127.0.0.1:9")
        try inspection.wait(for: "connected")
        try inspection.send("anybody")
        try inspection.wait(for: "7 B to 127.0.0.1:9")
        try inspection.wait(for: "error: for a datagram sent earlier: refused")
        try inspection.wait(for: "Enter send")
    }

    @Test(
        "what is written wrongly, or cannot be resolved, is said before anything is opened",
        arguments: [
            ("connect udp://127.0.0.1", "port"), ("connect udp://10.0.0.1:9?interface=lo", "multicast"),
            ("listen udp://239.1.2.3:0?interface=nosuch0", "nosuch0"),
            ("connect unixgram:/nosuch/file", "No such file"),
        ])
    func refusals(_ arguments: String, _ word: String) throws {
        let words = arguments.split(separator: " ").map(String.init)
        let outcome = try Program.run(words[0], words[1], "--once")
        #expect(outcome.status != 0)
        #expect(outcome.errors.contains(word), "\(outcome.errors)")
    }

    private static func listening() throws -> (Inspection, UInt16) {
        let port = try Peer.freePort()
        let inspection = try Inspection("listen udp://127.0.0.1:\(port)")
        try inspection.wait(for: "no datagrams yet")
        return (inspection, port)
    }
}
