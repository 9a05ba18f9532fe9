import Foundation
import SocketKit

/// A large `Data` that is written where it lies.
final class WrittenData: ContiguousBytesOwner {
    /// Shorter ones are copied, which costs less than keeping them.
    static let leastCount = 4_096

    private let data: Data
    let byteCount: Int

    init(_ data: Data) {
        self.data = data
        byteCount = data.count
    }

    func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) { data.withUnsafeBytes(body) }
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
