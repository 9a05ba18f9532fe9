import Glibc
import InspectorCore
import InspectorScreen
import SocketCore
import Testing

/// The words that a list of ours knows are those of the enumeration behind it.
@Suite("Word lists")
struct WordListTests {
    private static let root = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }

    private func ids(_ text: String, _ sockets: [SocketSnapshot]) throws -> [UInt64] {
        try Filter.parse(text).get().matching(sockets, World.now, Findings(LintSettings())).map(\.id.number)
    }

    @Test("role: and kind: take every role, as the screen writes it", arguments: SocketRole.allCases)
    func roles(_ role: SocketRole) throws {
        let sockets = zip(UInt64(1)..., SocketRole.allCases).map { World.make($0, $1, .connected, target: "h:1") }
        let wanted = try #require(sockets.first { $0.role == role }).id.number
        for key in ["role", "kind"] { #expect(try ids("\(key):\(role.rawValue)", sockets) == [wanted]) }
    }

    @Test("state: takes whatever the column can say")
    func states() throws {
        var shown: Set<String> = []
        for phase in SocketPhase.allCases {
            for peer in [SocketAddress.v4(host: "192.0.2.1", port: 1), .unix(path: "/s")] {
                for flags in [SocketFlags(), [.socketHasReadEOF]] {
                    for isWriteShut in [false, true] {
                        for kernel in [nil] + StateWord.allCases.map(\.rawValue) {
                            var socket = World.make(1, .client, phase, target: "h:1")
                            (socket.peer, socket.flags, socket.isWriteShut) = (peer, flags, isWriteShut)
                            if let kernel {
                                socket.kernel = KernelSnapshot()
                                socket.kernel?.state = kernel
                            }
                            shown.insert(socket.stateWord)
                            #expect(try ids("state:\(socket.stateWord)", [socket]) == [1])
                        }
                    }
                }
            }
        }
        let known = StateWord.allCases.map { $0.rawValue }
        #expect(shown == Set(known))
    }

    @Test("the kernel's states are among them")
    func kernelStates() throws {
        let source = try Self.text("Sources/SocketKit/Kernel/LinuxKernel+Describe.swift")
        let start = try #require(source.firstRange(of: "stateNames = [")).upperBound
        let end = try #require(source[start...].firstRange(of: "]")).lowerBound
        let names = source[start..<end].split(separator: "\"").map(String.init).filter {
            $0.contains(where: \.isLetter)
        }
        #expect(names.count == 12)
        for name in names { #expect(StateWord(rawValue: name) != nil, "\(name)") }
    }

    @Test(
        "read: takes every kind, by the word of the screen and by that of JSON",
        arguments: ReadRequest.Kind.Word.allCases)
    func reads(_ word: ReadRequest.Kind.Word) throws {
        let sockets = try zip(UInt64(1)..., ReadRequest.Kind.Word.allCases).map { id, word in
            var socket = World.make(id, .client, .connected, target: "h:1")
            let kind = try ReadRequest.Kind.parse(word.usage.replacing("N", with: "1"))
            socket.reading.current = OperationSnapshot(id: OperationID(1), kind: .read(kind))
            return socket
        }
        let wanted = try #require(ReadRequest.Kind.Word.allCases.firstIndex(of: word)) + 1
        for name in [word.rawValue, word.name] { #expect(try ids("read:\(name)", sockets) == [UInt64(wanted)]) }
    }

    @Test("tls: takes every phase and version, as the filter calls it and as the column does")
    func tls() throws {
        for phase in TLSSnapshot.Phase.allCases {
            var socket = World.make(1, .client, .connected, target: "h:1")
            socket.tls = TLSSnapshot(role: .client, phase: phase, asked: World.now)
            for version in TLSSettings.Version.allCases {
                if phase == .secure { socket.tls?.version = "TLSv\(version.rawValue)" }
                let column = try #require(ListKind.sockets.column("tls")?.text(socket, World.now))
                for word in [phase.rawValue, column] { #expect(try ids("tls:\(word)", [socket]) == [1], "\(word)") }
            }
        }
    }

    @Test("ws: takes every stage as the column calls it", arguments: WebSocketStage.allCases)
    func webSockets(_ stage: WebSocketStage) throws {
        var socket = World.make(1, .client, .connected, target: "ws://h/")
        socket.webSocket = WebSocketPicture(role: .client, stage: stage, target: "ws://h/")
        let column = try #require(ListKind.sockets.column("ws")?.text(socket, World.now))
        #expect(try ids("ws:\(column)", [socket]) == [1])
    }

    @Test(
        "an address of every family and transport is text for the filter",
        arguments: [
            "tcp://h:1", "tls://h:1", "udp://h:1", "unixgram:/s", "ws://h/", "wss://h/", "ws+unix:/s:/",
            "wss+unix:/s:/",
        ]
            + [
                SocketAddress.v4(host: "192.0.2.1", port: 1), .v6(host: "::1", port: 1), .unix(path: "/s"),
                .abstract(name: "s"), .unnamed,
            ].map(\.description))
    func addresses(_ text: String) {
        if case .failure(let failure) = Filter.parse(text) { Issue.record("\(failure.message)") }
    }

    @Test("close takes every mode, the menu has it, and its words are its own", arguments: CloseMode.allCases)
    func closing(_ mode: CloseMode) {
        var typing = World.model()
        #expect(typing.update(.command("close \(mode.words.typed)")) == [.send(.close(SocketID(7), mode))])
        let all = CloseMode.allCases.map(\.words)
        let (typed, keys) = (all.map { $0.typed }, all.map { $0.key })
        #expect(Set(typed).count == all.count && Set(keys).count == all.count)
        var model = World.model()
        model.press(.character("x"))
        #expect(model.press(.character(mode.words.key)) == [.send(.close(SocketID(7), mode))])
    }

    @Test("the read command takes every word that it offers, and a frame")
    func readCommand() throws {
        let words = try #require(Action.named("read")?.syntax).usage
        func effects(_ line: String) -> [Effect] {
            var model = World.model()
            return model.update(.command(line))
        }
        for word in ReadRequest.Kind.Word.allCases {
            #expect(words.contains(word.usage))
            let text = word.usage.replacing("N", with: "1")
            let request = ReadRequest(try ReadRequest.Kind.parse(text), tag: 3)
            #expect(request.kind.word == word)
            #expect(effects("read \(text) tag 3") == [.send(.read(SocketID(7), request))])
        }
        let frame = LengthPrefix(.u16, isLittleEndian: true, offset: 2, countsHeader: true, limit: 8192)
        #expect(
            effects("read frame u16 timeout 5s little after 2 counts-header max 8K tag 3")
                == [.send(.read(SocketID(7), ReadRequest(.frame(frame), timeout: .seconds(5), tag: 3)))])
    }

    @Test("a template takes every mode, line ending and kind of read")
    func templates() throws {
        func template(_ line: String) throws -> Template? {
            try Template.all(in: "[a]\nbody = ''\n\(line)").get().first
        }
        for mode in LineMode.allCases { #expect(try template("mode = '\(mode.rawValue)'")?.mode == mode) }
        for ending in LineEnding.allCases { #expect(try template("eol = '\(ending.word)'")?.ending == ending) }
        for kind in [ReadRequest.Kind.available(limit: 9), .length(4096), .frame(LengthPrefix(.u16, offset: 2))] {
            #expect(try template("read-after = '\(kind.text)'")?.readAfter == kind)
        }
        guard case .failure(let failure) = Template.all(in: "[a]\nread-after = 'length 0'") else {
            Issue.record("taken")
            return
        }
        #expect(failure.message == "read-after: 0: length needs a number of bytes such as 512 or 8K")
    }

    private static func text(_ path: String) throws -> String {
        let file = try #require(fopen("\(root)/\(path)", "r"))
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
