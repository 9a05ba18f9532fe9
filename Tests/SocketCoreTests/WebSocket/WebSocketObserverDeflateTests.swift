import SocketCore
import Testing

/// RFC 7692, looked at from between the two ends.
@Suite("A WebSocket of others, compressed")
struct WebSocketObserverDeflateTests {
    private typealias Bench = WebSocketObserverBench

    /// Messages as a server compresses them, one array of bytes each.
    private static func compressed(_ texts: [String], _ parameters: PerMessageDeflateParameters) throws -> [[UInt8]] {
        let sender = WebSocketBench(.server, deflate: parameters, WebSocketSettings(compressionThreshold: 0))
        return try texts.map { text in
            let start = sender.wire.count
            try sender.machine.send(.text, Array(text.utf8))
            sender.flush()
            return Array(sender.wire[start...])
        }
    }

    @Test("inflated, with the window that is kept or forgotten", arguments: [false, true])
    func inflates(_ forgets: Bool) throws {
        let parameters = PerMessageDeflateParameters(serverNoContextTakeover: forgets)
        let texts = ["Hello, hello, hello", "Hello, hello, hello", "", String(repeating: "long ", count: 4_000)]
        let wire = try Self.compressed(texts, parameters)
        let agreed =
            "Sec-WebSocket-Extensions: permessage-deflate"
            + (forgets ? "; server_no_context_takeover" : "") + "\r\n"
        for cut in [1, 9, Int.max] {
            let bench = Bench()
            bench.cut = cut
            bench.open(agreed, agreed)
            for message in wire { bench.server(message) }
            #expect(bench.items.map(\.length) == texts.map(\.utf8.count))
            #expect(bench.seen(.server).prefix(3) == ["text Hello, hello, hello", "text Hello, hello, hello", "text "])
            #expect(bench.items.allSatisfy { $0.traffic.isCompressed && $0.traffic.problem == nil })
            let counters = try #require(bench.picture?.traffic?.sent)
            #expect(counters.compressedMessages == 4 && counters.messageBytes == 20_038)
            #expect(counters.payloadBytes < 200)
            #expect(bench.items[3].traffic.frames.map(\.messageBytes) == [20_000])
        }
    }

    @Test("both directions have a window of their own, and what is not compressed is seen between")
    func bothDirections() throws {
        let settings = WebSocketSettings(compressionThreshold: 8)
        let client = WebSocketBench(.client, deflate: PerMessageDeflateParameters(), settings)
        let server = WebSocketBench(.server, deflate: PerMessageDeflateParameters(), settings)
        let bench = Bench(.client)
        bench.open(Bench.deflate, Bench.deflate)
        for text in ["one of a kind", "short", "one of a kind"] {
            try client.machine.send(.text, Array(text.utf8))
            try server.machine.send(.text, Array(text.utf8.reversed()))
            client.flush()
            server.flush()
        }
        bench.client(client.wire)
        bench.server(server.wire)
        #expect(bench.seen(.client) == ["text one of a kind", "text short", "text one of a kind"])
        #expect(bench.seen(.server) == ["text dnik a fo eno", "text trohs", "text dnik a fo eno"])
        #expect(bench.items.map(\.traffic.isCompressed) == [true, false, true, true, false, true])
    }

    @Test("a message over the limit: its frames and not its text, and the same of what builds on it")
    func overTheLimit() throws {
        let long = String(repeating: "x", count: 100_000)
        for forgets in [false, true] {
            let parameters = PerMessageDeflateParameters(serverNoContextTakeover: forgets)
            let wire = try Self.compressed(["first", long, "third, third"], parameters)
            let agreed =
                "Sec-WebSocket-Extensions: permessage-deflate" + (forgets ? "; server_no_context_takeover" : "")
                + "\r\n"
            let bench = Bench(inflatedLimit: 50_000)
            bench.open(agreed, agreed)
            for message in wire { bench.server(message) }
            bench.server(.text("plain"), .close(1000))
            var wanted = [
                "text first", "text  (not inflated: over 50000 bytes)",
                "text  (not inflated, because an earlier message was not)", "text plain", "close \u{3}\u{FFFD}",
            ]
            if forgets { wanted[2] = "text third, third" }
            #expect(bench.seen(.server) == wanted)
            #expect(bench.items[1].traffic.frameCount == 1 && bench.items[1].traffic.payloadBytes > 0)
            #expect(bench.picture?.observation?.sentSkipped == (forgets ? 1 : 2))
            #expect(bench.picture?.traffic?.sent.messages == 4 && bench.picture?.observation?.sentFailure == nil)
        }
    }

    @Test("what may be inflated is a limit for all messages, and what is beyond it is counted")
    func allowance() throws {
        let texts = (0..<10).map { _ in String(repeating: "x", count: 100_000) }
        for forgets in [false, true] {
            let parameters = PerMessageDeflateParameters(serverNoContextTakeover: forgets)
            let wire = try Self.compressed(texts, parameters)
            let agreed =
                "Sec-WebSocket-Extensions: permessage-deflate" + (forgets ? "; server_no_context_takeover" : "")
                + "\r\n"
            for cut in [7, 100, Int.max] {
                let bench = Bench()
                bench.open(agreed, agreed)
                bench.cut = cut
                bench.allowance = 250_000
                for message in wire { bench.server(message) }
                // One byte more tells that there is more.
                #expect(bench.allowance >= -1 && bench.allowance < 250_000 - 200_000)
                #expect(bench.items.map(\.length).filter { $0 > 0 } == [100_000, 100_000])
                #expect(bench.items[2].traffic.problem == "not inflated: too much to inflate at once")
                #expect(bench.items.count == 10 && bench.picture?.observation?.sentSkipped == 8)
                #expect(bench.picture?.traffic?.sent.messages == 10)
                // Where nothing builds on what was skipped, it goes on as soon as more may be inflated.
                bench.allowance = 1 << 20
                for message in try Self.compressed(["later"], parameters) { bench.server(message) }
                #expect(bench.items.last?.length == (forgets ? 5 : 0))
            }
        }
    }

    @Test("an uncompressed message may be longer than that")
    func uncompressed() {
        let bench = Bench(inflatedLimit: 100)
        bench.open(Bench.deflate, Bench.deflate)
        bench.server(.binary([UInt8](repeating: 7, count: 1_000)))
        #expect(bench.items.map(\.length) == [1_000] && bench.items[0].traffic.problem == nil)
    }

    @Test("noise traps nowhere, and where the bytes are cut makes no difference", arguments: 0..<40)
    func noise(_ seed: UInt64) throws {
        var numbers = TestNumbers(seed)
        let texts = (0..<20).map { _ in String(repeating: "ab", count: Int.random(in: 0...300, using: &numbers)) }
        var wire = try Self.compressed(texts, PerMessageDeflateParameters()).flatMap { $0 }
        for _ in 0..<Int(seed % 4) {
            wire[Int.random(in: wire.indices, using: &numbers)] = UInt8(truncatingIfNeeded: numbers.next())
        }
        func seen(_ cut: Int) -> (items: [ObservedItem], picture: WebSocketPicture?) {
            let bench = Bench(inflatedLimit: 400)
            bench.open(Bench.deflate, Bench.deflate)
            bench.cut = cut
            bench.server(wire)
            bench.end(by: .peer)
            // Bytes behind a breach come as they are cut, and so does what could be inflated before it.
            return (bench.items.filter { $0.traffic.kind != .undecoded && !$0.traffic.isPart }, bench.picture)
        }
        let whole = seen(.max)
        for cut in [1, 3, 100] {
            let cutUp = seen(cut)
            #expect(cutUp.items == whole.items && cutUp.picture?.observation == whole.picture?.observation)
        }
    }

    @Test("what is no DEFLATE data is a breach")
    func corrupt() {
        let bench = Bench()
        bench.open(Bench.deflate, Bench.deflate)
        bench.server(WireFrame(opcode: 1, payload: [0xFF, 0xFF, 0xFF], reserved: 4))
        #expect(bench.picture?.observation?.sentFailure == .corruptDeflate)
    }
}
