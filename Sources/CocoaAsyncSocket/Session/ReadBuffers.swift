import Foundation
import SocketKit
import Synchronization

/// The buffers given to the reads of one connection.
final class ReadBuffers: Sendable {
    /// Whether a buffer was ever added. Most programs use none, and this saves the lock.
    private let areUsed = Atomic<Bool>(false)
    private let waiting = Lock<[OperationID: ReadBuffer]>([:])

    /// Adds the buffer of the read that `queue` queues. The lock is held meanwhile, so that the read's completion finds
    /// it.
    func add(_ buffer: ReadBuffer, _ queue: () -> OperationID) {
        areUsed.store(true, ordering: .releasing)
        waiting.withLock { $0[queue()] = buffer }
    }

    /// Removes and returns the buffer of a read, or `nil` if it has none.
    @inline(__always)
    func take(_ operation: OperationID) -> ReadBuffer? {
        guard areUsed.load(ordering: .acquiring) else { return nil }
        return waiting.withLock { $0.removeValue(forKey: operation) }
    }
}

/// The buffer given to a read, and where its bytes go.
struct ReadBuffer: Sendable {
    private let buffer: Unchecked<NSMutableData>
    private let offset: Int
    private let length: Int

    /// Returns `nil` if the offset is beyond the buffer's end.
    init?(_ buffer: NSMutableData, offset: UInt) {
        guard offset <= UInt(buffer.length) else { return nil }
        self.buffer = Unchecked(buffer)
        self.offset = Int(offset)
        length = buffer.length
    }

    /// Writes the bytes into the buffer, which grows if necessary.
    func fill(_ bytes: [UInt8]) {
        let data = buffer.value
        let end = offset + bytes.count
        if data.length < end { data.length = max(length, end) }
        bytes.withUnsafeBytes { memory in
            guard let start = memory.baseAddress else { return }
            // Without the last argument, Foundation on Linux reads as many bytes as the whole buffer has.
            data.replaceBytes(
                in: NSRange(location: offset, length: memory.count), withBytes: start, length: memory.count)
        }
    }
}
