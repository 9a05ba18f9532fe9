import HostSockets
import InspectorCore
import SocketTestSupport
import Testing

@testable import InspectorShell

/// Programs that know nothing of socktui and wait for each other. Asked about each of them, it names the same chain.
@Suite("Who waits for whom, of other programs", .timeLimit(.minutes(10)))
struct WaitingProgramTests {
    /// Reads one question, and does not answer. `PATH` is a Unix-domain socket, of which nothing is accepted.
    private static let silent = """
        import socket, sys
        if len(sys.argv) > 1:
            s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(5)
        else:
            s = socket.create_server(("127.0.0.1", 0))
        print(s.getsockname()[1], flush=True)
        if len(sys.argv) > 1: sys.stdin.read()
        c, _ = s.accept(); c.recv(1000)
        s.accept()
        """
    private static let ask = """
        import socket, sys
        s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(b"q"); s.recv(10)
        """

    private func silentServer() throws -> (peer: Peer, port: UInt16) {
        let peer = try Peer(["python3", "-c", Self.silent])
        #expect(eventually { peer.output.last == UInt8(ascii: "\n") || peer.hasEnded }, "\(peer.complaints)")
        return (
            peer, try #require(UInt16(String(decoding: peer.output.dropLast(), as: UTF8.self)), "\(peer.complaints)")
        )
    }

    /// Asks again and again until the answer has a line with all of these words, in their order, and returns the answer.
    /// On a busy machine not every look sees every program.
    private func answer(about target: HostTarget, _ processes: [Int32] = [], until words: [String]) throws -> HostAnswer
    {
        var watch = HostWatch(HostOptions(), LintSettings())
        var answer: HostAnswer?
        let isNamed = try eventually {
            try watch.settle(span: .zero, processes: processes) { target.matches($0) }
            answer = HostAnswer(target, Set(processes), watch.look, watch.judge)
            return answer?.lines.contains { Self.has($0, words) } ?? false
        }
        #expect(isNamed, "\(target): \(answer?.lines ?? [])")
        return try #require(answer)
    }

    private static func has(_ line: String, _ words: [String]) -> Bool {
        var rest = Substring(line)
        for word in words {
            guard let place = rest.firstRange(of: word) else { return false }
            rest = rest[place.upperBound...]
        }
        return true
    }

    @Test(
        "curl waits for nginx, which waits for a server that is silent",
        .enabled(if: Peer.isUsable("curl", "nginx", "python3")))
    func proxied() throws {
        let server = try silentServer(), folder = try TemporaryFolder()
        let nginx = try Peer.server(keeping: folder) { port in
            let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path temp;" }
            folder.write(
                """
                daemon off; master_process off; pid pid;
                events {}
                http {
                    access_log off; proxy_read_timeout 3600s; \(places.joined(separator: " "))
                    server { listen 127.0.0.1:\(port); location / { proxy_pass http://127.0.0.1:\(server.port); } }
                }
                """, to: "nginx.conf")
            return ["nginx", "-e", "stderr", "-p", folder.path, "-c", "nginx.conf"]
        }
        let curl = try Peer(["curl", "-s", "http://127.0.0.1:\(nginx.port)/"])
        let members = [curl, nginx.peer, server.peer].map(\.process)
        let words = [
            "WAITING: curl[\(members[0])] waits", "for nginx[\(members[1])], which waits for",
            "[\(members[2])]: it took",
            "has sent no answer, and is in accept4",
        ]
        for (target, processes) in [(HostTarget.port(nginx.port), []), (.port(server.port), [])]
            + members.map({ (HostTarget.process($0), [$0]) })
        {
            let found = try answer(about: target, processes, until: words)
            #expect(found.found.allSatisfy { $0.severity == .note }, "\(found.lines)")
        }
    }

    @Test(
        "BLPOP ends at the event loop of redis, and is no fault",
        .enabled(if: Peer.isUsable("redis-server", "redis-cli")))
    func blocking() throws {
        let redis = try Peer.redis()
        let client = try Peer(["redis-cli", "-p", "\(redis.port)", "blpop", "nothing", "0"])
        let words = [
            "WAITING: redis-cli[\(client.process)] waits", "for redis-server[\(redis.peer.process)]:",
            "its event loop waits",
        ]
        let found = try answer(about: .port(redis.port), until: words)
        #expect(found.found.allSatisfy { $0.severity == .note }, "\(found.lines)")
    }

    @Test(
        "who waits in the queue of a Unix-domain listener is named, and so is its program",
        .enabled(if: Peer.isUsable("python3")))
    func queued() throws {
        let folder = try TemporaryFolder(), path = folder.path + "/queue"
        let server = try Peer(["python3", "-c", Self.silent, path])
        #expect(eventually { server.output.last == UInt8(ascii: "\n") || server.hasEnded }, "\(server.complaints)")
        let client = try Peer(["python3", "-c", Self.ask, path])
        let words = [
            "WAITING: ", "[\(client.process)] waits", "[\(server.process)]: it has not accepted the connection",
        ]
        _ = try answer(about: .address(.unix(path: path)), until: words)
        _ = try answer(about: .process(client.process), [client.process], until: words)
        _ = try answer(
            about: .address(.unix(path: path)), until: ["ACCEPT-STUCK", "[\(server.process)] has accepted nothing on"])
    }
}
