import SocketTestSupport
import Testing

@testable import SocketCore

@Suite("HTTP heads")
struct HTTPTests {
    /// What it comes to, and what is left behind the head.
    static func outcome(_ pieces: [[UInt8]], limit: Int = 16_384) -> HTTPHeadParser.Step {
        var parser = HTTPHeadParser(limit: limit)
        for piece in pieces {
            let step = parser.receive(piece.span.bytes)
            if step != .wait { return step }
        }
        return .wait
    }

    private func fault(_ text: String) -> String? {
        guard case .failed(let fault) = Self.outcome([Array(text.utf8)]) else { return nil }
        return fault.problem
    }

    @Test("several lines and one list are the same, and quotes keep commas together")
    func lists() {
        let head = HTTPHead(
            startLine: "",
            fields: [HTTPField("X-A", "one, ,two"), HTTPField("y", "no"), HTTPField("x-a", #"a="1,\",2""#)])
        #expect(head.list(of: "X-a") == ["one", "two", #"a="1,\",2""#])
        #expect(head.values(of: "Y") == ["no"])
        #expect(head.lists("TWO", in: "x-a"))
    }

    @Test("H13: what is too long, folded, or holds what no head holds, fails at once")
    func h13StrictHeads() {
        #expect(fault("GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n")?.contains("continues") == true)
        #expect(fault("GET / HTTP/1.1\r\nA: b\0\r\n\r\n")?.contains("control character 0") == true)
        #expect(fault("GET / HTTP/1.1\nA: b\r\n\r\n")?.contains("bare line feed") == true)
        #expect(fault("GET / HTTP/1.1\r\nA: b\rc\r\n\r\n")?.contains("bare carriage return") == true)
        #expect(fault("GET / HTTP/1.1\r\nA : b\r\n\r\n")?.contains("not a field name") == true)
        #expect(fault("GET / HTTP/1.1\r\nnonsense\r\n\r\n")?.contains("no colon") == true)
        #expect(fault("GET / HTTP/1.1\r\n: b\r\n\r\n")?.contains("not a field name") == true)
        #expect(fault("\r\nGET / HTTP/1.1\r\n\r\n")?.contains("begins with an empty line") == true)
        // A TLS hello at a port without TLS is known by its second byte.
        #expect(fault("\u{16}\u{3}\u{1}")?.contains("control character 22") == true)
    }

    @Test("H13: memory is bounded, however the bytes come", arguments: [1, 7, 1_000])
    func h13BoundedHeads(size: Int) {
        var parser = HTTPHeadParser(limit: 1_000)
        let piece = [UInt8](repeating: 0x61, count: size)
        for _ in 0..<(1_000 / size) {
            #expect(parser.receive(piece.span.bytes) == .wait)
        }
        guard case .failed(let fault) = parser.receive(piece.span.bytes) else {
            Issue.record("went on")
            return
        }
        #expect(fault.isTooLong)
        #expect(parser.count == 0)
        let whole = Array("A b C\r\n\r\n".utf8)
        #expect(Self.outcome([whole], limit: whole.count) != .wait)
        guard case .failed = Self.outcome([whole], limit: whole.count - 1) else {
            Issue.record("one byte too many was taken")
            return
        }
    }

    @Test(
        "base64 as RFC 4648 section 10 has it",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func base64(_ text: String, _ expected: String) {
        #expect(Base64.text(Array(text.utf8)) == expected)
    }

    @Test("a response sets none of the fields that are added, and no Transfer-Encoding")
    func responseFields() {
        func fault(_ name: String) -> String? {
            HTTPResponse(status: 200, fields: [HTTPField(name, "x")], text: "").fault
        }
        #expect(fault("Connection") == "Connection: is added automatically; leave it out")
        #expect(fault("content-length") == "content-length: is added automatically; leave it out")
        #expect(fault("Transfer-Encoding")?.contains("is not supported") == true)
        #expect(fault("X-Mine") == nil)
    }
}
