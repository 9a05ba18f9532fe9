import InspectorCore
import InspectorScreen
import Testing

@testable import InspectorShell
@testable import SockTUI

@Suite("Scripts")
struct ScriptTests {
    @Test("every step, with comments and empty lines")
    func steps() throws {
        let script = try Script(
            """
            # a comment

            key q
              key Esc ^D Alt-1 Alt-Enter F7 # S-Tab
            type some text\u{20}
            wait 3 live
            wait ESTAB now
            wait 500ms up
            wait 2s +PONG
            wait 5s
            wait-not 0.5 SYN-SENT
            dump
            dump picture.txt
            resize 60x16
            """)
        #expect(
            script.steps.map(\.step) == [
                .key([.character("q")]),
                .key([
                    .escape, .control("d"), .alt("1"), .altEnter, .function(7), .character("#"), .backTab,
                ]),
                .type("some text "),
                .wait("live", limit: .seconds(3)),
                .wait("ESTAB now", limit: .seconds(10)),
                .wait("up", limit: .milliseconds(500)), .wait("+PONG", limit: .seconds(2)),
                .wait("5s", limit: .seconds(10)),
                .waitNot("SYN-SENT", limit: .milliseconds(500)),
                .dump(nil), .dump("picture.txt"), .resize(Size(60, 16)),
            ])
        #expect(script.steps.map(\.line) == [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14])
    }

    @Test("line ends of other systems, and keys as tmux and emacs write them")
    func foreign() throws {
        let script = try Script("key C-c c-x Ctrl-D M-1\r\n\r\ntype a\r\nkey q")
        #expect(
            script.steps.map(\.step) == [
                .key([.control("c"), .control("x"), .control("d"), .alt("1")]), .type("a"), .key([.character("q")]),
            ])
        #expect(script.steps.map(\.line) == [1, 3, 4])
    }

    @Test(
        "a line that makes no sense is named",
        arguments: [
            (
                "\n\nkeys q", 3,
                "keys: no such step; write key, type, wait, wait-not, dump, resize or a command; did you mean key?"
            ),
            ("close sometime", 1, "sometime: close takes now, after-writes, after-reads, after-both, half, reset"),
            ("connect h:x", 1, "h:x: the port x is not a number; write digits, as in :80"),
            ("freeze now", 1, "now: freeze takes no arguments"),
            ("key", 1, "key: needs a key, as in key Enter, key q, key ^D, key Alt-1"),
            ("key Entre", 1, "Entre: no such key; write a character, Enter, Esc, Up, F1, ^D, Alt-1..."),
            ("wait", 1, "wait: needs the text to wait for"),
            (String(repeating: "x", count: 70_000), 1, "a line can have at most 65536 bytes"),
            ("resize 80", 1, "resize: needs columns x rows, as in 80x24"),
        ])
    func mistakes(text: String, line: Int, sentence: String) {
        #expect(throws: Script.Mistake(line: line, sentence: sentence)) { try Script(text) }
    }
}

@Suite("The run loop under a script")
struct ScriptDriverTests {
    private func driver() throws -> ScriptDriver {
        let screen = ScriptScreen(Size(80, 24))
        let runner = EffectRunner(sources: SourceList(), inbox: try Inbox())
        let model = Model(options: Model.Options(ascii: true, version: "test"))
        return ScriptDriver(loop: RunLoop(model: model, screen: screen, runner: runner), screen: screen)
    }

    @Test("a wait in vain fails with its line, in its time")
    func wait() throws {
        let error = #expect(throws: ScriptDriver.Failure.self) {
            try driver().run(try Script("wait 0.2 no such text"))
        }
        #expect(error?.line == 1)
        #expect(error?.sentence == "waited 0.2 seconds for \"no such text\"")
    }

    @Test("a time behind the text is told of, since it is part of the text")
    func timeLast() throws {
        let error = #expect(throws: ScriptDriver.Failure.self) { try driver().run(try Script("wait 0.1 +PONG 1s")) }
        #expect(error?.sentence.hasSuffix("for \"+PONG 1s\"; the time goes first, as in wait 1s TEXT") == true)
    }

    @Test("a wait ends as soon as nothing can bring what it waits for")
    func futile() throws {
        let error = #expect(throws: ScriptDriver.Failure.self) {
            try driver().run(try Script("connect 127.0.0.1:1\nwait 300 connected"))
        }
        #expect(error?.line == 2)
        #expect(
            error?.sentence
                == "\"connected\" can no longer appear: every connection is closed (#1 127.0.0.1:1: Connection refused)"
        )
    }

    @Test("the picture has the size that was asked for")
    func resize() throws {
        let driver = try driver()
        try driver.run(try Script("resize 100x30"))
        #expect(driver.loop.canvas.size == Size(100, 30))
    }

    @Test("a command that is refused fails its line")
    func refusedCommand() throws {
        let error = #expect(throws: ScriptDriver.Failure.self) {
            try driver().run(try Script("list\nclose now"))
        }
        #expect(error?.sentence == "list is not available in start")
    }

    @Test("steps after the end are refused")
    func end() throws {
        let error = #expect(throws: ScriptDriver.Failure.self) { try driver().run(try Script("key ^C\nkey q")) }
        #expect(error?.sentence == "the program had already ended")
    }
}
