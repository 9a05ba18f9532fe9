import Testing

@testable import SocketCore
@testable import SocketWorkshop

@Suite("The server's side of proxies")
struct ProxyHandshakeTests {
    /// What it comes to when the client's bytes come in pieces of one size.
    private func outcome(_ kind: ProxyKind, _ bytes: [UInt8], pieces: Int = .max) -> [ProxyHandshake.Step] {
        var handshake = ProxyHandshake(kind)
        var steps: [ProxyHandshake.Step] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            var step = handshake.receive(Array(rest.prefix(pieces)))
            rest = rest.dropFirst(min(pieces, rest.count))
            while case .reply = step {
                steps.append(step)
                step = handshake.receive([])
            }
            guard step != .wait else { continue }
            steps.append(step)
            return steps
        }
        return steps
    }

    private let name = Array("example".utf8)

    @Test("SOCKS: names, IPv4 and IPv6, whole or dripped", arguments: [1, 2, 7, Int.max])
    func socks(pieces: Int) {
        let greeting: [UInt8] = [5, 2, 2, 0]
        let targets: [([UInt8], Endpoint)] = [
            ([3, 7] + name, .tcp(host: "example", port: 258)), ([1, 127, 0, 0, 1], .tcp(host: "127.0.0.1", port: 258)),
            ([4] + [UInt8](repeating: 0, count: 15) + [1], .tcp(host: "::1", port: 258)),
        ]
        for (address, endpoint) in targets {
            let steps = outcome(.socks5, greeting + [5, 1, 0] + address + [1, 2], pieces: pieces)
            #expect(steps == [.reply([5, 0]), .open(endpoint, early: [])])
        }
    }

    @Test("what came behind a request belongs to the target")
    func early() {
        let socks: [UInt8] = [5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, 0, 80] + name
        #expect(outcome(.socks5, socks).last == .open(.tcp(host: "127.0.0.1", port: 80), early: name))
        let http = Array("CONNECT [::1]:80 HTTP/1.1\r\nHost: x\r\n\r\nexample".utf8)
        #expect(outcome(.http, http) == [.open(.tcp(host: "::1", port: 80), early: name)])
    }

    @Test(
        "SOCKS: what cannot be done is refused in its own words",
        arguments: [
            ([4, 1, 0, 80, 127, 0, 0, 1, 0], [0, 0x5B, 0, 0, 0, 0, 0, 0]), ([5, 1, 2], [5, 0xFF]),
            ([5, 1, 0, 5, 2, 0, 1, 1, 1, 1, 1, 0, 80], [5, 7, 0, 1, 0, 0, 0, 0, 0, 0]),
            ([5, 1, 0, 5, 1, 0, 9, 1, 1, 1, 1, 0, 80], [5, 8, 0, 1, 0, 0, 0, 0, 0, 0]),
            ([5, 1, 0, 5, 1, 0, 3, 1, 27, 0, 80], [5, 1, 0, 1, 0, 0, 0, 0, 0, 0]), ([0x47, 0x45], []),
        ] as [([UInt8], [UInt8])])
    func socksRefusals(request: [UInt8], answer: [UInt8]) {
        #expect(outcome(.socks5, request).last == .refuse(answer))
    }

    @Test("HTTP: a head in pieces, with bare line feeds too", arguments: [1, 3, 64])
    func connect(pieces: Int) {
        for text in ["CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n", "CONNECT h:443 HTTP/1.0\n\n"] {
            #expect(
                outcome(.http, Array(text.utf8), pieces: pieces) == [.open(.tcp(host: "h", port: 443), early: [])])
        }
    }

    @Test(
        "HTTP: what is neither CONNECT host:port nor a request for a server is answered with its status",
        arguments: [
            ("GET / HTTP/1.1\r\n\r\n", "400"), ("CONNECT h HTTP/1.1\r\n\r\n", "400"),
            ("CONNECT :80 HTTP/1.1\r\n\r\n", "400"), ("CONNECT unix:/s HTTP/1.1\r\n\r\n", "400"),
            ("nonsense\r\n\r\n", "400"), ("X\(String(repeating: "x", count: 20_000))", "431"),
        ])
    func httpRefusals(request: String, status: String) throws {
        guard case .refuse(let answer) = outcome(.http, Array(request.utf8), pieces: 1_000).last else {
            Issue.record("not refused")
            return
        }
        #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 \(status) "))
    }

    @Test("clients are told how it went")
    func answers() {
        #expect(ProxyHandshake(.socks5).connected == [5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        #expect(ProxyHandshake(.socks5).failed(.refused)[1] == 5)
        #expect(ProxyHandshake(.http).connected.starts(with: Array("HTTP/1.1 200 ".utf8)))
        #expect(ProxyHandshake(.http).failed(.timedOut).starts(with: Array("HTTP/1.1 504 ".utf8)))
    }
}
