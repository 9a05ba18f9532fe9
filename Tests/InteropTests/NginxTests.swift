import SocketKit
import SocketTestSupport
import Testing

@Suite(.enabled(if: Peer.isUsable("nginx"), "nginx is missing"), .timeLimit(.minutes(10)))
struct NginxTests {
    private static let page = String(repeating: "All work and no play makes Jack a dull boy.\n", count: 500)

    private func serve() throws -> (peer: Peer, port: UInt16) {
        let folder = try TemporaryFolder()
        folder.write(Self.page, to: "index.html")
        folder.write("", to: "empty.html")
        return try Peer.server(keeping: folder) { port in
            let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            folder.write(
                """
                daemon off; master_process off; pid pid;
                events {}
                http {
                    access_log off; keepalive_timeout 60s;
                    \(places.map { "\($0)_temp_path temp;" }.joined(separator: " "))
                    server { listen 127.0.0.1:\(port); root .; }
                }
                """, to: "nginx.conf")
            return ["nginx", "-e", "stderr", "-p", folder.path, "-c", "nginx.conf"]
        }
    }

    /// One request: the header up to its empty line, then as many bytes as the header says.
    private func get(_ path: String, from end: OurEnd) throws -> (status: Substring, body: [UInt8]) {
        let before = end.recorder.received.count
        end.socket.read(ReadRequest(.delimiter([13, 10, 13, 10], limit: 8_192), timeout: .seconds(20), tag: 1))
        end.socket.write(Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
        try #require(eventually { end.recorder.received.count > before })
        let header = String(decoding: end.recorder.received.dropFirst(before), as: UTF8.self)
        let lines = header.split(separator: "\r\n")
        let name = "Content-Length: "
        let length = try #require(lines.first { $0.hasPrefix(name) }.flatMap { Int($0.dropFirst(name.count)) })
        guard length > 0 else { return (lines[0], []) }
        end.socket.read(ReadRequest(.length(length), timeout: .seconds(20), tag: 2))
        let start = before + header.utf8.count
        try #require(eventually { end.recorder.received.count == start + length })
        return (lines[0], Array(end.recorder.received.dropFirst(start)))
    }

    @Test func pagesComeWholeOverOneConnectionThatIsKept() throws {
        let nginx = try serve()
        let end = try OurEnd.connected(to: .tcp(host: "127.0.0.1", port: nginx.port))
        for _ in 1...2 {
            let answer = try get("/", from: end)
            #expect(answer.status == "HTTP/1.1 200 OK")
            #expect(answer.body == Array(Self.page.utf8))
        }
        #expect(try get("/empty.html", from: end).body.isEmpty)
        #expect(try get("/missing", from: end).status == "HTTP/1.1 404 Not Found")
        #expect(end.recorder.calls.filter { $0 == .connected }.count == 1)
        #expect(end.recorder.failures.isEmpty && !end.recorder.isDisconnected)
    }
}
