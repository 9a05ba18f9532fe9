import SocketTestSupport
import Testing

@testable import SocketCore

@Suite("The client's opening handshake")
struct ClientHandshakeTests {
    private static let key = "dGhlIHNhbXBsZSBub25jZQ=="
    private static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    private func handshake(
        _ url: String = "ws://h/", _ opening: WebSocketOpening = WebSocketOpening(), deflate: Bool = false
    ) throws -> ClientHandshake {
        ClientHandshake(
            try WebSocketURL.parse(url), opening, key: Self.key, expectedAccept: Self.accept,
            compression: deflate ? PerMessageDeflateParameters() : nil)
    }

    private func answer(
        _ line: String = "HTTP/1.1 101 Switching Protocols", dropping: String = "", adding: [String] = []
    ) -> [UInt8] {
        let fields = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: \(Self.accept)"]
        let kept = fields.filter { dropping.isEmpty || !$0.hasPrefix(dropping) }
        return Array((([line] + kept + adding).joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    private func outcome(_ bytes: [UInt8], _ opening: WebSocketOpening = WebSocketOpening(), deflate: Bool = false)
        throws -> ClientHandshake.Step
    {
        var handshake = try handshake("ws://h/", opening, deflate: deflate)
        return handshake.receive(bytes.span.bytes)
    }

    /// Why an answer is not taken; nil when it is.
    private func problem(
        _ bytes: [UInt8], _ opening: WebSocketOpening = WebSocketOpening(), deflate: Bool = false
    ) throws -> String? {
        guard case .failed(.broken(let problem, _)) = try outcome(bytes, opening, deflate: deflate) else { return nil }
        return problem
    }

    private var chat: WebSocketOpening {
        var opening = WebSocketOpening()
        opening.subprotocols = ["chat", "superchat"]
        return opening
    }

    // MARK: What is asked

    @Test("H1: GET, the path and the query, at least a slash, no fragment")
    func h1RequestLine() throws {
        for (url, line) in [
            ("ws://h", "GET / HTTP/1.1"), ("ws://h/a/b?c=d&e", "GET /a/b?c=d&e HTTP/1.1"),
            ("ws://h?x", "GET /?x HTTP/1.1"), ("wss://h/ä b", "GET /%C3%A4%20b HTTP/1.1"),
            ("ws+unix:/run/a.sock:/p", "GET /p HTTP/1.1"), ("ws+unix:@name", "GET / HTTP/1.1"),
        ] {
            #expect(try handshake(url).head.startLine == line)
        }
        #expect(throws: EndpointError.self) { try WebSocketURL.parse("ws://h/a#b") }
        let text = String(decoding: try handshake("ws://h/a").request, as: UTF8.self)
        #expect(text.hasPrefix("GET /a HTTP/1.1\r\nHost: h\r\n"))
        #expect(text.hasSuffix("\r\n\r\n"))
    }

    @Test("H2: Host has a port only where it does not go without saying, and IPv6 addresses in brackets")
    func h2Host() throws {
        for (url, host) in [
            ("ws://h:80/", "h"), ("ws://h:443/", "h:443"), ("wss://h:443/", "h"), ("wss://h:80/", "h:80"),
            ("ws://[::1]/", "[::1]"), ("ws://[::1]:8080/", "[::1]:8080"), ("ws://[fe80::1%lo]:80/", "[fe80::1]"),
            ("ws+unix:/run/a.sock:/", "localhost"), ("WS://u:p@h:81", "h:81"),
        ] {
            #expect(try handshake(url).head.values(of: "host") == [host])
        }
    }

    @Test(
        "what is no URL of a WebSocket is refused by name, without its password",
        arguments: [
            "http://h/", "ws:/h", "ws://", "ws:///x", "ws://h:0/", "ws://h:99999/", "ws+unix:", "ws://u:secret@h:x/",
        ])
    func noURLs(text: String) throws {
        let error = #expect(throws: EndpointError.self) { try WebSocketURL.parse(text) }
        #expect(error?.description.contains("secret") == false)
    }

    @Test("H3: exactly one Upgrade, Connection and Version")
    func h3Fields() throws {
        let head = try handshake().head
        #expect(head.values(of: "upgrade") == ["websocket"])
        #expect(head.values(of: "connection") == ["Upgrade"])
        #expect(head.values(of: "sec-websocket-version") == ["13"])
        #expect(head.values(of: "sec-websocket-key") == [Self.key])
        #expect(head.values(of: "sec-websocket-protocol").isEmpty)
        #expect(head.values(of: "sec-websocket-extensions").isEmpty)
    }

    @Test("subprotocols, cookies, origin, credentials and other fields")
    func asked() throws {
        var opening = chat
        opening.cookies = [HTTPField("a", "1"), HTTPField("b", "2")]
        opening.origin = "https://example"
        opening.fields = [HTTPField("X-Mine", "yes")]
        let head = try handshake("ws://Aladdin:open%20sesame@h/", opening, deflate: true).head
        #expect(head.values(of: "sec-websocket-protocol") == ["chat, superchat"])
        #expect(head.values(of: "sec-websocket-extensions") == ["permessage-deflate; client_max_window_bits"])
        #expect(head.values(of: "cookie") == ["a=1; b=2"])
        #expect(head.values(of: "origin") == ["https://example"])
        #expect(head.values(of: "authorization") == ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="])
        #expect(head.values(of: "x-mine") == ["yes"])
        opening.credentials = HTTPCredentials(user: "u", password: "p")
        #expect(try handshake("ws://a:b@h/", opening).head.values(of: "authorization") == ["Basic dTpw"])
        #expect(try handshake("ws://h/").head.values(of: "authorization").isEmpty)
    }

    @Test(
        "H18: fields that clash with the handshake, and line endings in any value, are refused by name",
        arguments: [
            HTTPField("Host", "x"), HTTPField("upgrade", "x"), HTTPField("Connection", "close"),
            HTTPField("Sec-WebSocket-Key", "x"), HTTPField("SEC-WebSocket-Extensions", "x"),
            HTTPField("X-A", "b\r\nHost: x"), HTTPField("X-A", "b\n"), HTTPField("X A", "b"), HTTPField("", "b"),
            HTTPField("X-A", "\0"), HTTPField("Transfer-Encoding", "chunked"),
        ])
    func h18Clashes(field: HTTPField) {
        var opening = WebSocketOpening()
        opening.fields = [field]
        #expect(opening.fault?.contains(field.name.isEmpty ? "field" : field.name) == true)
    }

    @Test("H18: so are settings that hold line endings, or say a thing twice")
    func h18Settings() {
        let changes: [(inout WebSocketOpening) -> Void] = [
            { $0.cookies = [HTTPField("a", "b\r\n")] }, { $0.cookies = [HTTPField("a", "b; c")] },
            { $0.origin = "x\r\ny" }, { $0.credentials = HTTPCredentials(user: "a:b", password: "") },
            { $0.credentials = HTTPCredentials(user: "a", password: "\n") }, { $0.subprotocols = ["a b"] },
            { $0.subprotocols = ["a", "a"] }, { $0.requiresSubprotocol = true },
            { ($0.origin, $0.fields) = ("x", [HTTPField("Origin", "y")]) },
        ]
        for change in changes {
            var opening = WebSocketOpening()
            #expect(opening.fault == nil)
            change(&opening)
            #expect(opening.fault != nil)
        }
    }

    // MARK: What is answered

    @Test("H6: another status than 101 fails, with status, fields and how the body begins")
    func h6Refusals() throws {
        let text = "HTTP/1.1 301 Moved\r\nLocation: /x\r\nContent-Length: 5\r\n\r\nhello, and more"
        let head = HTTPHead(
            startLine: "HTTP/1.1 301 Moved", fields: [HTTPField("Location", "/x"), HTTPField("Content-Length", "5")])
        let refusal = HandshakeRefusal(status: 301, head: head, body: Array("hello".utf8))
        #expect(try outcome(Array(text.utf8)) == .failed(.refused(refusal)))
        // Even with everything else in place.
        guard
            case .failed(.refused(let refusal)) = try outcome(answer("HTTP/1.1 200 OK", adding: ["Content-Length: 0"]))
        else {
            Issue.record("taken")
            return
        }
        #expect(refusal.status == 200)
    }

    @Test("H6: a length that is none does no harm", arguments: ["-5", "+5", "5, 5", "99999999999999999999", ""])
    func h6Lengths(length: String) throws {
        var handshake = try handshake()
        let text = "HTTP/1.1 403 No\r\nContent-Length: \(length)\r\n\r\nhello"
        #expect(handshake.receive(Array(text.utf8).span.bytes) == .wait)
        guard case .failed(.refused(let refusal)) = handshake.receiveEnd() else {
            Issue.record("not refused")
            return
        }
        #expect(refusal.body == Array("hello".utf8))
    }

    @Test("H6: a body in chunks ends at the same place however it comes", arguments: [1, 3, 1_000])
    func h6Chunks(piece: Int) throws {
        let body = "5\r\nhello\r\n0\r\n\r\n"
        let all = Array("HTTP/1.1 403 No\r\nTransfer-Encoding: chunked\r\n\r\n\(body)more".utf8)
        var handshake = try handshake()
        var steps: [ClientHandshake.Step] = []
        for start in stride(from: 0, to: all.count, by: piece) {
            steps.append(handshake.receive(Array(all[start..<min(all.count, start + piece)]).span.bytes))
        }
        let refusals = steps.compactMap { if case .failed(.refused(let refusal)) = $0 { refusal.body } else { nil } }
        #expect(refusals == [Array(body.utf8)])
    }

    @Test("H6: a body without a length ends with the connection, and no more than 4 KiB of it are kept")
    func h6Bodies() throws {
        var handshake = try handshake()
        #expect(handshake.receive(Array("HTTP/1.1 500 Oh\r\n\r\nhel".utf8).span.bytes) == .wait)
        #expect(handshake.receive(Array("lo".utf8).span.bytes) == .wait)
        guard case .failed(.refused(let refusal)) = handshake.receiveEnd() else {
            Issue.record("not refused")
            return
        }
        #expect(refusal.body == Array("hello".utf8))
        let flood = Array("HTTP/1.1 500 Oh\r\n\r\n".utf8) + [UInt8](repeating: 0x61, count: 10_000)
        guard case .failed(.refused(let long)) = try outcome(flood) else {
            Issue.record("not refused")
            return
        }
        #expect(long.body.count == 4_096)
    }

    @Test("H7: Upgrade and Connection must say it, in whatever case and company")
    func h7Tokens() throws {
        #expect(try problem(answer(dropping: "Upgrade"))?.contains("Upgrade is missing") == true)
        #expect(try problem(answer(dropping: "Upgrade", adding: ["Upgrade: h2c"]))?.contains("h2c") == true)
        #expect(try problem(answer(dropping: "Connection"))?.contains("Connection") == true)
        #expect(
            try problem(answer(dropping: "Connection", adding: ["Connection: close"]))?.contains("Connection") == true)
        for fine in [["Connection: keep-alive, UPGRADE"], ["connection: keep-alive", "CONNECTION: upgrade"]] {
            #expect(try problem(answer(dropping: "Connection", adding: fine)) == nil)
        }
        #expect(try problem(answer(dropping: "Upgrade", adding: ["uPGRADE: WebSocket"])) == nil)
    }

    @Test("H8: Accept must be there once and answer our key to the letter")
    func h8Accept() throws {
        let name = "Sec-WebSocket-Accept"
        #expect(try problem(answer(dropping: name))?.contains("missing") == true)
        #expect(try problem(answer(adding: ["\(name): \(Self.accept)"]))?.contains("twice") == true)
        for wrong in [Self.accept.lowercased(), String(Self.accept.dropLast()), "", Self.accept + "x"] {
            #expect(try problem(answer(dropping: name, adding: ["\(name): \(wrong)"]))?.contains("our key") == true)
        }
        #expect(try problem(answer(dropping: name, adding: ["\(name): \t \(Self.accept) \t"])) == nil)
    }

    @Test("H9: an extension that was not offered, or not so, fails")
    func h9Extensions() throws {
        let name = "Sec-WebSocket-Extensions"
        #expect(try problem(answer(adding: ["\(name): permessage-deflate"]))?.contains("permessage-deflate") == true)
        #expect(try problem(answer(adding: ["\(name): permessage-deflate"]), deflate: true) == nil)
        #expect(try problem(answer(adding: ["\(name): permessage-deflate; x"]), deflate: true) != nil)
        #expect(try problem(answer(adding: ["\(name): "])) == nil)
    }

    @Test("H10: the subprotocol must be one that was offered; none will do unless one is required")
    func h10Subprotocols() throws {
        let name = "Sec-WebSocket-Protocol"
        #expect(try problem(answer(adding: ["\(name): chat"]))?.contains("not offered") == true)
        #expect(try problem(answer(adding: ["\(name): Chat"]), chat)?.contains("not offered") == true)
        #expect(try problem(answer(adding: ["\(name): chat", "\(name): superchat"]), chat)?.contains("twice") == true)
        #expect(try problem(answer(), chat) == nil)
        var demanding = chat
        demanding.requiresSubprotocol = true
        #expect(try problem(answer(), demanding)?.contains("required") == true)
        guard case .open(let agreement, _, _) = try outcome(answer(adding: ["\(name): superchat"]), chat) else {
            Issue.record("not taken")
            return
        }
        #expect(agreement.subprotocol == "superchat")
    }

    @Test("H11: what follows the empty line is not the handshake's")
    func h11FramesBehindTheAnswer() throws {
        let bytes = answer()
        guard case .open(_, _, let taken) = try outcome(bytes + [0x81, 0x01, 0x61]) else {
            Issue.record("not taken")
            return
        }
        #expect(taken == bytes.count)
    }

    @Test("H12: cut anywhere, an answer is the same")
    func h12Cuts() throws {
        let bytes = answer(adding: ["X-Long: \(String(repeating: "x", count: 200))"])
        let first = try handshake()
        func decode(_ pieces: [[UInt8]]) -> String {
            var handshake = first
            for piece in pieces {
                let step = handshake.receive(piece.span.bytes)
                if case .open(let agreement, _, let taken) = step { return "\(agreement) \(taken == piece.count)" }
                if step != .wait { return "\(step)" }
            }
            return "nothing"
        }
        let expected = decode([bytes])
        #expect(expected.hasSuffix("true"))
        #expect(
            DecoderVerifier.firstMismatch(of: bytes, expected: expected, seed: 1, randomCuts: 50, decode: decode) == nil
        )
    }

    @Test("an answer that is no HTTP/1.1, and a connection that ends early, fail")
    func noAnswers() throws {
        #expect(try problem(answer("HTTP/1.0 101 x"))?.contains("HTTP/1.0") == true)
        #expect(try problem(answer("SSH-2.0-x"))?.contains("SSH-2.0-x") == true)
        #expect(try problem(answer("HTTP/1.1 999 x"))?.contains("999") == true)
        var handshake = try handshake()
        guard case .failed(.broken(let problem, _)) = handshake.receiveEnd() else {
            Issue.record("went on")
            return
        }
        #expect(problem.contains("without a response"))
    }
}
