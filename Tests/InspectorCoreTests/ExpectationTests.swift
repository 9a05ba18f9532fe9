import InspectorCore
import SocketCore
import Testing

@Suite("What --expect looks for")
struct ExpectationTests {
    private func search(_ texts: String...) throws -> ExpectationSearch {
        ExpectationSearch(try texts.map { try Expectation.parse($0).get() })
    }

    /// What is left when this has come, in these pieces.
    private func left(_ search: ExpectationSearch, after pieces: [String], from id: UInt64 = 1) -> String? {
        var search = search
        for piece in pieces { _ = search.absorb(Array(piece.utf8), from: SocketID(id)) }
        return search.current?.text
    }

    @Test(
        "texts, patterns and bytes are found however they are cut",
        arguments: [
            ("+PONG", "x+PONG\r\n", true), ("+PONG\\r\\n", "+PONG\r\n", true), ("+PONG", "+PON\r\nG", false),
            ("aab", "aaab", true), ("hex: 50 4f", "+PONG", true), ("hex:4f50", "+PONG", false),
            ("/^\\+PONG$/", "+PONG\r\n", true), ("/^\\+PONG$/", "x\n+PONG\n", true), ("/^PONG/", "+PONG\r\n", false),
            ("/PON$/", "+PONG\r\n", false), ("/PON\\b/", "+PONG\r\n", false), ("/PONG\\b/", "+PONG\r\n", true),
            ("/G\\r\\n/", "+PONG\r\n", true), ("/G\\r/", "+PONG\r", true), ("/P[A-Z]+G/", "+PONG", true),
            ("/a.c/", "abc", true),
            ("/usr", "in /usr/bin", true), ("//", "a//b", true), ("/", "a/b", true),
        ])
    func found(text: String, received: String, isFound: Bool) throws {
        let search = try search(text)
        let cuts = [[received], received.unicodeScalars.map(String.init)]
        for pieces in cuts { #expect((left(search, after: pieces) == nil) == isFound, "\(pieces)") }
    }

    @Test("the end of a line is one only once what follows has come, or nothing will")
    func ends() throws {
        var search = try search("/OK$/")
        #expect(search.absorb(Array("OK".utf8), from: SocketID(1)) == 0)
        #expect(left(search, after: ["AY\r\n"]) == "/OK$/" && left(search, after: ["\r\n"]) == nil)
        #expect(search.finish() == 1 && search.current == nil)
    }

    @Test("one is looked for behind the one before, in what came at once too")
    func order() throws {
        #expect(left(try search("PONG", "SLOW"), after: ["+SLOW\r\n+PONG\r\n"]) == "SLOW")
        #expect(left(try search("SLOW", "PONG"), after: ["+SLOW\r\n+PONG\r\n"]) == nil)
        #expect(left(try search("aa", "a"), after: ["aa"]) == "a")
        #expect(left(try search("a", "/^b/"), after: ["ab"]) == "/^b/", "a match does not begin a line")
        #expect(left(try search("a", "/^b/"), after: ["a\nb"]) == nil)
    }

    @Test("no match goes from one connection to another, and any of them may bring one")
    func connections() throws {
        var search = try search("ab", "cd")
        #expect(search.absorb(Array("a".utf8), from: SocketID(1)) == 0)
        #expect(search.absorb(Array("b".utf8), from: SocketID(2)) == 0)
        #expect(search.absorb(Array("cd".utf8), from: SocketID(2)) == 0)
        #expect(search.absorb(Array("b".utf8), from: SocketID(1)) == 2)
        #expect(search.current == nil && search.tail(10) == [])
    }

    @Test("what is kept has a limit, across which a match may go")
    func window() throws {
        let much = [UInt8](repeating: 0x78, count: 3 * ExpectationSearch.window)
        var text = try search("xx\\r\\n", "/x/")
        #expect(text.absorb(much, from: SocketID(1)) == 0)
        #expect(text.tail(.max).count == ExpectationSearch.window)
        #expect(text.absorb([0x0D, 0x0A], from: SocketID(1)) == 1)
        var pattern = try search("/^x+y/")
        #expect(pattern.absorb(much, from: SocketID(1)) == 0)
        #expect(pattern.absorb([0x79], from: SocketID(1)) == 1)
        var many = try search("a")
        for id in 0..<UInt64(2 * ExpectationSearch.mostStreams) {
            #expect(many.absorb([0x62], from: SocketID(id)) == 0)
        }
        #expect(many.absorb([0x61], from: SocketID(1)) == 1)
    }

    @Test("what makes no sense is refused", arguments: ["", "/(/", "hex:", "hex:zz", "\\q"])
    func mistakes(text: String) {
        #expect(throws: EscapedText.Failure.self) { try Expectation.parse(text).get() }
    }
}
