import SocketCore
import Testing

/// RFC 7692, on the wire.
@Suite("permessage-deflate") struct PerMessageDeflateTests {
    private static let hello = Array("Hello".utf8)

    /// One machine's wire as another's input: what the other made of it.
    private static func pass(_ from: WebSocketBench, _ to: WebSocketBench) -> [WebSocketEvent] {
        let start = from.wire.count
        from.flush()
        to.receive(bytes: Array(from.wire[start...]))
        return to.takeEvents()
    }

    private static func compressed(_ payload: [UInt8], isFinal: Bool = true, opcode: UInt8 = 1) -> WireFrame {
        WireFrame(opcode: opcode, payload: payload, isFinal: isFinal, reserved: 4)
    }

    private static func bench(
        _ role: WebSocketRole = .client, _ parameters: PerMessageDeflateParameters = .init(),
        _ settings: WebSocketSettings = WebSocketSettings(compressionThreshold: 0)
    ) -> WebSocketBench {
        WebSocketBench(role, deflate: parameters, settings)
    }

    @Test func d3RSV1IsOnTheFirstFrameOfAMessageOnly() throws {
        let sender = Self.bench(.server)
        let id = try sender.machine.begin(.text)
        try sender.machine.append(Self.hello, to: id)
        try sender.machine.append(Self.hello, to: id)
        try sender.machine.finish(id)
        try sender.machine.ping(Self.hello)
        let frames = sender.flush()
        #expect(frames.map(\.opcode) == [9, 1, 0, 0] && frames.map(\.reserved) == [0, 4, 0, 0])
        let first = Self.compressed([0xF2, 0x48, 0xCD], isFinal: false)
        for opcode in [0, 8, 9, 10] as [UInt8] {
            let bench = Self.bench()
            bench.receive(first, WireFrame(opcode: opcode, payload: [], reserved: 4))
            #expect(bench.takeEvents() == [.failed(.reservedBits(4))])
        }
        let other = Self.bench()
        other.receive(WireFrame(opcode: 1, payload: [], reserved: 6))
        #expect(other.takeEvents() == [.failed(.reservedBits(2))])
    }

    @Test func d4TheEndOfABlockIsTakenAwayAndAnEmptyMessageIsOneZero() throws {
        let sender = Self.bench(.server)
        let receiver = Self.bench(.client)
        for text in ["Hello", "", "Hello", "", "", String(repeating: "long ", count: 10_000)] {
            try sender.machine.send(.text, Array(text.utf8))
            #expect(Self.pass(sender, receiver) == [.text(text)])
        }
        let frames = WireFrame.read(sender.wire)
        #expect(frames.allSatisfy { $0.reserved == 4 && $0.payload.suffix(4) != [0, 0, 0xFF, 0xFF] })
        #expect(frames[1].payload == [0] && frames[3].payload == [0] && frames[4].payload == [0])
    }

    @Test(
        arguments: [
            [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00],
            [0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00],
            [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00],
            [0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00],
        ] as [[UInt8]]) func d5TheVectorsOfTheRFCAreHello(payload: [UInt8])
    {
        for cut in 0...payload.count {
            let bench = Self.bench()
            bench.receive(
                Self.compressed(Array(payload[..<cut]), isFinal: false), .more(Array(payload[cut...]), isFinal: true))
            #expect(bench.takeEvents() == [.text("Hello")], "fragmented at \(cut)")
        }
        for size in 1...payload.count {
            let bench = Self.bench(.server)
            bench.receive(Self.compressed(payload), cut: size)
            #expect(bench.takeEvents() == [.text("Hello")], "\(size) bytes at a time")
        }
    }

    @Test func d5TheSecondHelloIsShorterWithTheWindowKept() throws {
        let bench = Self.bench()
        bench.receive(
            Self.compressed([0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]),
            Self.compressed([0xF2, 0x00, 0x11, 0x00, 0x00]))
        #expect(bench.takeEvents() == [.text("Hello"), .text("Hello")])
        let sender = Self.bench(.server)
        try sender.machine.send(.text, Self.hello)
        try sender.machine.send(.text, Self.hello)
        #expect(
            sender.flush().map(\.payload) == [
                [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00], [0xF2, 0x00, 0x11, 0x00, 0x00],
            ])
    }

    @Test(arguments: [WebSocketRole.client, .server]) func d6WithoutTakeoverEachMessageStandsAlone(
        role: WebSocketRole
    ) throws {
        let forgets = PerMessageDeflateParameters(
            serverNoContextTakeover: role == .server, clientNoContextTakeover: role == .client)
        let sender = Self.bench(role, forgets)
        for _ in 0..<3 { try sender.machine.send(.text, Self.hello) }
        let payloads = sender.flush().map(\.payload)
        #expect(Set(payloads) == [[0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]])
        // And the receiver does not look back: what refers to the message before is no data.
        let receiver = Self.bench(role == .client ? .server : .client, forgets)
        receiver.receive(Self.compressed(payloads[0]), Self.compressed([0xF2, 0x00, 0x11, 0x00, 0x00]))
        #expect(receiver.takeEvents() == [.text("Hello"), .failed(.corruptDeflate)])
        // The other direction keeps its window.
        try receiver.machine.send(.text, Self.hello)
        #expect(receiver.machine.deflate == forgets)
    }

    @Test(arguments: 9...15) func d7TheWindowIsKeptWithin(bits: Int) throws {
        var numbers = TestNumbers(UInt64(bits))
        let block = numbers.bytes((1 << bits) - 300)
        let sender = Self.bench(.server, .init(serverMaxWindowBits: bits))
        // A repetition within the window is seen, and one behind it is not: a receiver of that window follows.
        try sender.machine.send(.binary, block + numbers.bytes(600) + block)
        try sender.machine.send(.binary, Array(block.suffix(64)) + numbers.bytes(16) + block.suffix(64))
        let receiver = Self.bench(.client, .init(serverMaxWindowBits: bits))
        let events = Self.pass(sender, receiver)
        #expect(events.count == 2 && receiver.failure == nil)
        let sizes = WireFrame.read(sender.wire).map(\.payload.count)
        #expect(sizes[0] > 2 * block.count && sizes[1] < 64 + 16 + 40)
    }

    @Test func d7AWindowOf256BytesIsInflatedAndNothingIsCompressedForIt() throws {
        let bench = Self.bench(.client, .init(clientMaxWindowBits: 8))
        try bench.machine.send(.text, [UInt8](repeating: 0x61, count: 1000))
        #expect(bench.flush().map(\.reserved) == [0])
        let small = Self.bench(.client, .init(serverMaxWindowBits: 8))
        small.receive(Self.compressed([0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]))
        #expect(small.takeEvents() == [.text("Hello")])
    }

    @Test func d8TheLimitHoldsWhileInflating() throws {
        let sender = Self.bench(.server)
        let zeros = [UInt8](repeating: 0, count: 8 << 20)
        try sender.machine.send(.binary, zeros)
        sender.flush()
        let wire = sender.wire
        #expect(wire.count < 10_000)
        func end(_ limit: Int, cut: Int) -> [WebSocketEvent] {
            let bench = Self.bench(.client, .init(), .init(limits: WebSocketLimits(messageBytes: limit)))
            bench.receive(bytes: wire, cut: cut)
            return bench.takeEvents()
        }
        for cut in [1 << 16, 97] {
            #expect(end(8 << 20, cut: cut) == [.message(.binary, zeros)])
            #expect(end((8 << 20) - 1, cut: cut) == [.failed(.messageTooBig(limit: (8 << 20) - 1))])
            #expect(end(1000, cut: cut) == [.failed(.messageTooBig(limit: 1000))])
        }
        #expect(WebSocketFailure.messageTooBig(limit: 1).closeCode == .messageTooBig)
    }

    @Test func d8TheLimitComesBeforeWhatIsWrongBehindIt() {
        // A stored block of 401 bytes, and one of a type that there is none of.
        let payload: [UInt8] = [0, 0x91, 0x01, 0x6E, 0xFE] + [UInt8](repeating: 0x61, count: 401) + [0x07]
        for cut in [1, .max] {
            let bench = Self.bench(.client, .init(), .init(limits: WebSocketLimits(messageBytes: 400)))
            bench.receive(Self.compressed(payload), cut: cut)
            #expect(bench.takeEvents() == [.failed(.messageTooBig(limit: 400))])
        }
    }

    @Test func d8ABombIsDeliveredInBoundedPieces() throws {
        let sender = Self.bench(.server)
        try sender.machine.send(.binary, [UInt8](repeating: 0, count: 16 << 20))
        sender.flush()
        var machine = WebSocketMachine(
            role: .client, deflate: .init(), settings: WebSocketSettings(delivery: .chunks), now: .zero)
        var events: [WebSocketEvent] = []
        var total = 0
        machine.receive(sender.wire.span.bytes, now: .zero, into: &events)
        repeat {
            var made = 0
            for case .chunk(let chunk) in events { made += chunk.bytes.count }
            #expect(made <= WebSocketMachine.deliveryBudget + 512 * 1100)
            total += made
            events = []
            machine.proceed(now: .zero, into: &events)
        } while machine.hasHeldInput || !events.isEmpty
        #expect(total == 16 << 20)
    }

    @Test func d9CorruptDataFailsAndHarmsNothing() {
        var numbers = TestNumbers(9)
        for size in 1...200 {
            let bench = Self.bench()
            bench.receive(Self.compressed([0x07] + numbers.bytes(size), opcode: 2))
            #expect(bench.failure == .corruptDeflate)
        }
        // A message that ends within a block.
        let cut = Self.bench()
        cut.receive(Self.compressed([0xF2, 0x48, 0xCD]))
        #expect(cut.takeEvents() == [.failed(.corruptDeflate)])
        #expect(WebSocketFailure.corruptDeflate.closeCode == .invalidPayload)
    }

    @Test func d9ALastBlockDoesNotBreakLaterMessages() {
        let bench = Self.bench()
        let last: [UInt8] = [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        // With the end of an empty block behind it as by 7.2.3.4, and bare; then one that refers to those before.
        bench.receive(Self.compressed(last + [0x00]), Self.compressed(last), Self.compressed(last + last + [0x00]))
        bench.receive(Self.compressed([0xF2, 0x00, 0x11, 0x00, 0x00]))
        #expect(bench.takeEvents() == [.text("Hello"), .text("Hello"), .text("HelloHello"), .text("Hello")])
    }

    @Test func d10InflatedTextIsChecked() throws {
        let sender = Self.bench(.server)
        try sender.machine.send(.binary, [0x61, 0xFF, 0x62])
        let payload = sender.flush()[0].payload
        let bench = Self.bench()
        bench.receive(Self.compressed(payload))
        #expect(bench.takeEvents() == [.failed(.invalidUTF8(offset: 1))])
    }

    @Test func d10ShortOrDenseMessagesGoUncompressed() throws {
        let sender = Self.bench(.server, .init(), WebSocketSettings(compressionThreshold: 64))
        let receiver = Self.bench(.client)
        let long = [UInt8](repeating: 0x61, count: 64)
        try sender.machine.send(.binary, long)
        try sender.machine.send(.binary, long.dropLast())
        try sender.machine.send(.binary, long, mayCompress: false)
        try sender.machine.send(.binary, long)
        #expect(
            Self.pass(sender, receiver) == [long, Array(long.dropLast()), long, long].map { .message(.binary, $0) })
        #expect(WireFrame.read(sender.wire).map(\.reserved) == [4, 0, 0, 4])
        #expect(sender.machine.snapshot().sent.compressedMessages == 2)
    }

    @Test func d11UncompressedFramesAreTaken() {
        let bench = Self.bench()
        bench.receive(.text("plain"), Self.compressed([0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]), .text("plain"))
        #expect(bench.takeEvents() == [.text("plain"), .text("Hello"), .text("plain")])
    }

    @Test func streamedPartsAreDeliveredAsTheyAreSent() throws {
        let sender = Self.bench(.client)
        let receiver = Self.bench(.server, .init(), .init(delivery: .chunks))
        let id = try sender.machine.begin(.text)
        for part in ["one ", "two ", "", "three"] {
            try sender.machine.append(Array(part.utf8), to: id)
            let parts = Self.pass(sender, receiver).compactMap { event -> [UInt8]? in
                if case .chunk(let chunk) = event { chunk.bytes } else { nil }
            }
            #expect(parts == (part.isEmpty ? [] : [Array(part.utf8)]))
        }
        try sender.machine.finish(id)
        guard case .chunk(let end) = Self.pass(sender, receiver).last else {
            Issue.record("the end is a chunk")
            return
        }
        #expect(end.isFinal && end.bytes.isEmpty && !end.isFirst)
    }

    @Test func frameRecordsSayBothSizes() throws {
        let sender = Self.bench(.server)
        let receiver = Self.bench(.client)
        sender.machine.reportsFrames = true
        receiver.machine.reportsFrames = true
        try sender.machine.send(.text, [UInt8](repeating: 0x61, count: 1000))
        let events = Self.pass(sender, receiver)
        guard case .frame(var got) = events.first, case .frame(let made) = sender.takeEvents().first else {
            Issue.record("a frame is recorded before its message")
            return
        }
        #expect(made.isSent && made.messageBytes == 1000 && made.length < 20 && made.reserved == 4)
        got.isSent = true
        #expect(got == made && events.count == 2)
    }
}
