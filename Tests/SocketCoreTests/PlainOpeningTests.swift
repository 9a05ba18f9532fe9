import Testing

@testable import SocketCore

@Suite("A peer that does not speak TLS")
struct PlainOpeningTests {
    @Test(
        "is quoted, up to the end of its line, with nothing raw",
        arguments: [
            ("HTTP/1.1 400 Bad Request\r\nServer: x", "HTTP/1.1 400 Bad Request"),
            ("220 mail.example ESMTP\n", "220 mail.example ESMTP"),
            ("\u{1B}[2Jhello", "\\x1b[2Jhello"),
            (String(repeating: "a", count: 900), String(repeating: "a", count: 40)),
        ])
    func quoted(_ sent: String, _ shown: String) {
        #expect(
            PlainOpening.sentence(Array(sent.utf8)) == "the peer does not speak TLS: it sent \"\(shown)\"")
    }

    @Test("is not claimed of a record, whatever is wrong in it, nor of too few bytes")
    func records() {
        for type in UInt8(20)...24 { #expect(PlainOpening.sentence([type, 3, 1, 0xFF, 0xFF, 9]) == nil) }
        #expect(PlainOpening.sentence(Array("HTTP".utf8)) == nil)
        #expect(PlainOpening.sentence([]) == nil)
    }
}
