import SocketCore
import Testing

@Suite("A WebSocket of others, looked at")
struct WebSocketObserverTests {
    private typealias Bench = WebSocketObserverBench

    // MARK: Whether it is one

    @Test(
        "what cannot be such a request ends the looking at its first byte, for good",
        arguments: [
            "\u{16}\u{3}\u{1}", "SSH-2.0-x\r\n", "*1\r\n$4\r\nPING\r\n", "POST / HTTP/1.1\r\n", "GETS", "\n",
            "GET /\u{1}",
            "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: h2c\r\n\r\n",
            "GET /" + String(repeating: "x", count: 20_000),
        ])
    func strangers(_ text: String) {
        let bench = Bench()
        bench.client(text)
        #expect(bench.isBlind && bench.picture == nil && bench.plain == text.utf8.count)
        bench.client(Bench.request())
        bench.server(Bench.answer())
        #expect(bench.isBlind && bench.picture == nil && bench.items.isEmpty)
    }

    @Test("a server that speaks first is none")
    func banner() {
        let bench = Bench()
        bench.client("GET ")
        bench.server("220 ready\r\n")
        #expect(bench.isBlind)
    }

    @Test("the handshake: what was offered, what was agreed on, where frames begin", arguments: [1, 7, Int.max])
    func handshake(_ cut: Int) throws {
        for role in [WebSocketRole.server, .client] {
            let bench = Bench(role)
            bench.cut = cut
            bench.client(Bench.request("Sec-WebSocket-Protocol: a, b\r\n" + Bench.deflate))
            #expect(bench.picture?.stage == .opening && bench.picture?.response == nil && !bench.isBlind)
            bench.now = bench.now + .milliseconds(5)
            bench.server(Bench.answer("Sec-WebSocket-Protocol: b\r\n" + Bench.deflate))
            let picture = try #require(bench.picture)
            #expect(bench.isOpen && picture.stage == .open && picture.role == role && picture.target == "/chat?room=1")
            #expect(picture.subprotocol == "b" && picture.extensions == ["permessage-deflate"])
            #expect(picture.openedIn == .milliseconds(5) && picture.problem == nil)
            #expect(picture.observation == WebSocketObservation())
            #expect(picture.traffic?.deflate == PerMessageDeflateParameters())
            let heads = (
                Bench.request("Sec-WebSocket-Protocol: a, b\r\n" + Bench.deflate).utf8.count,
                Bench.answer("Sec-WebSocket-Protocol: b\r\n" + Bench.deflate).utf8.count
            )
            #expect(bench.plain == heads.0 + heads.1 && bench.sentHead == (role == .server ? heads.1 : heads.0))
        }
    }

    @Test("the longest length that a header can say is shown", arguments: [WebSocketRole.server, .client])
    func longest(_ role: WebSocketRole) {
        let bench = Bench(role)
        bench.open()
        bench.server([0x82, 0x7F, 0x7F] + [UInt8](repeating: 0xFF, count: 7))
        bench.client([0x82, 0xFF, 0x7F] + [UInt8](repeating: 0xFF, count: 7) + [1, 2, 3, 4, 5])
        #expect(bench.picture?.traffic?.awaiting != .nothing)
        #expect(bench.picture?.traffic?.sending?.total == .max)
        bench.end(by: .peer)
        #expect(bench.picture?.stage == .closed)
    }

    @Test("answers that say only that another follows are passed over, however many")
    func thousandsOfInterimAnswers() {
        let bench = Bench()
        bench.client(Bench.request())
        bench.server(String(repeating: "HTTP/1.1 100\n\n", count: 5_000) + Bench.answer())
        #expect(bench.isOpen)
    }

    @Test("a refusal stays to be seen, and what follows it is bytes")
    func refused() {
        let bench = Bench()
        bench.client(Bench.request())
        bench.server("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")
        #expect(
            bench.picture?.stage == .refused && bench.picture?.problem == "the server answered HTTP/1.1 403 Forbidden")
        bench.server(WireFrame.text("x"))
        #expect(bench.items.isEmpty && bench.picture?.traffic == nil && !bench.isBlind)
        bench.end(by: .peer)
        #expect(bench.picture?.stage == .refused && bench.picture?.report == nil)
    }

    @Test("an answer that only says that another follows is passed over")
    func interim() {
        let bench = Bench()
        bench.cut = 3
        bench.client(Bench.request())
        bench.server("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + Bench.answer())
        #expect(bench.isOpen)
    }

    @Test("an answer that breaks a rule is named, and what passes all the same is seen")
    func wrongAnswer() {
        let bench = Bench()
        bench.client(Bench.request())
        bench.server(Bench.answer(accept: "x"))
        #expect(bench.picture?.problem == "Sec-WebSocket-Accept \"x\" does not match the key")
        bench.client(WireFrame.text("still"))
        #expect(bench.seen(.client) == ["text still"])
        let chosen = Bench()
        chosen.open("", "Sec-WebSocket-Protocol: c\r\n")
        #expect(chosen.picture?.problem == "the subprotocol \"c\" was not offered")
    }

    @Test("extensions that nothing is known of: the handshake is shown, and no frame is guessed at")
    func unknownExtension() {
        let bench = Bench()
        bench.open("", "Sec-WebSocket-Extensions: x-zip\r\n")
        bench.server(WireFrame.text("x"))
        let picture = bench.picture
        #expect(picture?.stage == .open && picture?.traffic == nil && picture?.extensions == ["x-zip"])
        #expect(picture?.problem == "its frames cannot be read: extension x-zip was not offered" && bench.items.isEmpty)
        bench.end(by: .local)
        #expect(bench.picture?.stage == .closed)
    }

    @Test("frames right behind either head are frames, those before the answer too")
    func early() {
        let bench = Bench()
        let frame = WireFrame.text("early").bytes(key: [1, 2, 3, 4])
        bench.client(Array(Bench.request().utf8) + frame.prefix(3))
        bench.client(Array(frame.dropFirst(3)))
        bench.server(Array(Bench.answer().utf8) + WireFrame.text("at once").bytes())
        #expect(bench.seen(.client) == ["text early"] && bench.seen(.server) == ["text at once"])
        let loud = Bench()
        loud.client(Bench.request())
        loud.client([UInt8](repeating: 0, count: 70_000))
        loud.server(Bench.answer())
        #expect(loud.picture?.problem == "the client sent more than 65536 bytes before it was answered")
    }

    // MARK: Frames

    @Test(
        "messages, fragments and control frames of both directions, however they are cut",
        arguments: [1, 2, 5, Int.max])
    func frames(_ cut: Int) throws {
        let bench = Bench()
        bench.cut = cut
        bench.open()
        bench.client(.text("hel", isFinal: false), .ping("?"), .more(Array("lo".utf8), isFinal: true))
        bench.server(.pong("?"), .binary([UInt8](repeating: 65, count: 70_000)), .text(""))
        #expect(bench.seen(.client) == ["ping ?", "text hello"])
        let sent = bench.items.filter(\.isSent)
        #expect(sent.map(\.traffic.kind) == [.pong, .binary, .text] && sent.map(\.length) == [1, 70_000, 0])
        #expect(sent[1].bytes.count == 16_384, "of a long message its beginning is kept")
        let text = try #require(bench.items.first { $0.traffic.kind == .text })
        #expect(text.traffic.frames.map(\.isFinal) == [false, true] && text.traffic.frames.map(\.length) == [3, 2])
        #expect(text.traffic.frames.allSatisfy { $0.maskKey == 0x37FA_213D && !$0.isSent })
        let traffic = try #require(bench.picture?.traffic)
        #expect(traffic.received.frames == 3 && traffic.received.messages == 1 && traffic.received.pings == 1)
        #expect(traffic.sent.frames == 3 && traffic.sent.messages == 2 && traffic.sent.pongs == 1)
        #expect(traffic.sent.messageBytes == 70_000 && traffic.sent.payloadBytes == 70_000)
    }

    @Test("what the parser waits for, in both directions")
    func progress() throws {
        let bench = Bench()
        bench.open()
        let frame = WireFrame.binary([UInt8](repeating: 1, count: 65_536))
        bench.client(Array(frame.bytes(key: [1, 2, 3, 4]).prefix(1_024 + 14)))
        bench.server(Array(frame.bytes().prefix(100 + 10)))
        let picture = try #require(bench.picture)
        #expect(picture.traffic?.awaiting == .payload(.binary, done: 1_024, total: 65_536))
        #expect(picture.traffic?.receiving?.bytes == 1_024)
        #expect(picture.traffic?.received.payloadBytes == 1_024)
        #expect(picture.traffic?.sending?.done == 110 && picture.traffic?.sending?.total == 65_546)
        #expect(picture.observation?.sending?.wireBytes == 100)
        bench.end(by: .peer)
        #expect(bench.seen(.client).first?.hasSuffix("(the connection ended in the middle of it)") == true)
        #expect(bench.items.map(\.traffic.isPart) == [true, true] && bench.items.map(\.length) == [1_024, 100])
    }

    @Test("how long a pong took that came back here")
    func roundTrip() {
        let bench = Bench(.client)
        bench.open()
        bench.client(.ping("a"))
        bench.now = bench.now + .milliseconds(3)
        #expect(bench.picture?.traffic?.pendingPings == 1)
        bench.server(.pong("a"), .pong("unasked"))
        #expect(bench.items.compactMap(\.traffic.roundTrip) == [.milliseconds(3)])
        #expect(bench.picture?.traffic?.roundTrip == .milliseconds(3) && bench.picture?.traffic?.pendingPings == 0)
    }

    @Test("without traffic to keep, messages are counted only")
    func uncounted() {
        let bench = Bench(keepsTraffic: false)
        bench.open()
        bench.client(.text("a"), .ping("b"))
        #expect(bench.seen(.client) == ["ping b"] && bench.picture?.traffic?.received.messages == 1)
    }

    // MARK: What is wrong

    @Test(
        "a breach is told once, with the bytes that follow, and the other direction goes on",
        arguments: [
            ([0x81, 0x01, 0x61], "a client's frame must be masked"), ([0x83, 0x80], "opcode 0x3 has no meaning"),
            ([0xC1, 0x80, 1, 2, 3, 4], "reserved bits set: RSV1"),
            ([0x80, 0x80, 1, 2, 3, 4], "a continuation frame with no message to continue"),
            ([0x81, 0x81, 0, 0, 0, 0, 0xFF], "text is not UTF-8 at offset 0"),
            ([0x88, 0x81, 0, 0, 0, 0, 1], "a Close of 1 byte; a close code has 2"),
        ] as [([UInt8], String)])
    func breaches(_ bytes: [UInt8], _ words: String) throws {
        for cut in [1, Int.max] {
            let bench = Bench()
            bench.open()
            bench.client(.text("fine"))
            bench.cut = cut
            bench.client(bytes)
            bench.client("and more")
            bench.server(.close(1002))
            let wrong = bench.items.filter { $0.traffic.kind == .undecoded }
            #expect(wrong.compactMap(\.traffic.problem) == [words] && wrong.allSatisfy { !$0.isSent })
            let shown = wrong.flatMap(\.bytes)
            #expect(shown.suffix(8) == Array("and more".utf8)[...])
            if bytes.count < 4 { #expect(shown.count == bytes.count + 8, "the header that is wrong, however it came") }
            #expect(bench.seen(.client).first == "text fine")
            #expect(
                bench.seen(.server) == ["close \u{3}\u{FFFD}"]
                    && bench.picture?.traffic?.closeSent?.code == .protocolError)
            let picture = try #require(bench.picture)
            #expect(
                picture.observation?.receivedFailure?.description == words && picture.observation?.sentFailure == nil)
            #expect(picture.traffic?.awaiting == WebSocketParserState.nothing && picture.traffic?.closeOrigin == .local)
            bench.end(by: .local)
            #expect(bench.picture?.report?.failure?.description == words && bench.picture?.report?.wasClean == false)
        }
    }

    @Test("a breach within a message tells what came of it")
    func cutMessage() {
        let bench = Bench()
        bench.open()
        bench.server(.text("half of", isFinal: false), .text("another"))
        #expect(bench.seen(.server).first == "text half of (a new message within an unfinished one)")
        #expect(bench.seen(.server).count == 2)
    }

    // MARK: The end

    @Test("codes of both sides and who began, seen from either leg")
    func closing() throws {
        for (role, origin) in [(WebSocketRole.server, WebSocketCloseReport.Origin.peer), (.client, .local)] {
            let bench = Bench(role)
            bench.open()
            bench.client(.close(1001, "bye"))
            #expect(bench.picture?.stage == .closing)
            bench.server(.close(1001))
            bench.server("rest")
            bench.end(by: .local)
            let picture = try #require(bench.picture)
            let report = try #require(picture.report)
            #expect(picture.stage == .closed && report.wasClean && report.origin == origin && report.failure == nil)
            let said = role == .server ? report.received : report.sent
            #expect(said == WebSocketCloseFrame(code: .goingAway, reason: "bye"))
            #expect(bench.seen(.server).last == "undecoded rest (after the Close)")
            #expect(picture.traffic?.discardedBytes == 4)
        }
    }

    @Test("an end without a Close is one, by whoever ended")
    func abnormal() {
        let bench = Bench()
        bench.open()
        bench.end(by: .peer)
        #expect(bench.picture?.report?.failure == .endedWithoutClose && bench.picture?.report?.origin == .peer)
        let unanswered = Bench()
        unanswered.client(Bench.request())
        unanswered.end(by: .local)
        #expect(unanswered.picture?.problem == "the connection ended before it was answered")
        #expect(unanswered.picture?.stage == .refused && unanswered.picture?.report == nil)
    }
}
