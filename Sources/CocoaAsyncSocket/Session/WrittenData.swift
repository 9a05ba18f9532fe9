import Foundation
import SocketKit

/// A large `Data` that is written without a copy.
final class WrittenData: ContiguousBytesOwner {
    /// Shorter data is copied, which is cheaper than retaining it.
    static let leastCount = 4_096

    private let data: Data
    let byteCount: Int

    init(_ data: Data) {
        self.data = data
        byteCount = data.count
    }

    func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) { data.withUnsafeBytes(body) }
}
