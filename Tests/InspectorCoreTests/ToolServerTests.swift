import InspectorCore
import Testing

@Suite("Tools for editors")
struct ToolServerTests {
    private static func reply(_ server: inout ToolServer, _ line: String) -> String? {
        switch server.absorb(Array(line.utf8)).steps.first {
        case .reply(let json): json.text
        case .call(let call, _): "call \(call)"
        case .cancel(let id): "cancel \(id.text)"
        case nil: nil
        }
    }

    private static func initialized(_ version: String = "2025-06-18") -> (ToolServer, String?) {
        var server = ToolServer(version: "1")
        let answer = reply(
            &server,
            #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"\#(version)","capabilities":{}}}"#
        )
        return (server, answer)
    }

    @Test(
        "the client's version is spoken where it is known, else the newest",
        arguments: ToolServer.Version.allCases.map { ($0.rawValue, $0.rawValue) } + [("1999-01-01", "2025-11-25")])
    func version(_ wanted: String, _ spoken: String) {
        let (_, answer) = Self.initialized(wanted)
        #expect(answer?.contains(#""protocolVersion":"\#(spoken)""#) == true)
    }

    @Test("each version has what it defines, and nothing of later ones")
    func differences() {
        let list = #"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#
        let wrong = #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"why","arguments":{}}}"#
        for version in ToolServer.Version.allCases {
            var (server, _) = Self.initialized(version.rawValue)
            let hasAnnotations = Self.reply(&server, list)?.contains("annotations") == true
            #expect(hasAnnotations == (version >= .march2025), "\(version)")
            let result = server.reply(ToolResult("x", ["a": "b"]), to: .integer(1)).text
            #expect(result.contains("structuredContent") == (version >= .june2025), "\(version)")
            let hasBatches = server.absorb(Array("[\(list)]".utf8)).isBatch
            #expect(hasBatches == (version == .march2025), "\(version)")
            let mistake = Self.reply(&server, wrong) ?? ""
            #expect(mistake.contains("-32602") == (version < .november2025), "\(version)")
            #expect(mistake.contains(#""isError":true"#) == (version >= .november2025), "\(version)")
        }
    }

    @Test("every tool has a schema and changes nothing")
    func list() {
        var (server, _) = Self.initialized()
        let answer = Self.reply(&server, #"{"jsonrpc":"2.0","id":"a","method":"tools/list"}"#) ?? ""
        for tool in ToolCall.Kind.allCases { #expect(answer.contains(#""name":"\#(tool.rawValue)""#)) }
        #expect(answer.contains(#""id":"a""#))
        #expect(answer.split(separator: #""readOnlyHint":true"#).count == ToolCall.Kind.allCases.count + 1)
    }

    @Test(
        "a call is read with its arguments",
        arguments: [
            (#"{"name":"why","arguments":{"target":":9000"}}"#, "why(9000)"),
            (#"{"name":"host","arguments":{"filter":"warn:any"}}"#, #"host(filter: "warn:any", limit: 200)"#),
            (#"{"name":"events","arguments":{"program":"7","since":3,"limit":5}}"#, #"since: 3, limit: 5"#),
        ])
    func calls(_ parameters: String, _ expected: String) {
        var (server, _) = Self.initialized()
        let line = #"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":\#(parameters)}"#
        let answer = Self.reply(&server, line) ?? ""
        #expect(answer.hasPrefix("call"), "\(answer)")
        #expect(answer.replacing(":9000", with: "9000").contains(expected) || expected == "why(9000)")
    }

    @Test(
        "what is wrong is answered by JSON-RPC's codes",
        arguments: [
            ("{", -32700), ("[]", -32600), (#"{"id":1,"method":"ping"}"#, -32600),
            (#"{"jsonrpc":"2.0","id":1,"method":"none"}"#, -32601),
            (#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}"#, -32602),
            (#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"why","arguments":{}}}"#, -32602),
            (#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"why","arguments":{"a":1}}}"#, -32602),
            (
                #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"host","arguments":{"limit":0}}}"#,
                -32602
            ), (#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
        ])
    func refusals(_ line: String, _ code: Int) {
        var (server, _) = Self.initialized()
        let answer = Self.reply(&server, line) ?? ""
        #expect(answer.contains(#""code":\#(code),"#), "\(answer)")
    }

    @Test("notifications get no answer, and nothing but ping comes before initialize")
    func order() {
        var server = ToolServer(version: "1")
        #expect(Self.reply(&server, #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#) == nil)
        #expect(Self.reply(&server, #"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)?.contains("-32600") == true)
        #expect(Self.reply(&server, #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)?.contains(#""result":{}"#) == true)
    }

    @Test("a line that is too long is refused")
    func long() {
        var (server, _) = Self.initialized()
        let line = String(repeating: " ", count: ToolServer.longestLine + 1)
        #expect(Self.reply(&server, line)?.contains("-32700") == true)
    }
}

@Suite("Reading JSON")
struct JSONReaderTests {
    @Test(
        "what is written is read back",
        arguments: [
            "null", "true", "[1,-2,3.5,1e+20]", #"{"a":{"b":[]},"c":"\u001b[2J\"\\"}"#, #""é😀""#, "[[[[]]]]", "0",
            "-0.5",
        ])
    func whole(_ text: String) throws {
        let value = try JSONReader.read(Array(text.utf8))
        #expect(try JSONReader.read(Array(value.text.utf8)) == value)
    }

    @Test("escapes become characters, a surrogate pair one of them")
    func escapes() throws {
        #expect(try JSONReader.read(Array(#""\ud83d\ude00\n\/A""#.utf8)) == .string("😀\n/A"))
    }

    @Test(
        "what is not JSON is refused",
        arguments: [
            "", " ", "{", "[1,]", "{\"a\"}", "01", "+1", "1.", ".5", "1e", "nul", "\"", "\"\\x\"", "\"\\ud800\"", "1 2",
            "\"\u{1}\"", "--1", "1e999", "{1:2}", "\"\\u12g4\"",
        ])
    func refused(_ text: String) {
        #expect(throws: JSONReader.Problem.self) { try JSONReader.read(Array(text.utf8)) }
    }

    @Test("deep nesting is refused, not followed")
    func deep() {
        let text = [UInt8](repeating: 0x5B, count: 100_000)
        #expect(throws: JSONReader.Problem.self) { try JSONReader.read(text) }
    }

    @Test("bytes that are not UTF-8 are refused")
    func bytes() {
        #expect(throws: JSONReader.Problem.self) { try JSONReader.read([0x22, 0xFF, 0x22]) }
    }
}
