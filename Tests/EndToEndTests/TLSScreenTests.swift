import SocketTestSupport
import Testing

@Suite(
    "TLS on the screen", .enabled(if: Tmux.isUsable, "tmux is missing"),
    .enabled(if: Peer.isUsable("openssl") && Certificates.problem == nil, "openssl is missing"),
    .timeLimit(.minutes(10)))
struct TLSScreenTests {
    private func server(_ name: String, _ more: [String] = []) throws -> (peer: Peer, port: UInt16) {
        try Peer.server { port in
            [
                "openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-cert", Certificates.path(name + ".crt"),
                "-key", Certificates.path(name + ".key"), "-rev",
            ] + more
        }
    }

    @Test("a trusted server is talked with, and the detail says what was agreed on")
    func trusted() throws {
        let openssl = try server("server", ["-alpn", "imap"])
        let inspection = try Inspection(
            "connect tls://localhost:\(openssl.port) --ca \(Certificates.path("ca.crt")) --alpn imap,h2", height: 50)
        try inspection.wait(for: "TLS established")
        try inspection.send("stressed")
        try inspection.wait(for: "desserts")
        try inspection.tmux.keys("M-3")
        try inspection.wait(for: "verified for localhost")
        let text = try inspection.tmux.text()
        for words in ["tls established", "TLSv1.3", "alpn imap", "sni localhost", "CN=server", "by CN=Test Authority"] {
            #expect(text.contains(words), "\(words)\n\(inspection.tmux.picture)")
        }
    }

    @Test("an untrusted one is asked about, and accepted once or refused", arguments: ["a", "r"])
    func untrusted(answer: String) throws {
        let openssl = try server("foreign")
        let inspection = try Inspection(
            "connect tls://127.0.0.1:\(openssl.port) --ca \(Certificates.path("ca.crt"))", height: 50)
        try inspection.wait(for: "Alt-a answers: unable to get local issuer certificate")
        try inspection.tmux.keys("Escape")
        try inspection.wait(for: "A answer ")
        try inspection.tmux.keys("A")
        try inspection.wait(for: "accept it, this once")
        #expect(try inspection.tmux.text().contains("CN=foreign"))
        try inspection.tmux.keys(answer)
        if answer == "r" {
            try inspection.wait(for: "the peer's certificate was refused")
            return
        }
        try inspection.wait(for: "TLS established")
        try inspection.tmux.keys("3")
        try inspection.wait(for: "ACCEPTED BY HAND:")
    }

    @Test("a listener with a certificate is talked with by openssl, and a connection in clear is secured by T")
    func listens() throws {
        let port = try Peer.freePort()
        let inspection = try Inspection(
            "listen tls://127.0.0.1:\(port) --cert \(Certificates.path("server.pem"))")
        try inspection.wait(for: "waiting for connections")
        let openssl = try Peer([
            "openssl", "s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", Certificates.path("ca.crt"),
            "-verify_return_error", "-quiet",
        ])
        try inspection.wait(for: "TLS established")
        try openssl.write("said by the peer\n")
        try inspection.wait(for: "said by the peer")
    }

    @Test("T puts a barrier in both queues, which says what it waits for")
    func barrier() throws {
        let (inspection, port) = try Peer.listening("--no-read", height: 50)
        let peer = try Peer(["socat", "-", "TCP4:127.0.0.1:\(port)"])
        try inspection.wait(for: "r read")
        try inspection.tmux.keys("r")
        try inspection.wait(for: "queue a read on")
        try inspection.tmux.keys("Enter")
        try inspection.wait(for: "READ   t")
        try inspection.tmux.keys("T")
        try inspection.wait(for: "with TLS")
        try inspection.tmux.keys("c")
        try inspection.wait(for: "(*) client")
        try inspection.tmux.keys("Enter")
        try inspection.wait(for: "WRITE  startTLS  here; waits for read t")
        try inspection.tmux.keys("3")
        try inspection.wait(for: "-- startTLS  waits for the operations above")
        // The read is done, so the handshake begins, and the peer speaks no TLS.
        try peer.write("go ahead\n")
        try inspection.wait(for: "handshake for")
        try peer.write("what is this?\n")
        try inspection.wait(for: "the peer does not speak TLS")
    }

    @Test("without a screen nobody is asked: what is not trusted fails, and says so")
    func headless() throws {
        let openssl = try server("foreign")
        let folder = try TemporaryFolder()
        let outcome = try ChildProcess.run(
            [
                Program.path, "connect", "tls://127.0.0.1:\(openssl.port)", "--ca", Certificates.path("ca.crt"),
                "--json",
            ],
            environment: Program.environment(folder.path))
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("certificate verify failed: unable to get local issuer"), "\(outcome)")
    }
}
