import InspectorCore
import InspectorScreen
import SocketCore
import Testing

@Suite("Messages as they are typed")
struct MessageTests {
    private static func bytes(_ text: String, sequence: Int = 7) throws -> [UInt8] {
        let values = MessageValues(
            sequence: sequence, time: { Array("NOW".utf8) }, random: { [UInt8](repeating: 0xAA, count: $0) },
            file: { (path) throws(MessageText.Unsendable) in
                guard path == "/greeting" else { throw MessageText.Unsendable("\(path): no such file") }
                return Array("hello".utf8)
            })
        return try MessageText.bytes(MessageText.parse(text).get(), values)
    }

    @Test(
        "Macros become bytes when they are sent",
        arguments: [
            ("a${seq}b", Array("a7b".utf8)), ("${time}", Array("NOW".utf8)), ("${rand:2}", [0xAA, 0xAA]),
            ("<${file:/greeting}>", Array("<hello>".utf8)), ("${len16be:ab}", [0, 2, 0x61, 0x62]),
            ("${len16le:ab}", [2, 0, 0x61, 0x62]), ("${len8:}", [0]), ("${len32:\\x00${seq}}", [0, 0, 0, 2, 0, 0x37]),
            ("${len16:${len8:x}}", [0, 2, 1, 0x78]), ("$5 {x} \\x24{seq}", Array("$5 {x} ${seq}".utf8)),
        ] as [(String, [UInt8])])
    func macros(_ text: String, _ expected: [UInt8]) throws {
        #expect(try Self.bytes(text) == expected)
    }

    @Test(
        "What is wrong with a macro is said with its column",
        arguments: [
            ("ab${foo}", 3), ("${seq", 1), ("${seq:1}", 1), ("${rand}", 1), ("${rand:0}", 1), ("${rand:x}", 1),
            ("${rand:65537}", 1), ("${file:}", 1), ("x${len12:a}", 2), ("${len8:a", 1), ("${len8:${bad}}", 8),
            ("${len8:\\q}", 8), ("${", 1),
        ])
    func mistakes(_ text: String, _ column: Int) {
        guard case .failure(let failure) = MessageText.parse(text) else {
            Issue.record("\(text) was taken")
            return
        }
        #expect(failure.column == column)
        #expect(!failure.message.isEmpty)
    }

    @Test("A length that does not fit, or a file that is not there, is refused when it is sent")
    func unsendable() throws {
        #expect(throws: MessageText.Unsendable.self) { try Self.bytes("${len8:${rand:256}}") }
        #expect(throws: MessageText.Unsendable("/none: no such file")) { try Self.bytes("${file:/none}") }
        #expect(try Self.bytes("${len8:${rand:255}}").count == 256)
    }

    @Test(
        "Hex in the forms in which people copy it",
        arguments: [
            ("0d 0a", [13, 10]), ("0D0A", [13, 10]), ("0x0d,0x0a", [13, 10]), ("0d:0A-ff", [13, 10, 255]),
            ("0x1 0x2", [1, 2]), ("00 # a comment with ab\nff", [0, 255]), ("", []), ("  # nothing", []),
        ] as [(String, [UInt8])])
    func hex(_ text: String, _ expected: [UInt8]) throws {
        #expect(try HexText.parse(text).get() == expected)
    }

    @Test(
        "Bad hex names its column",
        arguments: [("0d 0", 4), ("abc", 3), ("0g", 1), ("zz", 1), ("0x", 2), ("0d 0x012", 8)])
    func badHex(_ text: String, _ column: Int) {
        guard case .failure(let failure) = HexText.parse(text) else {
            Issue.record("\(text) was taken")
            return
        }
        #expect(failure.column == column)
    }

    @Test("Any text either parses or names a column within it", arguments: 0..<8)
    func random(_ seed: Int) throws {
        var generator = SeededGenerator(UInt64(seed) + 3)
        let alphabet = Array("${}:\\xlen816seqrandfile0 #é")
        for _ in 0..<2_000 {
            let text = String(
                (0..<Int.random(in: 0..<20, using: &generator)).map { _ in
                    alphabet.randomElement(using: &generator) ?? "x"
                })
            for result in [MessageText.parse(text).map { _ in }, HexText.parse(text).map { _ in }] {
                if case .failure(let failure) = result {
                    #expect(1...max(1, text.unicodeScalars.count) ~= failure.column)
                }
            }
        }
    }
}

@Suite("Composing")
struct ComposingTests {
    private let size = Size(80, 24)
    private var model: Model { Conversation.model(ascii: true, size: size) }
    private func write(_ bytes: [UInt8], tag: Int = 1) -> [Effect] {
        [.send(.write(Conversation.id, WriteRequest(bytes, tag: tag)))]
    }

    @Test("Macros that are known are sent at once, and count on")
    func known() {
        var model = model
        model.press(.alt("t"))
        model.type("${len8:n${seq}}")
        #expect(draw(model, size).text.contains("= 3 bytes + CRLF   02 6E 31 0D 0A"))
        #expect(model.press(.enter) == write([2, 0x6E, 0x31, 13, 10]))
        model.press(.up)
        #expect(model.press(.enter) == write([2, 0x6E, 0x32, 13, 10], tag: 2))
    }

    @Test("What only the moment of sending decides is left to the shell, and shown as unknown")
    func unknown() {
        var model = model
        model.press(.alt("t"), .alt("e"), .alt("e"))
        model.type("A${rand:2}${file:/x}")
        #expect(draw(model, size).text.contains("= 3 bytes + 1 file   41 ?? ??"))
        let pieces: [MessagePiece] = [.bytes([0x41]), .random(2), .file("/x")]
        #expect(
            model.press(.enter) == [.transmit(Transmission(Conversation.id, .message(pieces, sequence: 1), tag: 1))])
        #expect(model.composer.editor.isEmpty)
        _ = model.update(.refused("/x: No such file or directory"))
        #expect(draw(model, size).text.contains("/x: No such file"))
    }

    @Test("Hex is sent as it stands, and a bad digit blocks it")
    func hex() {
        var model = model
        model.press(.alt("t"), .alt("t"))
        model.type("0d 0a 0")
        #expect(model.press(.enter).isEmpty)
        #expect(model.notice?.text.contains("column 7") == true)
        model.type("0 ff")
        #expect(draw(model, size).text.contains("hex (Alt-t)   tag"))
        #expect(model.press(.enter) == write([13, 10, 0, 255]))
    }

    @Test("A file is examined while its path is typed, and sent by the shell")
    func file() {
        var model = model
        model.press(.alt("t"), .alt("t"), .alt("t"))
        #expect(model.type("/f") == [.examine("/"), .examine("/f")])
        _ = model.update(.examined(FileFacts(path: "/f", size: nil, problem: "/f: no such file")))
        #expect(draw(model, size).text.contains("/f: no such file"))
        #expect(model.press(.enter).isEmpty)
        _ = model.update(.examined(FileFacts(path: "/f", size: 3_000_000)))
        #expect(draw(model, size).text.contains("= 3000000 bytes, 2.9M"))
        let transmission = Transmission(Conversation.id, .file("/f"), tag: 1)
        #expect(model.press(.enter) == [.transmit(transmission)])
        #expect(draw(model, size).text.contains("sending f: 0 B of 2.9M, 0%   Alt-r stops it"))
        var progress = TransmissionProgress(transmission)
        #expect(progress.words == "sending f: 0 B")
        #expect(progress.words(underWay: .max) == "sending f: \(Format.size(Int.max))")
        (progress.done, progress.total) = (1_500_000, 3_000_000)
        _ = model.update(.transmission(progress))
        #expect(draw(model, size).text.contains("sending f: 1.4M of 2.9M, 50%   Alt-r stops it"))
        var socket = Conversation.socket
        socket.writing.current = OperationSnapshot(
            id: OperationID(8), kind: .write, tag: 1, done: 250_000, total: 262_144)
        _ = model.update(.snapshot(World.snapshot([socket], time: World.at(14, 3, 0))))
        #expect(draw(model, size).text.contains("sending f: 1.7M of 2.9M, 58%, 0/s   Alt-r stops it"))
        model.press(.alt("t"))
        model.type("x")
        #expect(model.press(.enter).isEmpty, "it would land in the middle of the file")
        #expect(model.press(.alt("r")) == [.stopTransmission(Conversation.id)])
        _ = model.update(.transmissionEnded(progress, .stopped))
        #expect(model.shared.transmissions.isEmpty)
        #expect(draw(model, size).text.contains("stopped sending f"))
        #expect(model.press(.enter) == write([0x78, 13, 10], tag: 2))
        socket.phase = .closed
        socket.closed = CloseRecord(time: World.at(14, 3, 1), error: nil)
        _ = model.update(.snapshot(World.snapshot([socket], time: World.at(14, 3, 5))))
        let time = model.traffic.sentFiles[Conversation.id]?.last?.time
        #expect(time.map { $0 <= World.at(14, 3, 1) } == true, "it was over when the connection closed")
    }

    @Test("A line can go out again and again, in pieces")
    func pace() {
        var model = model
        model.press(.alt("r"))
        model.type("5s")
        model.press(.tab)
        model.type("3")
        model.press(.tab)
        #expect(model.press(.enter).isEmpty)
        #expect(draw(model, size).text.contains("how long to wait between the pieces?"))
        model.type("100ms")
        #expect(model.press(.enter).isEmpty && model.dialogs.open == nil)
        #expect(draw(model, size).text.contains("3 B every 100ms, again every 5s"))
        model.type("tick")
        var pace = Pace()
        pace.interval = .seconds(5)
        pace.dribble = .init(bytes: 3, interval: .milliseconds(100))
        let message = Transmission.Source.message([.bytes(Array("tick\r\n".utf8))], sequence: 1)
        #expect(model.press(.enter) == [.transmit(Transmission(Conversation.id, message, tag: 1, pace: pace))])
        var progress = TransmissionProgress(Transmission(Conversation.id, message, tag: 1, pace: pace))
        progress.rounds = 3
        _ = model.update(.transmission(progress))
        #expect(model.composer.sequence == 4)
        model.type("other")
        #expect(model.press(.enter).isEmpty, "one at a time")
    }
}

@Suite("Acting on what is live")
struct ActingTests {
    private let size = Size(80, 24)

    @Test("A frame is read by the form")
    func frame() {
        var model = World.model()
        model.press(.character("r"), .character("f"), .tab, .left, .tab, .right, .tab)
        model.press(.control("u"))
        model.type("2")
        model.press(.tab, .character(" "))
        let prefix = LengthPrefix(.u16, isLittleEndian: true, offset: 2, countsHeader: true, limit: 8192)
        #expect(model.press(.enter) == [.send(.read(SocketID(7), ReadRequest(.frame(prefix), tag: 1)))])
        model.press(.character("r"), .character("f"), .tab, .tab, .tab, .tab, .tab, .control("u"), .character("3"))
        #expect(model.press(.enter).isEmpty)
        #expect(draw(model, size).text.contains("At most: must be at least the header's 4 bytes"))
    }

    @Test("One queued operation is chosen and cancelled, or gets another timeout")
    func operations() {
        var model = World.model()
        model.press(.character("d"))
        let text = draw(model, size).text
        #expect(text.contains("t42 length 4096, 1024/4096, timeout 30s, ASK") && text.contains("t43 until CRLF"))
        model.press(.character("2"))
        #expect(model.press(.character("c")) == [.send(.cancel(SocketID(7), .operation(OperationID(102))))])
        model.press(.character("d"), .character("j"), .enter, .character("t"), .control("u"))
        model.type("9s")
        #expect(model.press(.enter) == [.send(.setTimeout(SocketID(7), OperationID(102), .seconds(9)))])
        model.press(.character("d"), .character("1"), .character("a"))
        #expect(model.context == .form, "what asks is answered")
        model.press(.escape, .character("d"))
        #expect(model.press(.character("r")) == [.send(.cancel(SocketID(7), .reads))])
    }

    @Test("Marks are set, and taken away")
    func watermarks() {
        var model = World.model()
        model.press(.character("b"))
        model.type("1000")
        model.press(.tab, .control("u"))
        model.type("2000")
        #expect(model.press(.enter).isEmpty)
        #expect(draw(model, size).text.contains("the low mark is above the high one"))
        model.press(.control("u"))
        model.type("10")
        #expect(model.press(.enter) == [.send(.setWatermarks(SocketID(7), Watermarks(low: 10, high: 1000)))])
        model.press(.character("b"))
        #expect(model.press(.enter) == [.send(.setWatermarks(SocketID(7), nil))])
    }

    @Test("A listener holds connections, and each is taken or refused")
    func holding() {
        var model = Model(options: .init(ascii: true, version: "0"))
        var listener = World.listener
        listener.accepted = 0
        listener.isReadingPaused = true
        listener.kernel?.receiveQueue = 2
        _ = model.update(.opened(SocketID(3), OpenRequest(.tcp(host: "", port: 8080), holdsConnections: true)))
        _ = model.update(.snapshot(World.snapshot([listener])))
        let text = draw(model, size).text
        #expect(text.contains("accepting is paused (P)") && text.contains("2 waiting in the backlog"))
        model.press(.character("A"))
        #expect(draw(model, size).text.contains("2 connections wait at #3"))
        #expect(model.press(.character("t")) == [.send(.answerConnection(SocketID(3), .accept))])
        model.press(.character("A"))
        #expect(model.press(.character("r")) == [.send(.answerConnection(SocketID(3), .refuse))])
        #expect(model.press(.character("P")) == [.send(.pauseReading(SocketID(3), false))])
    }

    @Test("A long menu scrolls with its cursor")
    func longMenu() {
        var snapshot = World.full
        let index = snapshot.sockets.firstIndex { $0.id == SocketID(7) } ?? 0
        snapshot.sockets[index].reading.pending = (0..<40).map {
            OperationSnapshot(id: OperationID(300 + $0), kind: .read(.length(1)), tag: 500 + Int($0))
        }
        snapshot.sockets[index].reading.pendingCount = 40
        var model = World.model()
        _ = model.update(.snapshot(snapshot))
        model.press(.character("d"))
        #expect(!draw(model, Size(60, 16)).text.contains("t539"))
        for _ in 0..<40 { model.press(.character("j")) }
        #expect(draw(model, Size(60, 16)).text.contains("t539"))
        model.press(.enter)
        #expect(model.press(.character("c")) == [.send(.cancel(SocketID(7), .operation(OperationID(339))))])
    }
}

@Suite("What a line comes to")
struct LineSummaryTests {
    @Test("a line is parsed once for each change of it, however often it is drawn", arguments: ["escapes", "hex"])
    func parsing(mode: String) throws {
        var model = Conversation.model(ascii: true, size: Size(80, 24))
        while model.composer.mode.rawValue != mode { model.press(.alt("t")) }
        let before = model.composer.parses
        model.type("0d0a")
        #expect(model.composer.parses == before + 4)
        for key in [Key.left, .left, .home, .end] {
            model.press(key)
            #expect(draw(model, Size(80, 24)).text.contains(mode == "hex" ? "= 2 bytes" : "= 4 bytes"))
        }
        #expect(model.composer.parses == before + 4)
        model.press(.backspace)
        #expect(model.composer.parses == before + 5)
    }

    @Test("it follows the mode, the ending and the template that it is replaced by")
    func following() {
        var composer = Composer()
        composer.editor.insert("\\x41")
        #expect(composer.summary == nil)
        composer.mode = .escapes
        #expect((try? composer.summary?.get()) != nil)
        let crlf = composer.summary
        composer.ending = .lf
        #expect(composer.summary != crlf)
        composer.editor = LineEditor("\\q")
        guard case .failure = composer.summary else {
            Issue.record("a mistake was taken")
            return
        }
        composer.mode = .text
        #expect(composer.summary == nil)
    }
}
