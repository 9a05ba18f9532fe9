import SocketCore
import SocketRecords
import SocketTestSupport
import Testing

@Suite("Stream assembler")
struct StreamAssemblerTests {
    private struct Segment {
        var offset: Int
        var bytes: ArraySlice<UInt8>
    }

    private static func flat(_ pieces: [StreamAssembler.Piece]) -> [UInt8?] {
        pieces.flatMap { piece -> [UInt8?] in
            switch piece {
            case .bytes(let bytes): bytes
            case .gap(let count): [UInt8?](repeating: nil, count: Int(count))
            case .differs, .keepAlive: []
            }
        }
    }

    private static func absorb(
        _ assembler: inout StreamAssembler, _ sequence: UInt32, _ text: String, _ flags: SyntheticPacket.Flags = .ack
    ) -> [StreamAssembler.Piece] {
        assembler.absorb(.init(sequence: sequence, flags: flags), Array(text.utf8)[...])
    }

    @Test("any order, repeated, overlapping, across the wrap", arguments: 0..<200 as Range<UInt64>)
    func shuffled(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let stream = (0..<Int.random(in: 1...5_000, using: &random)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 2) }
        let start = UInt32.max - UInt32.random(in: 0...6_000, using: &random)
        var segments: [Segment] = []
        var offset = 0
        while offset < stream.count {
            let count = min(Int.random(in: 1...400, using: &random), stream.count - offset)
            let back = min(offset, Int.random(in: 0...3, using: &random) == 0 ? 50 : 0)
            segments.append(Segment(offset: offset - back, bytes: stream[(offset - back)..<(offset + count)]))
            offset += count
        }
        let lost = segments.indices.filter { _ in Int.random(in: 0..<20, using: &random) == 0 }
        var sent = segments.indices.filter { !lost.contains($0) }.map { segments[$0] }
        sent += sent.filter { _ in Int.random(in: 0..<5, using: &random) == 0 }
        sent.shuffle(using: &random)
        var assembler = StreamAssembler()
        _ = assembler.absorb(.init(sequence: start, flags: .syn), [])
        var pieces: [StreamAssembler.Piece] = []
        for segment in sent {
            let sequence = start &+ 1 &+ UInt32(segment.offset)
            pieces += assembler.absorb(.init(sequence: sequence), segment.bytes)
        }
        pieces += assembler.otherSide(acknowledges: start &+ 1 &+ UInt32(stream.count))
        pieces += assembler.finish()
        var expected = [UInt8?](repeating: nil, count: stream.count)
        for segment in sent {
            for index in segment.bytes.indices { expected[index] = stream[index] }
        }
        #expect(Self.flat(pieces) == expected)
        #expect(assembler.missing == UInt64(expected.filter { $0 == nil }.count))
        #expect(assembler.pendingBytes == 0)
        #expect(!pieces.contains { if case .differs = $0 { true } else { false } })
    }

    @Test("where two copies differ, the first stays and the difference is told")
    func differs() {
        var assembler = StreamAssembler()
        #expect(Self.absorb(&assembler, 100, "abcdef") == [.bytes(Array("abcdef".utf8))])
        #expect(Self.absorb(&assembler, 102, "cXXfgh") == [.differs(2), .bytes(Array("gh".utf8))])
        #expect(Self.absorb(&assembler, 110, "klm") == [])
        #expect(
            Self.absorb(&assembler, 108, "ijKlmn") == [.differs(1), .bytes(Array("ij".utf8))]
                + ["klm", "n"].map {
                    .bytes(Array($0.utf8))
                })
    }

    @Test("a stream that was joined in its middle begins where it was joined")
    func midStream() {
        var assembler = StreamAssembler()
        #expect(Self.absorb(&assembler, 4_000_000_000, "later") == [.bytes(Array("later".utf8))])
        #expect(Self.absorb(&assembler, 4_000_000_005, "!", [.ack, .fin]) == [.bytes([33])])
        #expect(assembler.hasEnded)
    }

    @Test("a hole that was acknowledged is a loss of the capture; one that was not is waited for")
    func holes() {
        var assembler = StreamAssembler()
        _ = Self.absorb(&assembler, 9, "", .syn)
        for index in 0..<6 { #expect(Self.absorb(&assembler, UInt32(20 + index), "x") == []) }
        #expect(assembler.otherSide(acknowledges: 15) == [])
        let pieces = assembler.otherSide(acknowledges: 26)
        #expect(pieces.first == .gap(10) && Self.flat(pieces).count == 16)
        // What comes after all is not inserted where others follow already.
        #expect(Self.absorb(&assembler, 10, "aaaaaaaaaa") == [])
        #expect(assembler.repeated == 10)
    }

    @Test("what waits for lost bytes is limited")
    func limited() {
        var assembler = StreamAssembler()
        _ = Self.absorb(&assembler, 9, "", .syn)
        let block = [UInt8](repeating: 1, count: 60_000)
        var sequence: UInt32 = 20
        for _ in 0..<100 {
            _ = assembler.absorb(.init(sequence: sequence), block[...])
            #expect(assembler.pendingBytes <= StreamAssembler.pendingLimit)
            sequence &+= 60_000
        }
        #expect(assembler.missing == 10)
    }

    @Test("what waits in all streams together is limited, and holes that are given up are counted")
    func limitedTogether() {
        var sessions = CapturedSessions()
        let block = [UInt8](repeating: 7, count: 8_000)
        let peer = SyntheticPacket.End(IPAddress("10.0.0.2")!, 80)
        for part in 0..<20 {
            for port in 0..<200 as Range<UInt16> {
                // One byte is missing before all of it, which nobody acknowledges.
                let own = SyntheticPacket.End(IPAddress("10.0.0.1")!, 1_000 + port)
                let isFirst = part == 0
                let sequence: UInt32 = isFirst ? 1 : 3 + UInt32(part - 1) * 8_000
                let payload: ArraySlice<UInt8> = isFirst ? [] : block[...]
                let head = SyntheticPacket(from: own, to: peer).tcpHead(
                    isFirst ? .syn : .ack, sequence: sequence, acknowledges: 0, payload: payload,
                    length: payload.count)
                let frame = head + payload
                var packet = CapturedPacket(interface: 0, link: LinkType.ethernet.rawValue)
                (packet.bytes, packet.length) = (frame[...], frame.count)
                sessions.absorb(packet)
                #expect(sessions.waiting <= CapturedSessions.waitingLimit)
            }
        }
        let missing = sessions.sessions.reduce(0) { $0 + $1.fromLocal.missing }
        #expect(sessions.givenUp > 0 && missing == sessions.givenUp)
        sessions.finish()
        #expect(sessions.sessions.allSatisfy { $0.fromLocal.missing == 1 && $0.sent == 19 * 8_000 })
    }

    @Test("bytes from before the first that was seen are counted, not taken for ones that came again")
    func early() {
        var assembler = StreamAssembler()
        #expect(Self.absorb(&assembler, 1_000, "later") == [.bytes(Array("later".utf8))])
        #expect(Self.absorb(&assembler, 990, "before it later!") == [.bytes([33])])
        #expect(assembler.early == 10 && assembler.repeated == 5)
    }

    @Test("an acknowledged FIN ends a stream, whatever is missing before it")
    func lostEnd() {
        var assembler = StreamAssembler()
        _ = Self.absorb(&assembler, 9, "", .syn)
        #expect(Self.absorb(&assembler, 14, "", [.ack, .fin]) == [] && !assembler.hasEnded)
        #expect(assembler.otherSide(acknowledges: 15) == [.gap(4)])
        #expect(assembler.hasEnded && assembler.missing == 4)
    }
}
