import Testing

@testable import SocketCore
@testable import SocketWorkshop

@Suite("Requests through an HTTP proxy in absolute form")
struct HTTPForwardingTests {
    private typealias Outcome = (endpoint: Endpoint, head: String, early: String, body: HTTPRequestBody)

    /// What the proxy makes of bytes that come in pieces of one size, with all that follows the head as early bytes.
    private func forward(_ text: String, pieces: Int = .max) -> Outcome? {
        var handshake = ProxyHandshake(.http)
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let step = handshake.receive(Array(rest.prefix(pieces)))
            rest = rest.dropFirst(min(pieces, rest.count))
            guard case .forward(let request, let early) = step else {
                guard step == .wait else { return nil }
                continue
            }
            #expect(handshake.connected.isEmpty, "the server answers for itself")
            let after = String(decoding: early + rest, as: UTF8.self)
            return (request.endpoint, String(decoding: request.head, as: UTF8.self), after, request.body)
        }
        return nil
    }

    private func refusal(_ text: String) -> String {
        var handshake = ProxyHandshake(.http)
        guard case .refuse(let answer) = handshake.receive(Array(text.utf8)) else { return "" }
        return String(decoding: answer, as: UTF8.self)
    }

    @Test(
        "the request line becomes origin form, fields for proxies go, and the rest stays", arguments: [1, 7, Int.max])
    func rewritten(pieces: Int) throws {
        let came = """
            POST http://example:8080/a%20b?c=/d#e HTTP/1.1\r
            Host: example:8080\r
            Proxy-Connection: Keep-Alive\r
            proxy-authorization: Basic eDp5\r
            X-Odd:  two  blanks \r
            Connection: keep-alive, TE, X-Hop, Content-Length, Host\r
            TE: trailers\r
            X-Hop: 1\r
            x-hop: 2\r
            Keep-Alive: timeout=5\r
            X-Hopper: 3\r
            Content-Length: 4\r
            \r
            body
            """
        let outcome = try #require(forward(came, pieces: pieces))
        #expect(outcome.endpoint == .tcp(host: "example", port: 8080))
        #expect(
            outcome.head == """
                POST /a%20b?c=/d HTTP/1.1\r
                Host: example:8080\r
                X-Odd:  two  blanks \r
                X-Hopper: 3\r
                Content-Length: 4\r
                Connection: close\r
                \r\n
                """)
        #expect(outcome.early == "body")
        var body = outcome.body
        #expect(body.absorb(Array("bodyGET".utf8)) == 4)
    }

    @Test(
        "where it goes, and for what",
        arguments: [
            ("GET http://h HTTP/1.1\n\n", "h", 80, "GET / HTTP/1.1\r\nHost: h\r\n"),
            ("GET HTTP://h:/?q HTTP/1.0\n\n", "h", 80, "GET /?q HTTP/1.0\r\nHost: h:\r\n"),
            ("OPTIONS http://[::1]:81 HTTP/1.1\n\n", "::1", 81, "OPTIONS * HTTP/1.1\r\nHost: [::1]:81\r\n"),
            ("GET http://[::1]/x HTTP/1.1\n\n", "::1", 80, "GET /x HTTP/1.1\r\nHost: [::1]\r\n"),
            (
                "GET http://a/ HTTP/1.1\nHost: b\nA: 1\nHost: c\n\n", "a", 80, "GET / HTTP/1.1\r\nHost: a\r\nA: 1\r\n"
            ),
        ])
    func places(text: String, host: String, port: Int, start: String) throws {
        let outcome = try #require(forward(text))
        #expect(outcome.endpoint == .tcp(host: host, port: UInt16(port)))
        #expect(outcome.head == start + "Connection: close\r\n\r\n")
    }

    @Test(
        "of equal lengths one is sent, so that no server reads another one",
        arguments: [
            "Content-Length: 3, 3", "Content-Length: 3\r\ncontent-length: 3",
            "Content-Length: 3 ,3\r\nContent-Length: 3",
        ])
    func lengths(fields: String) throws {
        let outcome = try #require(forward("POST http://h/ HTTP/1.1\r\n\(fields)\r\n\r\nabcGET"))
        let sent = outcome.head.split(separator: "\r\n").filter { $0.lowercased().hasPrefix("content-length") }
        #expect(sent.map { $0.filter { $0 != " " } } == ["Content-Length:3"])
        var body = outcome.body
        #expect(body.absorb(Array("abcGET".utf8)) == 3)
    }

    @Test("an upgrade is forwarded with its field, and no other option of the connection")
    func upgrade() throws {
        let outcome = try #require(
            forward("GET http://h/ HTTP/1.1\r\nConnection: Upgrade, X\r\nUpgrade: websocket\r\nX: 1\r\n\r\n"))
        #expect(
            outcome.head
                == "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\n\r\n")
        let without = try #require(forward("GET http://h/ HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"))
        #expect(without.head == "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    }

    @Test("bytes of a field that are not UTF-8 stay as they are")
    func bytes() {
        var handshake = ProxyHandshake(.http)
        let step = handshake.receive(Array("GET http://h/ HTTP/1.1\r\nX: ".utf8) + [0xE9, 0x0D, 0x0A, 0x0D, 0x0A])
        guard case .forward(let request, _) = step else {
            Issue.record("\(step)")
            return
        }
        #expect(request.head.contains(0xE9))
    }

    @Test(
        "what is not forwarded is refused with a reason",
        arguments: [
            ("GET / HTTP/1.1\r\n\r\n", "400", "this is a proxy"),
            ("GET /x://y HTTP/1.1\r\n\r\n", "400", "this is a proxy"),
            ("GET https://h/ HTTP/1.1\r\n\r\n", "501", "https:// is not forwarded; it needs CONNECT"),
            ("GET ftp://h/ HTTP/1.1\r\n\r\n", "501", "ftp://"),
            ("GET http:///x HTTP/1.1\r\n\r\n", "400", "not host"),
            ("GET http://u:p@h/ HTTP/1.1\r\n\r\n", "400", "not host"),
            ("GET http://h:99999/ HTTP/1.1\r\n\r\n", "400", "not host"),
            ("GET http://unix:80/ HTTP/1.1\r\nContent-Length: x\r\n\r\n", "400", ""),
            ("POST http://h/ HTTP/1.1\r\nContent-Length: 1, 2\r\n\r\n", "400", "Content-Length"),
            ("POST http://h/ HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "400", "Content-Length"),
            ("POST http://h/ HTTP/1.1\r\nContent-Length:\r\n\r\n", "400", "Content-Length"),
            ("POST http://h/ HTTP/1.1\r\nContent-Length: 3,\r\n\r\n", "400", "Content-Length"),
            ("POST http://h/ HTTP/1.1\r\nContent-Length: 3\r\nContent-Length:\r\n\r\n", "400", "Content-Length"),
            ("POST http://h/ HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n", "400", "Content-Length"),
            ("GET http://h/ HTTP/1.1\r\nConnection: upgrade\r\nContent-Length: x\r\n\r\n", "400", "Content-Length"),
            ("POST http://h/ HTTP/1.1\r\nTransfer-Encoding:\r\n\r\n", "400", "Transfer-Encoding is empty"),
            ("POST http://h/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "400", "both"),
            ("POST http://h/ HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", "400", "not chunked"),
        ])
    func refused(text: String, status: String, words: String) {
        let answer = refusal(text)
        #expect(answer.hasPrefix("HTTP/1.1 \(status) ") && answer.contains(words), "\(answer)")
    }

    @Test("a head that never ends is refused at its limit")
    func endless() {
        #expect(refusal("GET http://h/" + String(repeating: "x", count: 20_000)).hasPrefix("HTTP/1.1 431 "))
    }

    /// How much of `text` after a head with these fields belongs to the request, however it is cut.
    private func own(_ fields: String, _ text: String) throws -> Set<Int> {
        let request = try #require(forward("POST http://h/ HTTP/1.1\r\n\(fields)\r\n\r\n"))
        let bytes = Array(text.utf8)
        return Set(
            (1...max(1, bytes.count)).map { size in
                var (body, own) = (request.body, 0)
                for start in stride(from: 0, to: bytes.count, by: size) {
                    own += body.absorb(Array(bytes[start..<min(start + size, bytes.count)]))
                }
                return own
            })
    }

    @Test("the end of a request is found, however its body is cut")
    func bodies() throws {
        let next = "GET http://other/ HTTP/1.1\r\n\r\n"
        #expect(try own("A: b", next) == [0])
        #expect(try own("Content-Length: 0", next) == [0])
        #expect(try own("Content-Length: 5", "12345" + next) == [5])
        #expect(try own("Content-Length: 5, 5", "12345" + next) == [5])
        for chunks in [
            "0\r\n\r\n", "3\r\nabc\r\n0\r\n\r\n", "A;x=\"y\"\r\n0123456789\r\n00\r\n\r\n", "1\na\n0\n\n",
            "0\r\nTrailer: x\r\nB: y\r\n\r\n",
        ] {
            #expect(try own("Transfer-Encoding: chunked", chunks + next) == [chunks.utf8.count])
        }
        #expect(try own("Connection: Upgrade\r\nUpgrade: x", next) == [next.utf8.count])
        // What is not a chunk ends it: nothing is sent on that two readers would read differently.
        #expect(try own("Transfer-Encoding: chunked", "3\r\nabcX" + next) == [7])
        #expect(try own("Transfer-Encoding: chunked", "x" + next) == [1])
        #expect(try own("Transfer-Encoding: chunked", "1234567890123456\r\n") == [16])
    }
}
