import SocketCore
import SocketTestSupport
import Testing

@Suite("Pieces taken ahead") struct TakenPiecesTests {
    private static func queue(_ text: String) -> ReadQueue {
        var queue = ReadQueue()
        Array(text.utf8).withUnsafeBytes { queue.receive($0, now: .zero) }
        return queue
    }

    @Test(
        "whole pieces are taken, within both limits, and the last byte stays",
        arguments: [
            ("a\nbc\nd", nil, 100, [2, 5]), ("a\nbc\n", nil, 100, [2]), ("a\n", nil, 100, []), ("abc", nil, 100, []),
            ("a\nbc\nd", 2, 100, [2]), ("a\nbc\nd", 3, 100, [2, 5]), ("a\nbc\nd", nil, 4, [2]),
            ("a\nbc\nd", .max, 100, [2, 5]),
            ("\n\n\n", nil, 100, [1, 2]),
        ] as [(String, Int?, Int, [Int])])
    func taking(text: String, limit: Int?, most: Int, ends: [Int]) {
        var queue = Self.queue(text)
        let taken = queue.takePieces(endingWith: [10], limit: limit, most: most)
        #expect((taken?.ends ?? []) == ends && (taken?.bytes ?? []) == Array(text.utf8.prefix(ends.last ?? 0)))
        let left = queue.prebuffered
        #expect(left == text.utf8.count - (ends.last ?? 0) && left > 0)
    }

    @Test("what is put back comes first again")
    func puttingBack() {
        var queue = Self.queue("a\nb\nc\nd")
        let taken = queue.takePieces(endingWith: [10], limit: nil, most: 100)
        queue.putBack(Array(taken?.bytes.dropFirst(2) ?? []))
        queue.countFetched(1)
        queue.enqueue(ReadRequest(.length(5)), as: OperationID(1), now: .zero)
        guard case .deliver(let delivery) = queue.advance(now: .zero) else {
            Issue.record("the read must complete")
            return
        }
        let completed = queue.completed
        #expect(delivery.bytes == Array("b\nc\nd".utf8) && completed == 2)
    }

    @Test("nothing is taken while a read is queued")
    func queued() {
        var queue = ReadQueue()
        queue.enqueue(ReadRequest(.length(9)), as: OperationID(1), now: .zero)
        Array("a\nb\nc".utf8).withUnsafeBytes { queue.receive($0, now: .zero) }
        let hasTaken = queue.takePieces(endingWith: [10], limit: nil, most: 100) != nil
        #expect(!hasTaken)
    }
}
