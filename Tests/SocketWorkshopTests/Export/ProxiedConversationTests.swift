import SocketCore
import SocketExport
import SocketTestSupport
import SocketWorkshop
import Testing

@Suite("The conversation beyond a proxy")
struct ProxiedConversationTests {
    private typealias Part = ExportedConversation.Part

    /// Returns a conversation of texts that the client and its peer sent in turn.
    private static func talk(_ parts: [[UInt8]]) -> ExportedConversation {
        let sides: [ExportedConversation.Side] = [.client, .server]
        let count = parts.count
        return ExportedConversation(
            parts.enumerated().map { Part(side: sides[$0.offset % 2], bytes: $0.element) },
            ends: [.init(side: .client, parts: count)])
    }

    private static let established = Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)
    private static let ping = Array("PING\r\n".utf8)
    private static let pong = Array("+PONG\r\n".utf8)

    @Test("SOCKS: greeting, request and their answers are left out")
    func socks() throws {
        let talk = Self.talk([
            [5, 1, 0], [5, 0], [5, 1, 0, 1, 127, 0, 0, 1, 0, 80], [5, 0, 0, 1, 0, 0, 0, 0, 0, 0], Self.ping, Self.pong,
        ])
        let passed = try #require(talk.beyond(.socks5))
        #expect(passed.parts == [Part(side: .client, bytes: Self.ping), Part(side: .server, bytes: Self.pong)])
        #expect(passed.ends.map(\.parts) == [2])
    }

    @Test("CONNECT: what follows the request at once is the server's")
    func connect() throws {
        let request = Array("CONNECT h.example:80 HTTP/1.1\r\nHost: h.example\r\n\r\n".utf8)
        let talks = [
            [request + Self.ping, Self.established + Self.pong], [request, Self.established, Self.ping, Self.pong],
        ]
        for talk in talks {
            let passed = try #require(Self.talk(talk).beyond(.http))
            #expect(passed.bytes(of: .client) == Self.ping && passed.bytes(of: .server) == Self.pong)
        }
    }

    @Test("a request in absolute form has the head that is forwarded, and no second request follows")
    func forwarded() throws {
        let request =
            "POST http://h.example/a HTTP/1.1\r\nHost: h.example\r\nProxy-Connection: x\r\n"
            + "Content-Length: 2\r\n\r\nhiGET / HTTP/1.1\r\n\r\n"
        let passed = try #require(Self.talk([Array(request.utf8), Self.pong]).beyond(.http))
        #expect(
            String(decoding: passed.bytes(of: .client), as: UTF8.self)
                == "POST /a HTTP/1.1\r\nHost: h.example\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
        #expect(passed.bytes(of: .server) == Self.pong)
    }

    @Test("without a whole handshake at the beginning there is none")
    func incomplete() {
        #expect(Self.talk([[5, 1, 0], [5, 0]]).beyond(.socks5) == nil)
        #expect(Self.talk([Array("GET / HTTP/1.1\r\n\r\n".utf8), Self.pong]).beyond(.http) == nil)
        var part = Self.talk([Array("CONNECT h:1 HTTP/1.1\r\n\r\n".utf8), Self.established])
        #expect(part.beyond(.http) != nil)
        part.hasBeginning = false
        #expect(part.beyond(.http) == nil)
    }
}
