import Testing

@testable import SocketCore

struct UnfinishedReadTests {
    @Test func theBytesOfAReadThatEndsEarlyAreHandedOverAndNotCopied() throws {
        var queue = ReadQueue()
        queue.enqueue(ReadRequest(.delimiter([0], limit: nil)), as: OperationID(1), now: .zero)
        [UInt8](repeating: 1, count: 1_000_000).withUnsafeBytes { queue.receive($0, now: .zero) }
        while queue.advance(now: .zero) != .none {}
        let before = queue.preBuffer.withUnsafeBytes { $0.baseAddress }
        let error = SocketError(.disconnected, operation: "read", detail: "closed")
        let failed = queue.failNext(error: error)
        let taken = try #require(failed).bytes
        #expect(taken.count == 1_000_000)
        #expect(taken.withUnsafeBytes { $0.baseAddress } == before)
    }
}
