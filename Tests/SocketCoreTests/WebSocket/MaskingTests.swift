import SocketCore
import Testing

/// RFC 6455, 5.1 and 5.3.
@Suite("WebSocket masking") struct MaskingTests {
    private static func word(_ key: [UInt8]) -> UInt32 {
        key.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
    }

    @Test func m1EveryFrameOfAClientIsMaskedWithAKeyOfItsOwn() throws {
        let bench = WebSocketBench(.client)
        bench.machine.reportsFrames = true
        for number in 0..<1000 {
            try bench.machine.send(.binary, [UInt8(number & 0xFF)])
            if number % 100 == 0 { try bench.machine.ping([1]) }
            if number % 100 == 50 { bench.receive(.ping("x")) }
        }
        try bench.machine.close(now: .zero)
        let frames = bench.flush()
        #expect(frames.count == 1000 + 10 + 10 + 1 && frames.allSatisfy(\.isMasked))
        let keys = bench.takeEvents().compactMap { event -> UInt32? in
            if case .frame(let record) = event, record.isSent { record.maskKey } else { nil }
        }
        #expect(keys.count == frames.count && Set(keys).count == keys.count)
    }

    @Test func m2AnUnmaskedFrameFailsAtAServerAndAMaskedOneAtAClient() {
        let server = WebSocketBench(.server)
        server.receive(bytes: WireFrame.text("x").bytes())
        #expect(server.takeEvents() == [.failed(.unmaskedFrame)])
        let client = WebSocketBench(.client)
        client.receive(bytes: WireFrame.text("x").bytes(key: [1, 2, 3, 4]))
        #expect(client.takeEvents() == [.failed(.maskedFrame)])
        #expect(WebSocketFailure.maskedFrame.closeCode == .protocolError)
        #expect(WebSocketFailure.unmaskedFrame.closeCode == .protocolError)
    }

    @Test func m3MaskingByWordsIsMaskingByBytes() {
        var numbers = TestNumbers(3)
        let key = numbers.bytes(4)
        let source = numbers.bytes(400)
        var wrong = 0
        for length in 0...300 {
            for start in 0..<32 {
                let offset = (length + start) % 4
                let plain = Array(source[start..<start + length])
                let expected = WireFrame.masked(plain, key: key, from: offset)
                let rotated = Masking.rotated(Self.word(key), by: offset)
                var place = source
                place.withUnsafeMutableBytes { Masking.apply(rotated, to: .init(rebasing: $0[start..<start + length])) }
                if place != source[..<start] + expected + source[(start + length)...] { wrong += 1 }
                var copy = [UInt8](repeating: 0xEE, count: 400)
                let isASCII = copy.withUnsafeMutableBytes { target in
                    source.withUnsafeBytes { source in
                        guard let from = source.baseAddress, let to = target.baseAddress else { return false }
                        return Masking.copy(from: from + start, to: to + 31 - start, count: length, key: rotated)
                    }
                }
                let rest = [UInt8](repeating: 0xEE, count: 400 - (31 - start) - length)
                if copy[(31 - start)...] != (expected + rest)[...] { wrong += 1 }
                if isASCII != expected.allSatisfy({ $0 < 0x80 }) { wrong += 1 }
            }
        }
        #expect(wrong == 0)
    }

    @Test func m3EveryOffsetOfTheKeyIsRotated() {
        let key: [UInt8] = [1, 2, 3, 4]
        for offset in 0..<9 {
            var bytes = [UInt8](repeating: 0, count: 9)
            bytes.withUnsafeMutableBytes { Masking.apply(Masking.rotated(Self.word(key), by: offset), to: $0) }
            #expect(bytes == WireFrame.masked([UInt8](repeating: 0, count: 9), key: key, from: offset))
        }
    }

    @Test func m3OneByteThatIsNotASCIIIsSeenAnywhere() {
        var unseen = 0
        for length in 1...130 {
            for place in 0..<length {
                var bytes = [UInt8](repeating: 0x7F, count: length)
                bytes[place] = 0x80
                let isASCII = bytes.withUnsafeMutableBytes { bytes in
                    bytes.baseAddress.map { Masking.copy(from: $0, to: $0, count: length, key: 0) }
                }
                if isASCII != false { unseen += 1 }
            }
        }
        #expect(unseen == 0)
    }

    @Test func m4TheMaskGoesOnAcrossReads() {
        var numbers = TestNumbers(4)
        let payload = numbers.bytes(200)
        let stream = WireFrame.binary(payload).bytes(key: numbers.bytes(4))
        for cut in 1...100 {
            let bench = WebSocketBench()
            bench.receive(bytes: stream, cut: cut)
            #expect(bench.takeEvents() == [.message(.binary, payload)], "\(cut) bytes at a time")
        }
    }

    @Test func m4ALongPayloadIsMaskedInPieces() throws {
        var numbers = TestNumbers(5)
        let payload = numbers.bytes(100_000)
        let bench = WebSocketBench(.client)
        try bench.machine.send(.binary, payload)
        #expect(bench.flush(most: 1021).map(\.payload) == [payload])
    }
}
