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
