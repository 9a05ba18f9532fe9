import Glibc
import InspectorCore
import SocketKit
import SocketTestSupport
import Testing

@testable import InspectorShell
@testable import SockTUI

@Suite("What goes outside", .timeLimit(.minutes(10)))
struct OutsideTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("bytes are saved unaltered to a new file of its owner's; a file that is there is left alone")
    func save() throws {
        let path = folder.path + "/bytes"
        let bytes = Array(UInt8.min ... .max)
        #expect(
            SavedBytes.save(path, bytes, missing: 4, droppedItems: 1)
                == .success("saved 256 bytes to \(path); 4 more were not kept; 1 older item had been dropped"))
        var facts = stat()
        #expect(stat(path, &facts) == 0 && facts.st_mode & 0o777 == 0o600)
        #expect(try ReadFile(path).next(1_000) == bytes)
        guard case .failure(let problem) = SavedBytes.save(path, [1], missing: 0, droppedItems: 0) else {
            Issue.record("it was overwritten")
            return
        }
        #expect(problem.sentence == "\(path): already exists; choose another name")
        #expect(try ReadFile(path).next(1_000) == bytes)
    }

    @Test("a byte order mark is not part of a text")
    func byteOrderMark() throws {
        folder.write("\u{FEFF}theme = \"light\"\n", to: "marked")
        #expect(try TextFile.contents(of: folder.path + "/marked") == "theme = \"light\"\n")
    }

    @Test("lines that were sent are kept by peer, for their owner only, and bounded")
    func sentLines() {
        let lines = SentLines(path: folder.path + "/state/sent")
        #expect(lines.byPeer().isEmpty)
        lines.add(SentLine(text: "a\tb\nc\\", mode: .escapes, ending: .lf), to: "host:1")
        for number in 0..<(SentLines.perPeer + 5) {
            lines.add(SentLine(text: "\(number)", mode: .text, ending: .crlf), to: "host:2")
        }
        lines.add(SentLine(text: "50", mode: .hex, ending: .none), to: "host:2")
        lines.add(SentLine(text: String(repeating: "x", count: 5_000), mode: .text, ending: .none), to: "host:1")
        let all = lines.byPeer()
        #expect(all["host:1"] == [SentLine(text: "a\tb\nc\\", mode: .escapes, ending: .lf)])
        #expect(all["host:2"]?.count == SentLines.perPeer)
        #expect(all["host:2"]?.last == SentLine(text: "50", mode: .hex, ending: .none))
        #expect(all["host:2"]?.count { $0.text == "50" } == 1)
        var facts = stat()
        #expect(stat(lines.path, &facts) == 0 && facts.st_mode & 0o777 == 0o600)
    }

    @Test("a file of lines that somebody else wrote into is read as far as it makes sense")
    func foreignLines() {
        folder.write("text\tCRLF\thost:1\tgood\nnonsense\n\t\t\t\ntext\tCRLF\thost:1\t\\q\n", to: "sent")
        let all = SentLines(path: folder.path + "/sent").byPeer()
        #expect(all == ["host:1": [SentLine(text: "good", mode: .text, ending: .crlf)]])
    }

    @Test("a listener replies by its rules to those who connect, and stops when they go")
    func replies() throws {
        let engine = EngineSource()
        let opened = Lock<SocketID?>(nil)
        let port = try Peer.freePort()
        engine.listen(OpenRequest(.tcp(host: "127.0.0.1", port: port))) { result in
            opened.withLock { $0 = try? result.get() }
        }
        #expect(eventually { opened.withLock { $0 } != nil })
        let id = try #require(opened.withLock { $0 })
        let answers = Lock<[String]>([])
        func set(_ rules: [ReplyRule]) {
            engine.setReplies(id, rules) { error in answers.withLock { $0.append(error?.detail ?? "") } }
        }
        set([try ReplyRule(pattern: "x", text: "", reply: [.counted(width: 1, isLittleEndian: false, [.random(300)])])])
        #expect(eventually { answers.withLock { $0.count } == 1 })
        #expect(answers.withLock { $0[0] }.hasPrefix("300 bytes do not fit"))
        set([
            try ReplyRule(pattern: "^PING", text: "", reply: [.bytes(Array("PONG ".utf8)), .sequence, .bytes([10])]),
            try ReplyRule(pattern: "!", text: "", reply: [.bytes([0x3F])]),
        ])
        #expect(eventually { answers.withLock { $0.last } == "" })
        let recorder = Recorder()
        let client = AsyncSocket(engine: SocketEngine(), delegate: recorder)
        try client.connect(toHost: "127.0.0.1", port: port)
        client.read(ReadRequest(.available(limit: nil), isStanding: true))
        client.write(Array("PING".utf8))
        #expect(eventually { recorder.received == Array("PONG 1\n".utf8) })
        client.write(Array("PING!".utf8))
        #expect(eventually { recorder.received == Array("PONG 1\nPONG 2\n?".utf8) })
        engine.setReplies(SocketID(9_999), []) { error in answers.withLock { $0.append(error?.detail ?? "") } }
        #expect(eventually { answers.withLock { $0.last?.contains("opened here") } == true })
    }

    @Test("a script has no terminal for an editor or a clipboard, and says so")
    func noTerminal() {
        let screen = ScriptScreen(Size(80, 24))
        #expect(throws: MessageText.Unsendable("there is no terminal for an editor")) {
            try Editor.edit([1], on: screen)
        }
        #expect(!screen.copy([1]))
    }

    @Test("an empty variable of the environment, as in VISUAL= socktui, is none")
    func emptyVariable() {
        #expect(EnvironmentVariables.text("") == nil && EnvironmentVariables.text(nil) == nil)
        #expect(EnvironmentVariables.text("vi") == "vi")
    }

    /// A terminal on which the editor leaves these bytes in the file.
    private final class Writing: Screen {
        let size = Size(80, 24)
        let descriptor: Int32? = nil
        private let bytes: [UInt8]

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        func input() -> [Message] { [] }
        func show(_ canvas: Canvas) {}
        func repaint() {}
        func suspend() {}
        func copy(_ bytes: [UInt8]) -> Bool { false }
        func hearMouse(_ isOn: Bool) {}
        func bell() {}
        func resume() {}
        func run(_ arguments: [String]) -> Int32? {
            let file = open(arguments.last ?? "", O_WRONLY | O_TRUNC)
            defer { close(file) }
            return FileOutput.write(bytes, to: file) ? 0 : 1
        }
    }

    @Test(
        "the newline with which editors end a file is not sent, unless it was there or more were written",
        arguments: [
            ("GET", "PUT\n", "PUT"), ("GET", "GET\n", nil), ("GET\n", "PUT\n", "PUT\n"), ("GET\n", "GET", "GET"),
            ("GET", "GET\n\n", "GET\n"), ("", "\n", nil), ("", "a", "a"),
        ] as [(String, String, String?)])
    func finalNewline(before: String, left: String, sent: String?) throws {
        let edited = try Editor.edit(Array(before.utf8), on: Writing(Array(left.utf8)))
        #expect(edited == sent.map { Array($0.utf8) })
    }
}
