import SocketCore
import SocketTestSupport
import Testing

@Suite struct FrameReadTests {
    private let start = MonotonicTime.zero

    private func read(_ prefix: LengthPrefix, _ stream: [UInt8], pieces: [Int] = []) -> [ReadAction] {
        var queue = ReadQueue()
        queue.enqueue(ReadRequest(.frame(prefix), tag: 1), as: OperationID(1), now: start)
        queue.enqueue(ReadRequest(.frame(prefix), tag: 2), as: OperationID(2), now: start)
        var rest = stream[...]
        var actions: [ReadAction] = []
        var sizes = pieces[...]
        while !rest.isEmpty {
            let piece = rest.prefix(sizes.popFirst() ?? rest.count)
            rest = rest.dropFirst(piece.count)
            Array(piece).withUnsafeBytes { queue.receive($0, now: start) }
            while case let action = queue.advance(now: start), action != .none { actions.append(action) }
        }
        return actions
    }

    private func frames(_ actions: [ReadAction]) -> [[UInt8]] {
        actions.compactMap { if case .deliver(let delivery) = $0 { delivery.bytes } else { nil } }
    }

    @Test(arguments: [
        (LengthPrefix(.u8), [3, 97, 98, 99] as [UInt8]), (LengthPrefix(.u16), [0, 3, 97, 98, 99]),
        (LengthPrefix(.u16, isLittleEndian: true), [3, 0, 97, 98, 99]),
        (LengthPrefix(.u32, countsHeader: true), [0, 0, 0, 7, 97, 98, 99]),
        (LengthPrefix(.u64, isLittleEndian: true), [3, 0, 0, 0, 0, 0, 0, 0, 97, 98, 99]),
        (LengthPrefix(.u16, offset: 2), [9, 9, 0, 3, 97, 98, 99]), (LengthPrefix(.u8), [0]),
    ])
    func everyFormIsReadWholeAndDripped(_ prefix: LengthPrefix, _ frame: [UInt8]) {
        #expect(frames(read(prefix, frame + frame)) == [frame, frame])
        let dripped = [Int](repeating: 1, count: frame.count * 2)
        #expect(frames(read(prefix, frame + frame, pieces: dripped)) == [frame, frame])
    }

    @Test(arguments: [
        (LengthPrefix(.u16, limit: 100), [0, 99, 1] as [UInt8]), (LengthPrefix(.u16, countsHeader: true), [0, 1, 1]),
        (LengthPrefix(.u64), [255, 255, 255, 255, 255, 255, 255, 255, 1]),
    ])
    func aLengthThatCannotBeIsRefusedWithTheHeaderItCameIn(_ prefix: LengthPrefix, _ stream: [UInt8]) {
        let actions = read(prefix, stream)
        guard case .exceeded(let failed) = actions.last else {
            Issue.record("\(actions)")
            return
        }
        #expect(failed.error.reason == .readMaxedOut)
        #expect(failed.bytes == Array(stream.prefix(prefix.headerLength)))
    }

    /// What the bytes decide goes before the timeout, though the shell did not ask what to do with them yet.
    @Test(arguments: [[0, 1, 97] as [UInt8], [0, 2], [0, 200]])
    func aFrameThatItsBytesDecideDoesNotTimeOut(_ bytes: [UInt8]) {
        var queue = ReadQueue()
        let prefix = LengthPrefix(.u16, countsHeader: bytes.count == 2, limit: 100)
        queue.enqueue(ReadRequest(.frame(prefix), timeout: .zero), as: OperationID(1), now: start)
        bytes.withUnsafeBytes { queue.receive($0, now: start) }
        #expect(queue.expire(now: start) == nil)
    }

    @Test func theTotalIsKnownOnceTheHeaderIsHere() {
        var queue = ReadQueue()
        queue.enqueue(ReadRequest(.frame(LengthPrefix(.u16))), as: OperationID(1), now: start)
        #expect(queue.wanted == 2)
        #expect(queue.snapshot(listing: 1).current?.total == nil)
        [UInt8]([0, 10]).withUnsafeBytes { queue.receive($0, now: start) }
        _ = queue.advance(now: start)
        #expect(queue.wanted == 10)
        #expect(queue.snapshot(listing: 1).current?.total == 12)
    }
}
