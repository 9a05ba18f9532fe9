import Foundation
import SocketKit
import Synchronization

/// The buffers that the reads of one connection were given.
final class ReadBuffers: Sendable {
    /// Whether there ever was one: most programs give none, and spare the lock.
    private let areUsed = Atomic<Bool>(false)
    private let waiting = Lock<[OperationID: ReadBuffer]>([:])

    /// Adds the buffer of the read that `queue` queues, whose completion finds it.
    func add(_ buffer: ReadBuffer, _ queue: () -> OperationID) {
        areUsed.store(true, ordering: .releasing)
        waiting.withLock { $0[queue()] = buffer }
    }

    /// Takes out the buffer of a read; nil: it has none.
    @inline(__always)
    func take(_ operation: OperationID) -> ReadBuffer? {
        guard areUsed.load(ordering: .acquiring) else { return nil }
        return waiting.withLock { $0.removeValue(forKey: operation) }
    }
}

/// The buffer that a read was given, and where its bytes go.
struct ReadBuffer: Sendable {
    private let buffer: Unchecked<NSMutableData>
    private let offset: Int
    private let length: Int

    /// nil: the offset is behind the buffer's end.
    init?(_ buffer: NSMutableData, offset: UInt) {
        guard offset <= UInt(buffer.length) else { return nil }
        self.buffer = Unchecked(buffer)
        self.offset = Int(offset)
        length = buffer.length
    }

    /// Puts the bytes into the buffer, which grows if it has to.
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
