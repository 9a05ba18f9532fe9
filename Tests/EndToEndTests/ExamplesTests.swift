import Glibc
import SocketTestSupport
import Testing

/// The worked examples of README, step by step, as anybody can run them.
@Suite("Examples", .timeLimit(.minutes(10)))
struct ExamplesTests {
    private static let folder = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/Examples"

    private func run(_ example: String, _ arguments: String...) throws -> String {
        let script = "\(Self.folder)/\(example).keys"
        let outcome = try ChildProcess.run(
            [Program.path] + arguments + ["--script", script, "--size", "100x30"],
            environment: Program.environment(try Program.folder()))
        #expect(outcome.status == 0, "\(outcome.errors)\n\(outcome.output)")
        return outcome.output
    }

    @Test(
        "find why a program hangs that forgot to queue a read",
        .enabled(if: Peer.isUsable("redis-server"), "redis-server is missing"))
    func forgottenRead() throws {
        let redis = try Peer.redis()
        let screens = try run("forgotten-read", "connect", "127.0.0.1:\(redis.port)", "--no-read")
        #expect(screens.contains("unread 7 B") && screens.contains("read-starved"))
    }

    @Test("watch a partial read fill")
    func partialRead() throws {
        #expect(try run("partial-read", "demo").contains("/4096"))
    }

    @Test("the tour that the picture in README was recorded from")
    func tour() throws {
        let screens = try run("tour", "demo")
        for mark in ["/4096", "length 4096", "READ", "KIND"] { #expect(screens.contains(mark), "\(mark)") }
    }

    @Test("talk HTTP to nginx by hand", .enabled(if: Peer.isUsable("nginx"), "nginx is missing"))
    func http() throws {
        let nginx = try Peer.nginx()
        let screens = try run("http", "connect", "127.0.0.1:\(nginx.port)", "--no-read")
        #expect(screens.contains("Content-Length") && screens.contains("until CRLFCRLF"))
    }

    @Test(
        "talk RESP to redis by hand", .enabled(if: Peer.isUsable("redis-server"), "redis-server is missing"))
    func redis() throws {
        let redis = try Peer.redis()
        #expect(try run("redis", "connect", "127.0.0.1:\(redis.port)", "--no-read").contains("hello"))
    }
}

extension Peer {
    /// An nginx that serves one small page, and its port.
    static func nginx() throws -> (peer: Peer, port: UInt16) {
        let folder = try TemporaryFolder()
        folder.write("<h1>It works</h1>\n", to: "index.html")
        return try server(keeping: folder) { port in
            folder.write(
                """
                daemon off; master_process off; pid \(folder.path)/pid; error_log \(folder.path)/errors;
                events {}
                http {
                  access_log off; client_body_temp_path \(folder.path)/1; proxy_temp_path \(folder.path)/2;
                  fastcgi_temp_path \(folder.path)/3; uwsgi_temp_path \(folder.path)/4; scgi_temp_path \(folder.path)/5;
                  server { listen 127.0.0.1:\(port); location / { root \(folder.path); } }
                }
                """, to: "nginx.conf")
            return ["nginx", "-e", "\(folder.path)/errors", "-c", "\(folder.path)/nginx.conf"]
        }
    }
}
