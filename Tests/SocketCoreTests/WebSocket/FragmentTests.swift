import SocketCore
import Testing

/// RFC 6455, 5.4: messages in fragments, both ways.
@Suite("WebSocket fragments") struct FragmentTests {
    @Test func g1ControlFramesBetweenFragmentsAreHandledAtOnce() {
        let bench = WebSocketBench()
        bench.receive(.text("fragment1", isFinal: false), .ping("between"))
        #expect(bench.takeEvents() == [.ping(Array("between".utf8))])
        #expect(bench.flush() == [.pong("between")])
        bench.receive(.pong("unasked"), .more(Array("fragment2".utf8), isFinal: true))
        #expect(bench.takeEvents() == [.pong(Array("unasked".utf8), roundTrip: nil), .text("fragment1fragment2")])
    }

    @Test(arguments: [8, 9, 10] as [UInt8]) func g2AControlFrameMustBeWholeAndShort(opcode: UInt8) throws {
        let kind = try #require(WebSocketOpcode(rawValue: opcode))
        let cut = WebSocketBench()
        cut.receive(bytes: [opcode])
        #expect(cut.takeEvents() == [.failed(.fragmentedControl(kind))])
        let long = WebSocketBench()
        long.receive(WireFrame(opcode: opcode, payload: [UInt8](repeating: 0, count: 126)))
        #expect(long.takeEvents() == [.failed(.controlTooLong(126))])
        let longest = WebSocketBench()
        longest.receive(WireFrame(opcode: opcode, payload: [3, 232] + [UInt8](repeating: 0x61, count: 123)))
        #expect(longest.failure == nil && longest.takeEvents().count == 1)
        #expect(WebSocketFailure.controlTooLong(126).closeCode == .protocolError)
    }

    @Test func g3ContinuationsAndMessagesMustNotBeMixed() {
        let lone = WebSocketBench()
        lone.receive(.text("whole"), .more([1], isFinal: true), .text("late"))
        #expect(lone.takeEvents() == [.text("whole"), .failed(.nothingToContinue)])
        let mixed = WebSocketBench()
        mixed.receive(.text("a", isFinal: false), .binary([1]))
        #expect(mixed.takeEvents() == [.failed(.unfinishedMessage)])
        #expect(WebSocketFailure.nothingToContinue.closeCode == .protocolError)
        #expect(WebSocketFailure.unfinishedMessage.closeCode == .protocolError)
    }

    @Test func g4EmptyFragmentsAreLegal() {
        let bench = WebSocketBench()
        bench.receive(
            .text("", isFinal: false), .more([]), .more(Array("middle".utf8)), .more([]), .more([], isFinal: true))
        bench.receive(.binary([], isFinal: false), .more([], isFinal: true))
        #expect(bench.takeEvents() == [.text("middle"), .message(.binary, [])])
    }

    @Test(arguments: [WebSocketRole.client, .server]) func g5AStreamedMessageHoldsUpTheNextButNoPing(
        role: WebSocketRole
    ) throws {
        let bench = WebSocketBench(role)
        let first = try bench.machine.begin(.text)
        try bench.machine.append(Array("one".utf8), to: first)
        let second = try bench.machine.send(.binary, [2])
        let third = try bench.machine.begin(.binary)
        try bench.machine.append([3], to: third)
        #expect(bench.flush().map(\.payload) == [Array("one".utf8)])
        try bench.machine.ping([9])
        #expect(bench.flush().map(\.opcode) == [9])
        try bench.machine.append([], to: first)
        try bench.machine.finish(first, with: Array("two".utf8))
        try bench.machine.finish(third)
        let frames = bench.flush()
        #expect(frames.map(\.opcode) == [0, 0, 2, 2, 0])
        #expect(frames.map(\.isFinal) == [false, true, true, false, true])
        #expect(frames.map(\.payload) == [[], Array("two".utf8), [2], [3], []])
        #expect((first.number, second.number, third.number) == (1, 2, 3))
        let ends = bench.takeEvents().compactMap { if case .sent(let id) = $0 { id.number } else { nil } }
        #expect(ends.last == 3)
        #expect(throws: WebSocketRefusal.noSuchMessage(first)) {
            try bench.machine.append([1], to: first)
        }
    }

    @Test func g5StreamedTextMayBeCutWithinACharacterButMustEndAsUTF8() throws {
        let bench = WebSocketBench()
        let id = try bench.machine.begin(.text)
        try bench.machine.append([0x61, 0xE2], to: id)
        #expect(throws: WebSocketRefusal.notUTF8(offset: 2)) {
            try bench.machine.append([0x61], to: id)
        }
        #expect(throws: WebSocketRefusal.notUTF8(offset: 2)) {
            try bench.machine.finish(id)
        }
        try bench.machine.append([0x82], to: id)
        try bench.machine.finish(id, with: [0xAC])
        #expect(bench.flush().flatMap(\.payload) == Array("a\u{20AC}".utf8))
    }

    @Test func g6AMessageIsDeliveredInChunksBeforeItsEnd() {
        let bench = WebSocketBench(.server, WebSocketSettings(delivery: .chunks))
        bench.receive(.text("one", isFinal: false))
        bench.receive(.more([]), .ping(), .more(Array("two".utf8)))
        bench.receive(.more([], isFinal: true), .binary([1]))
        func chunk(
            _ message: UInt64, _ type: WebSocketMessageType, _ bytes: [UInt8], first: Bool, final: Bool
        ) -> WebSocketEvent {
            .chunk(
                WebSocketChunk(
                    message: WebSocketMessageID(message), type: type, bytes: bytes, isFirst: first, isFinal: final))
        }
        #expect(
            bench.takeEvents() == [
                chunk(1, .text, Array("one".utf8), first: true, final: false), .ping([]),
                chunk(1, .text, Array("two".utf8), first: false, final: false),
                chunk(1, .text, [], first: false, final: true), chunk(2, .binary, [1], first: true, final: true),
            ])
    }

    @Test func whatCameOfAFrameCountsOnBothSidesOfTheRatio() {
        let bench = WebSocketBench(.client)
        bench.receive(bytes: [0x82, 0x7E, 0x10, 0] + [UInt8](repeating: 1, count: 1_000))
        let half = bench.machine.snapshot().received
        #expect(half.messageBytes == 1_000 && half.payloadBytes == 1_000 && half.frames == 0)
        bench.receive(bytes: [UInt8](repeating: 1, count: 3_096))
        let whole = bench.machine.snapshot().received
        #expect(whole.messageBytes == 4_096 && whole.payloadBytes == 4_096 && whole.messages == 1)
    }

    @Test func g6AMessageOfAGibibyteTakesUpNoMemory() {
        var machine = WebSocketMachine(
            role: .client, settings: WebSocketSettings(delivery: .chunks), now: .zero)
        let piece = [UInt8](repeating: 0x2A, count: 1 << 16)
        let header: [UInt8] = [0x82, 0x7F, 0, 0, 0, 0, 0x40, 0, 0, 0]
        var events: [WebSocketEvent] = []
        var total = 0
        var most = 0
        var room = 0
        var isOver = false
        machine.receive(header.span.bytes, now: .zero, into: &events)
        for _ in 0..<(1 << 14) {
            machine.receive(piece.span.bytes, now: .zero, into: &events)
            for case .chunk(let chunk) in events {
                total += chunk.bytes.count
                isOver = chunk.isFinal
                room = max(room, chunk.bytes.capacity)
            }
            most = max(most, events.count, machine.snapshot().heldBytes)
            events.removeAll(keepingCapacity: true)
        }
        #expect(total == 1 << 30 && isOver && most == 1)
        #expect(room < 2 * piece.count)
    }

    @Test func g7AFloodOfEmptyFragmentsIsBounded() {
        let bench = WebSocketBench(.client, WebSocketSettings(limits: WebSocketLimits(emptyFragments: 100)))
        bench.receive(.binary([1], isFinal: false))
        let empty = WireFrame.more([]).bytes()
        bench.receive(bytes: Array([[UInt8]](repeating: empty, count: 100).joined()))
        #expect(bench.takeEvents() == [])
        bench.receive(bytes: empty)
        #expect(bench.takeEvents() == [.failed(.tooManyEmptyFragments(limit: 100))])
        #expect(WebSocketFailure.tooManyEmptyFragments(limit: 1).closeCode == .policyViolation)
    }

    @Test func g7SixtyFiveThousandSmallFragmentsAreOneMessage() {
        let bench = WebSocketBench(.client)
        let part = [UInt8](repeating: 0x2A, count: 64)
        let more = WireFrame.more(part).bytes()
        bench.receive(.binary(part, isFinal: false))
        for _ in 0..<64 { bench.receive(bytes: Array([[UInt8]](repeating: more, count: 1024).joined())) }
        bench.receive(.more([], isFinal: true))
        #expect(bench.takeEvents() == [.message(.binary, [UInt8](repeating: 0x2A, count: 65_537 * 64))])
    }

    @Test func g7CompressedFragmentsThatMakeNothingAreBoundedToo() {
        let settings = WebSocketSettings(limits: WebSocketLimits(messageBytes: 1000))
        let bench = WebSocketBench(.client, deflate: PerMessageDeflateParameters(), settings)
        var first = WireFrame.binary([], isFinal: false)
        first.reserved = 4
        bench.receive(first)
        let nothing = WireFrame.more((0..<200).flatMap { _ in [0, 0, 0, 0xFF, 0xFF] as [UInt8] }).bytes()
        for _ in 0..<100 where bench.failure == nil { bench.receive(bytes: nothing) }
        #expect(bench.failure == .messageTooBig(limit: 1000))
    }
}
