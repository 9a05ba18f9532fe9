import SocketCore
import SocketWorkshop
import Testing

@Suite("The grammar of faults")
struct FaultGrammarTests {
    @Test(
        "A rule reads as it is printed",
        arguments: [
            "latency 200ms jitter 50ms", "after 1K downstream slice 7 every 20ms", "connection 3 reset",
            "every 2 first 10 peer 10.0.0.0/8 upstream bandwidth 32K", "after 5s stall 2s", "stall", "limit 0",
            "half-close", "slow-close 1500us", "prob 0.1 corrupt 3 bits", "match /a\\/b+/ insert hello\\r\\n",
            "match hello frame text stall", "replace /a b/ with \"x y\"", "replace abc with \"\"", "refuse",
            "after 10s no-accept", "loss 0.05", "duplicate 1.0", "reorder 0.05 20ms", "upstream delay 2m",
            "truncate 512", "match \"/no/\" reset", "peer 2001:db8::/32 refuse", "slice 1 vary 1400",
            "on exchange 3 reset", "after 1K after question /SELECT/ downstream latency 300ms",
        ])
    func roundTrip(text: String) throws {
        let rule = try FaultRule.parse(text)
        #expect(rule.description == text)
        #expect(try FaultRule.parse(rule.description) == rule)
    }

    @Test(
        "Other spellings mean the same",
        arguments: [
            ("dribble every 5ms", "slice 1 every 5ms"), ("match hex:0d0a reset", "match \\r\\n reset"),
            ("corrupt 1 bit", "corrupt 1 bits"), ("peer 127.0.0.1 reset", "peer 127.0.0.1/32 reset"),
            ("downstream after 1024 reset", "after 1K downstream reset"), ("latency 2000ms", "latency 2s"),
            ("match hex:48:69 reset", "match Hi reset"),
        ])
    func spellings(typed: String, meant: String) throws {
        #expect(try FaultRule.parse(typed).description == meant)
    }

    @Test(
        "A bad rule gets an error that names the word, its column and what would be right",
        arguments: [
            ("", "", 1, "effect"), ("downstream", "", 11, "effect"), ("latency", "", 8, "200ms"),
            ("latancy 5ms", "latancy", 1, "latency?"), ("#30 reset", "#30", 1, "write connection N instead"),
            ("latency 5", "5", 9, "write 5s or 5ms"),
            ("stall 0.5", "0.5", 7, "write 0.5s or 0.5ms"),
            ("latency 5h", "5h", 9, "200ms"), ("latency 86401s", "86401s", 9, "from 1us to 1440m"),
            ("latency 0ms", "0ms", 9, "from 1us to 1440m"),
            ("latency 5ms jitter", "", 19, "jitter"), ("after 1k reset", "1k", 7, "bytes"),
            ("after soon reset", "soon", 7, "5s"), ("upstream downstream reset", "downstream", 10, "already"),
            ("connection 0 reset", "0", 12, "at least 1"), ("first 2 first 3 reset", "first", 9, "twice"),
            ("peer localhost reset", "localhost", 6, "10.0.0.0/8"), ("match /a( reset", "/a( reset", 7, "/ is missing"),
            ("match /a(/ reset", "/a(/", 7, ")"), ("match \"\" reset", "\"\"", 7, "1 to 1024"),
            ("match hex:0 reset", "hex:0", 7, "two hex digits"), ("insert a\\q", "a\\q", 9, "escape"),
            ("frame txt reset", "txt", 7, "text, binary"), ("prob 2 reset", "2", 6, "up to 1"),
            ("corrupt 3", "", 10, "bits"), ("corrupt x bits", "x", 9, "8192"),
            ("reset now", "now", 7, "unexpected word after"),
            ("upstream no-accept", "no-accept", 10, "no direction"), ("after 1K no-accept", "no-accept", 10, "TIME"),
            ("after 1K refuse", "refuse", 10, "connection"), ("prob 0.1 loss 0.1", "loss", 10, "omit prob"),
            ("replace /x*/ with y", "/x*/", 9, "empty string"), ("replace x y", "y", 11, "with"),
            ("limit -1", "-1", 7, "bytes"), ("bandwidth 0", "0", 11, "at least 1"),
            ("frame ping loss 0.5", "loss", 12, "WebSocket"),
            ("match /a/b reset", "/a/", 7, "space"), ("on accept reset", "on", 1, "on exchange 3"),
            ("on exchanges 3 reset", "exchanges", 4, "on exchange 3"),
            ("on exchange 0 reset", "0", 13, "at least 1"), ("on exchange 1 refuse", "refuse", 15, "before any byte"),
            ("on exchange 1 loss 0.5", "loss", 15, "datagrams"),
            ("after question /a/ upstream reset", "reset", 29, "downstream"),
        ])
    func problems(text: String, word: String, column: Int, hint: String) {
        do {
            let rule = try FaultRule.parse(text)
            Issue.record("\(text) was read as \(rule)")
        } catch {
            #expect(error.word == word, "\(text)")
            #expect(error.column == column, "\(text): \(error)")
            #expect(error.description.contains(hint), "\(text): \(error)")
        }
    }

    @Test("Every effect and every condition has its row, and every row's word is read")
    func rows() {
        for row in FaultWord.all {
            #expect(!row.help.isEmpty && row.usage.hasPrefix(row.name))
            switch row.part {
            case .point:
                #expect(throws: Never.self) { try Breakpoint.parse("on \(Self.example(row.usage))") }
            case .effect, .datagrams:
                #expect(throws: Never.self) { try FaultRule.parse(Self.example(row.usage)) }
            case .condition, .direction:
                #expect(throws: Never.self) { try FaultRule.parse("\(Self.example(row.usage)) reset") }
            }
        }
    }

    /// A usage with values in its places.
    private static func example(_ usage: String) -> String {
        var text = usage
        for (place, value) in [
            ("/RE/|hex:BYTES|TEXT", "/x/"), ("/RE/|BYTES", "/x/"), ("BYTES|TIME", "1K"),
            ("text|binary|ping|pong|close", "ping"),
            ("[jitter TIME]", "jitter 1ms"), ("[vary M]", "vary 1"), ("[every TIME]", "every 1ms"), ("[TIME]", "1s"),
            ("TIME", "1s"), ("RATE", "32K"), ("BYTES", "77"), ("CIDR", "10.0.0.0/8"), (" N", " 3"), (" P", " 0.5"),
        ] { text = text.replacing(place, with: value) }
        return text
    }

    @Test(
        "A breakpoint reads as it is printed",
        arguments: [
            "on accept", "on connect", "upstream on bytes 4711", "port:6379 downstream on match /ERR/",
            "(state:estab | port:80) on frame text", "on fin", "on reset", "on timeout", "on write-blocked",
        ])
    func breakpoints(text: String) throws {
        let breakpoint = try Breakpoint.parse(text)
        #expect(breakpoint.description == text)
    }

    @Test(
        "A bad breakpoint gets an error that names the word",
        arguments: [
            ("bytes 5", "", "on"), ("on", "", "accept"), ("on byte 5", "byte", "bytes?"), ("on bytes", "", "bytes"),
            ("upstream x on fin", "x", "on must follow"), ("on fin now", "now", "unexpected word after"),
        ])
    func badBreakpoints(text: String, word: String, hint: String) {
        do {
            let breakpoint = try Breakpoint.parse(text)
            Issue.record("\(text) was read as \(breakpoint)")
        } catch {
            #expect(error.word == word)
            #expect(error.description.contains(hint))
        }
    }
}
