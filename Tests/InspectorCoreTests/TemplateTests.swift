import InspectorScreen
import InspectorCore
import SocketCore
import Testing

@Suite("Templates and rules as they are written")
struct TemplateTests {
    @Test("Each table is a template")
    func reading() throws {
        let text = """
            # mine
            [http-get]
            body = 'GET / HTTP/1.1\\r\\n\\r\\n'
            eol = "none"
            read-after = 'until \\r\\n\\r\\n'

            [ping]
            mode = "text"
            body = "PING"
            [raw]
            mode = "hex"
            body = "00 01"
            read-after = "frame u16"
            """
        let templates = try Template.all(in: text).get()
        #expect(
            templates == [
                Template(
                    name: "http-get", mode: .escapes, body: "GET / HTTP/1.1\\r\\n\\r\\n", ending: .none,
                    readAfter: .delimiter([13, 10, 13, 10], limit: 1 << 20)),
                Template(name: "ping", mode: .text, body: "PING", ending: .crlf),
                Template(
                    name: "raw", mode: .hex, body: "00 01", ending: .crlf, readAfter: .frame(LengthPrefix(.u16))),
            ])
    }

    @Test(
        "A mistake is told with its line and column",
        arguments: [
            ("[a]\nmode = \"upper\"", 2, 8), ("[a]\nbody = 1", 2, 8), ("[a]\nname = \"x\"", 2, 1),
            ("body = \"x\"", 1, 1),
            ("[a]\neol = \"cr\"", 2, 7), ("[a]\nread-after = \"length 0\"", 2, 14), ("[a", 1, 3),
        ])
    func mistakes(_ text: String, _ line: Int, _ column: Int) {
        guard case .failure(let failure) = Template.all(in: text) else {
            Issue.record("\(text) was taken")
            return
        }
        #expect(failure.position == TOML.Position(line: line, column: column), "\(failure.message)")
    }

    @Test("A template goes to the composer, and its read is queued behind the line")
    func use() {
        var model = Conversation.model(ascii: true, size: Size(80, 24))
        #expect(model.press(.alt("o")).isEmpty && model.notice != nil)
        _ = model.update(
            .templates([
                Template(name: "hello", mode: .hex, body: "01 02", ending: .none, readAfter: .length(4))
            ]))
        model.press(.alt("o"), .character("1"))
        #expect(draw(model, Size(80, 24)).text.contains("then reads length 4"))
        #expect(
            model.press(.enter) == [
                .send(.write(Conversation.id, WriteRequest([1, 2], tag: 1))),
                .send(.read(Conversation.id, ReadRequest(.length(4), tag: 2))),
            ])
        model.type("03")
        #expect(model.press(.enter) == [.send(.write(Conversation.id, WriteRequest([3], tag: 3)))])
    }

    @Test("Where templates are looked for is said, and what is wrong with the file")
    func sources() {
        var model = Conversation.model(ascii: true, size: Size(80, 24))
        _ = model.update(.templates([], from: "/some/config/socktui/templates"))
        model.press(.alt("o"))
        #expect(draw(model, Size(80, 24)).text.contains("there are no templates in /some/config/socktui/templates"))
        _ = model.update(.templates([], from: "/x", problem: "/x:1:1: each template is a table"))
        model.press(.alt("o"))
        #expect(model.notice?.text == "/x:1:1: each template is a table" && model.notice?.isError == true)
    }

    @Test("A template needs a body")
    func noBody() {
        guard case .failure(let failure) = Template.all(in: "[a]\nbody = \"x\"\n[ping]\nmode = \"text\"\n") else {
            Issue.record("it was taken")
            return
        }
        #expect(failure.message == "the template ping has no body" && failure.position.line == 4)
    }

    @Test("A rule as the command line has it")
    func rules() throws {
        let rule = try ReplyRule.parse("when /^a/b/ send x/ send \\n").get()
        #expect(rule.pattern.text == "^a/b" && rule.text == "x/ send \\n")
        #expect(rule.reply == [.bytes(Array("x/ send \n".utf8))])
        for (text, column) in [
            ("x", 1), ("when //  send x", 1), ("when // send x", 7), ("when /a/ send \\q", 15), ("when /(/ send x", 7),
        ] {
            guard case .failure(let failure) = ReplyRule.parse(text) else {
                Issue.record("\(text) was taken")
                continue
            }
            #expect(failure.column == column, "\(text)")
        }
    }
}
