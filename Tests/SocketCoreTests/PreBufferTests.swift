import SocketCore
import SocketTestSupport
import Testing

struct PreBufferTests {
    /// Statement 113. Where the original keeps its space for ever, this one gives it back when the last byte is read.
    @Test func countFollowsWhatIsWrittenAndRead() {
        var buffer = PreBuffer()
        #expect(buffer.count == 0)
        #expect(buffer.reserved == 0)
        buffer.append(numbers(512))
        #expect(buffer.count == 512)
        let reserved = buffer.reserved
        #expect(reserved >= 512)
        #expect(buffer.take(256) == Array(numbers(512)[..<256]))
        #expect(buffer.count == 256)
        #expect(buffer.reserved == reserved)
        #expect(buffer.take(256) == Array(numbers(512)[256...]))
        #expect(buffer.count == 0)
        #expect(buffer.reserved == 0)
    }

    /// Statement 113.
    @Test func contentSurvivesGrowth() {
        var buffer = PreBuffer()
        buffer.append(numbers(100))
        buffer.consume(10)
        buffer.append(numbers(10_000))
        #expect(buffer.count == 10_090)
        #expect(buffer.take(10_090) == Array(numbers(100)[10...]) + numbers(10_000))
    }

    @Test func bytesPutBackComeFirst() {
        var buffer = PreBuffer()
        buffer.prepend([4, 5])
        buffer.prepend([2, 3])
        #expect(buffer.prefix(10) == [2, 3, 4, 5])
        buffer.consume(3)
        buffer.prepend([1, 2])
        buffer.prepend([9, 8, 7])
        buffer.prepend([])
        #expect(buffer.take(6) == [9, 8, 7, 1, 2, 5])
        #expect(buffer.isEmpty)
    }

    @Test func lentBytesAreThoseThatAreLeft() {
        var buffer = PreBuffer()
        buffer.append([1, 2, 3, 4])
        buffer.consume(2)
        #expect(buffer.withUnsafeBytes { Array($0) } == [3, 4])
        #expect(buffer.prefix(1) == [3])
        #expect(buffer.count == 2)
    }

    @Test func aSmallRestIsNotHandedOverWithALargeArray() {
        var buffer = PreBuffer()
        buffer.append(numbers(100_000))
        buffer.consume(99_990)
        buffer.append([1])
        #expect(buffer.take(11).capacity < 1_000)
    }

    @Test func memoryStaysBoundedWhileBytesFlowThrough() {
        var buffer = PreBuffer()
        buffer.append([0, 0, 0])
        for round in 0..<20_000 {
            buffer.append([UInt8(truncatingIfNeeded: round)])
            buffer.consume(1)
        }
        #expect(buffer.count == 3)
        #expect(buffer.reserved < 256)
    }

    @Test func randomUseAgreesWithAnArray() {
        var generator = SplitMix64(seed: 113)
        var buffer = PreBuffer()
        var model: [UInt8] = []
        for step in 0..<5_000 {
            let amount = Int.random(in: 0...40, using: &generator)
            let bytes = (0..<amount).map { UInt8(truncatingIfNeeded: step + $0) }
            switch Int.random(in: 0..<5, using: &generator) {
            case 0:
                buffer.append(bytes)
                model += bytes
            case 1:
                buffer.prepend(bytes)
                model = bytes + model
            case 2:
                let taken = min(amount, model.count)
                #expect(buffer.take(taken) == Array(model[..<taken]))
                model.removeFirst(taken)
            default:
                let consumed = min(amount, model.count)
                buffer.consume(consumed)
                model.removeFirst(consumed)
            }
            #expect(buffer.prefix(.max) == model)
            if model.isEmpty { #expect(buffer.reserved == 0) }
        }
    }

    private func numbers(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    }
}

extension PreBuffer {
    fileprivate mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }
}
