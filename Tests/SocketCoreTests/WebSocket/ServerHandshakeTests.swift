import SocketTestSupport
import Testing

@testable import SocketCore

@Suite("The server's opening handshake")
struct ServerHandshakeTests {
    private let fields = [
        "Host: h", "Upgrade: websocket", "Connection: keep-alive, Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
    ]

    private func bytes(_ line: String = "GET /chat?x=1 HTTP/1.1", dropping: String = "", adding: [String] = [])
        -> [UInt8]
    {
        let kept = fields.filter { dropping.isEmpty || !$0.hasPrefix(dropping) }
        return Array((([line] + kept + adding).joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    private func request(_ bytes: [UInt8]) throws -> WebSocketRequest {
        var handshake = ServerHandshake()
        guard case .request(let request, _) = handshake.receive(bytes.span.bytes) else {
            throw Unreadable()
        }
        return request
    }

    private struct Unreadable: Error {}

    private func status(_ bytes: [UInt8]) throws -> Int? { try request(bytes).refusal?.status }

    @Test("a request that is in order")
    func good() throws {
        let request = try request(bytes(adding: ["Origin: https://a"]))
        #expect(request.refusal == nil)
        #expect(request.path == "/chat")
        #expect(request.query == "x=1")
        #expect(request.host == "h")
        #expect(request.origin == "https://a")
        #expect(request.key == "dGhlIHNhbXBsZSBub25jZQ==")
        #expect(try self.request(bytes("GET ws://h/a?b HTTP/1.1")).resource == "/a?b")
        #expect(try self.request(bytes("GET http://h HTTP/1.1")).resource == "/")
    }

    @Test("S1: another method or version of HTTP, and what is missing, is answered with 400")
    func s1BadRequests() throws {
        for line in ["POST / HTTP/1.1", "HEAD / HTTP/1.1", "GET / HTTP/1.0"] { #expect(try status(bytes(line)) == 400) }
        for name in ["Host", "Upgrade", "Connection", "Sec-WebSocket-Key"] {
            #expect(try status(bytes(dropping: name)) == 400, "\(name)")
        }
        #expect(try status(bytes(adding: ["Host: other"])) == 400)
        #expect(try status(bytes(dropping: "Upgrade", adding: ["Upgrade: h2c"])) == 400)
        var handshake = ServerHandshake()
        guard case .refused(let answer, _) = handshake.receive(Array("nonsense\r\n\r\n".utf8).span.bytes) else {
            Issue.record("taken")
            return
        }
        #expect(String(decoding: answer.bytes(), as: UTF8.self).hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
    }

    @Test("S2: another version of the protocol is answered with 426 and the one that would do")
    func s2OtherVersions() throws {
        for adding in [[], ["Sec-WebSocket-Version: 8"], ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 8"]] {
            let answer = try #require(try request(bytes(dropping: "Sec-WebSocket-Version", adding: adding)).refusal)
            #expect(answer.status == 426)
            #expect(answer.fields.contains(HTTPField("Sec-WebSocket-Version", "13")))
            #expect(answer.fields.contains(HTTPField("Upgrade", "websocket")))
        }
    }

    @Test(
        "S3: a key that is not 16 bytes in base64 is answered with 400",
        arguments: [
            "", "x", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZS4h",
            "dGhlIHNhb*BsZSBub25jZQ==",
        ])
    func s3Keys(key: String) throws {
        #expect(try status(bytes(dropping: "Sec-WebSocket-Key", adding: ["Sec-WebSocket-Key: \(key)"])) == 400)
        #expect(try status(bytes(adding: ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="])) == 400)
    }

    @Test("S4: the answer that opens holds what was negotiated and nothing else")
    func s4Answer() throws {
        let request = try request(bytes(adding: ["Sec-WebSocket-Protocol: a, b", "Sec-WebSocket-Extensions: x; y=1"]))
        let plain = request.answer(accept: "A", subprotocol: nil, extensions: nil)
        #expect(
            String(decoding: plain.bytes, as: UTF8.self)
                == "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: A\r\n\r\n")
        let full = request.answer(
            accept: "A", subprotocol: "b", extensions: "x", fields: [HTTPField("Set-Cookie", "c")])
        #expect(full.values(of: "sec-websocket-protocol") == ["b"])
        #expect(full.values(of: "sec-websocket-extensions") == ["x"])
        #expect(full.values(of: "set-cookie") == ["c"])
    }

    @Test("S5: several lines of subprotocols or extensions are one list")
    func s5Lists() throws {
        let apart = try request(
            bytes(adding: [
                "Sec-WebSocket-Protocol: a", "sec-websocket-protocol: b ,c", "Sec-WebSocket-Extensions: x; p=\"1,2\"",
                "Sec-WebSocket-Extensions: y",
            ]))
        #expect(apart.subprotocols == ["a", "b", "c"])
        #expect(apart.extensions == ["x; p=\"1,2\"", "y"])
        #expect(try status(bytes(adding: ["Sec-WebSocket-Protocol: a b"])) == 400)
    }

    @Test("S9: a body is not taken, and what follows the request is not HTTP's")
    func s9NothingBehindTheRequest() throws {
        #expect(try status(bytes(adding: ["Content-Length: 5"])) == 400)
        #expect(try status(bytes(adding: ["Transfer-Encoding: chunked"])) == 400)
        #expect(try status(bytes(adding: ["Content-Length: 0"])) == nil)
        var handshake = ServerHandshake()
        let first = bytes()
        guard case .request(_, let taken) = handshake.receive((first + bytes()).span.bytes) else {
            Issue.record("not taken")
            return
        }
        #expect(taken == first.count)
    }

    @Test("cut anywhere, a request is the same")
    func cuts() {
        let stream = bytes(adding: ["Origin: https://a"])
        func decode(_ pieces: [[UInt8]]) -> String {
            var handshake = ServerHandshake()
            for piece in pieces {
                let step = handshake.receive(piece.span.bytes)
                if case .request(let request, let taken) = step { return "\(request.head) \(taken == piece.count)" }
                if step != .wait { return "\(step)" }
            }
            return "nothing"
        }
        let expected = decode([stream])
        #expect(expected.hasSuffix("true"))
        #expect(
            DecoderVerifier.firstMismatch(of: stream, expected: expected, seed: 2, randomCuts: 50, decode: decode)
                == nil)
    }

    @Test("a head that is too long is answered with 431")
    func tooLong() {
        var handshake = ServerHandshake(headLimit: 100)
        guard case .refused(let answer, _) = handshake.receive([UInt8](repeating: 0x61, count: 200).span.bytes) else {
            Issue.record("taken")
            return
        }
        #expect(answer.status == 431)
    }
}
