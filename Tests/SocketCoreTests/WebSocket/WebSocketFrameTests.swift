import SocketCore
import Testing

/// RFC 6455, 5.2: what a frame may be, and that it does not matter how it comes.
@Suite("WebSocket frames") struct WebSocketFrameTests {
    private let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]

    @Test(arguments: 1...3) func f1ReservedBitsWithoutAnExtensionFailBehindWholeMessages(bit: Int) {
        let bench = WebSocketBench()
        var bad = WireFrame.text("no")
        bad.reserved = 8 >> UInt8(bit)
        bench.receive(.text("Hello"), bad, .ping())
        #expect(bench.takeEvents() == [.text("Hello"), .failed(.reservedBits(8 >> UInt8(bit)))])
    }

    @Test(arguments: [3, 4, 5, 6, 7, 0xB, 0xC, 0xD, 0xE, 0xF] as [UInt8])
    func f2AnUnknownOpcodeFailsAtItsByte(opcode: UInt8) {
        let bench = WebSocketBench()
        bench.receive(.text("Hello"))
        bench.receive(bytes: [0x80 | opcode])
        #expect(bench.takeEvents() == [.text("Hello"), .failed(.unknownOpcode(opcode))])
    }

    @Test(arguments: [0, 1, 125, 126, 127, 128, 65_535, 65_536, 70_000], [WebSocketRole.client, .server])
    func f3LengthsComeAsTheyWereSent(length: Int, role: WebSocketRole) throws {
        for type in [WebSocketMessageType.text, .binary] {
            let from = WebSocketBench(role == .client ? .server : .client)
            let to = WebSocketBench(role)
            let bytes = [UInt8](repeating: 0x2A, count: length)
            try from.machine.send(type, bytes)
            from.flush()
            to.receive(bytes: from.wire)
            #expect(to.takeEvents() == [.message(type, bytes)])
        }
    }

    @Test(arguments: [(0, 2), (125, 2), (126, 4), (65_535, 4), (65_536, 10)])
    func f4TheShortestFormOfALengthIsSent(length: Int, header: Int) throws {
        let bench = WebSocketBench(.server)
        try bench.machine.send(.binary, [UInt8](repeating: 0, count: length))
        let frames = bench.flush()
        #expect(bench.wire.count == header + length && frames.count == 1)
    }

    @Test(
        arguments: [
            ([0x82, 0xFE, 0, 125], WebSocketFailure.overlongLength(125)),
            ([0x82, 0xFE, 0, 0], .overlongLength(0)),
            ([0x82, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], .overlongLength(65_535)),
            ([0x82, 0xFF, 0, 0, 0, 0, 0, 0, 0, 1], .overlongLength(1)),
        ] as [([UInt8], WebSocketFailure)])
    func f5ALengthInALongerFormThanNeededFails(header: [UInt8], failure: WebSocketFailure) {
        for cut in 1...14 {
            let bench = WebSocketBench()
            bench.receive(bytes: header + key, cut: cut)
            #expect(bench.takeEvents() == [.failed(failure)] && failure.closeCode == .protocolError)
        }
    }

    @Test func f6ALengthWithItsTopBitSetFails() {
        for cut in 1...14 {
            let bench = WebSocketBench()
            bench.receive(bytes: [0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 1] + key, cut: cut)
            #expect(bench.takeEvents() == [.failed(.impossibleLength(0x8000_0000_0000_0001))])
        }
        // The longest that is possible is over the limit, and takes up nothing.
        let bench = WebSocketBench()
        bench.receive(bytes: [0x82, 0xFF, 0x7F] + [UInt8](repeating: 0xFF, count: 7) + key)
        #expect(bench.failure == .messageTooBig(limit: 64 << 20))
    }

    /// Every kind of frame, empty and not, with all forms of length, in one stream.
    private var mixed: [WireFrame] {
        [
            .text("Hello"), .ping("ping"), .binary([]), .text("\u{E9}\u{20AC}\u{1F600}", isFinal: false), .pong("p"),
            .ping(),
            .more([]), .more(Array("\u{1F600}".utf8.prefix(2))),
            .more(Array("\u{1F600}".utf8.suffix(2)), isFinal: true),
            .binary([UInt8](repeating: 7, count: 300), isFinal: false),
            .more([UInt8](repeating: 9, count: 126), isFinal: true), .text(""), .close(1000, "bye"),
        ]
    }

    private static let mixedEvents: [WebSocketEvent] = [
        .text("Hello"), .ping(Array("ping".utf8)), .message(.binary, []), .pong([0x70], roundTrip: nil), .ping([]),
        .text("\u{E9}\u{20AC}\u{1F600}\u{1F600}"),
        .message(.binary, [UInt8](repeating: 7, count: 300) + [UInt8](repeating: 9, count: 126)), .text(""),
        .closeReceived(WebSocketCloseFrame(code: .normal, reason: "bye")),
    ]

    @Test func f7EveryCutOfAStreamMakesTheSameEvents() {
        let stream = mixed.flatMap { $0.bytes(key: key) }
        for cut in 1...64 {
            let bench = WebSocketBench()
            bench.receive(bytes: stream, cut: cut)
            #expect(bench.takeEvents() == Self.mixedEvents, "\(cut) bytes at a time")
        }
        for place in 1..<stream.count {
            let bench = WebSocketBench()
            bench.receive(bytes: Array(stream[..<place]))
            bench.receive(bytes: Array(stream[place...]))
            #expect(bench.takeEvents() == Self.mixedEvents, "cut at \(place)")
        }
    }

    @Test func f7EveryCutOfALongHeaderMakesTheSameEvents() {
        let payload = [UInt8](repeating: 3, count: 65_536)
        let stream = WireFrame.binary(payload).bytes(key: key)
        for place in 1..<32 {
            let bench = WebSocketBench()
            bench.receive(bytes: Array(stream[..<place]))
            bench.receive(bytes: Array(stream[place...]))
            #expect(bench.takeEvents() == [.message(.binary, payload)], "cut at \(place)")
        }
    }

    @Test func f8SeveralFramesInOneReadComeInOrder() {
        let bench = WebSocketBench(.client)
        bench.receive(bytes: mixed.flatMap { $0.bytes() })
        #expect(bench.takeEvents() == Self.mixedEvents)
    }

    @Test func f9AnAnnouncedLengthOverALimitFailsAtTheHeader() {
        var settings = WebSocketSettings(limits: WebSocketLimits(frameBytes: 1000, messageBytes: 1500))
        func end(_ bytes: [UInt8]) -> [WebSocketEvent] {
            let bench = WebSocketBench(.client, settings)
            bench.receive(bytes: bytes)
            return bench.takeEvents()
        }
        #expect(end([0x82, 126, 0x03, 0xE9]) == [.failed(.frameTooBig(length: 1001, limit: 1000))])
        #expect(end([0x82, 126, 0x03, 0xE8]) == [])
        let most = WireFrame.binary([UInt8](repeating: 0, count: 1000), isFinal: false).bytes()
        #expect(end(most + [0x80, 126, 0x01, 0xF5]) == [.failed(.messageTooBig(limit: 1500))])
        #expect(end(most + [0x80, 126, 0x01, 0xF4]) == [])
        #expect(WebSocketFailure.frameTooBig(length: 1, limit: 0).closeCode == .messageTooBig)
        settings.delivery = .chunks
        #expect(end(most + [0x80, 126, 0x01, 0xF5]).count == 1, "a streamed message has a limit of its own")
    }

    @Test func f10EmptyFramesOfEveryKindWork() {
        let bench = WebSocketBench()
        bench.receive(.text(""), .binary([]), .ping(), .pong(), .close(nil))
        #expect(
            bench.takeEvents() == [
                .text(""), .message(.binary, []), .ping([]), .pong([], roundTrip: nil),
                .closeReceived(WebSocketCloseFrame(code: nil)),
            ])
        bench.acknowledgeEnd()
        #expect(bench.flush().map(\.opcode) == [10, 8])
    }

    @Test func theVectorsOfTheRFCAreRead() {
        func events(_ role: WebSocketRole, _ bytes: [UInt8]) -> [WebSocketEvent] {
            let bench = WebSocketBench(role)
            bench.receive(bytes: bytes)
            return bench.takeEvents()
        }
        #expect(events(.client, [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F]) == [.text("Hello")])
        let masked: [UInt8] = [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
        #expect(events(.server, masked) == [.text("Hello")])
        #expect(events(.client, [0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F]) == [.text("Hello")])
        #expect(events(.client, [0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F]) == [.ping(Array("Hello".utf8))])
        #expect(
            events(.server, [0x8A] + masked.dropFirst()) == [.pong(Array("Hello".utf8), roundTrip: nil)])
        let zeros = [UInt8](repeating: 0, count: 256)
        #expect(events(.client, [0x82, 0x7E, 0x01, 0x00] + zeros) == [.message(.binary, zeros)])
        let many = [UInt8](repeating: 0, count: 65_536)
        #expect(events(.client, [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + many) == [.message(.binary, many)])
    }

    @Test func theSnapshotSaysWhatTheParserWaitsFor() {
        let bench = WebSocketBench()
        let stream = WireFrame.binary([UInt8](repeating: 1, count: 65_536)).bytes(key: key)
        var seen: [WebSocketParserState] = []
        for byte in stream.prefix(14 + 1024) {
            seen.append(bench.machine.snapshot().awaiting)
            bench.receive(bytes: [byte])
        }
        let header = [WebSocketParserState.header(done: 0), .header(done: 1)]
        let length = (0..<8).map { WebSocketParserState.extendedLength(done: $0, total: 8) }
        #expect(Array(seen.prefix(14)) == header + length + (0..<4).map { .mask(done: $0) })
        let snapshot = bench.machine.snapshot()
        #expect(snapshot.awaiting == .payload(.binary, done: 1024, total: 65_536))
        #expect(snapshot.receiving?.bytes == 1024 && snapshot.receiving?.fragments == 1)
    }
}
