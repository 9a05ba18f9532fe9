import Foundation
import SocketKit

/// A value that crosses threads though the compiler cannot know that it may.
///
/// Proof: what GCDAsyncSocket takes from its user (a delegate, user data, the context of a filter, a buffer) is not
/// `Sendable`, and its contract says on which queue each of them is used: a delegate, its user data and a buffer on the
/// delegate's queue, a context by its filter and then by the delegate. This target does nothing with them but hand
/// them over to code on that queue.
struct Unchecked<Value>: @unchecked Sendable {
    /// The value.
    var value: Value

    /// Wraps a value.
    init(_ value: Value) { self.value = value }
}

/// A delegate, held weakly; the proof is that of `Unchecked`.
struct WeakDelegate: ~Copyable, @unchecked Sendable {
    private let unretained: UnretainedReference<any GCDAsyncSocketDelegate>

    init(_ delegate: (any GCDAsyncSocketDelegate)? = nil) { unretained = UnretainedReference(delegate) }

    /// The delegate; nil: none, or it is gone.
    var object: (any GCDAsyncSocketDelegate)? { @inline(__always) get { unretained.reference } }
}

/// The same for datagrams.
struct WeakUdpDelegate: @unchecked Sendable {
    /// The delegate; nil: none, or it is gone.
    weak var object: (any GCDAsyncUdpSocketDelegate)?
}

/// All state of these classes lies in locks.
extension GCDAsyncSocket: @unchecked Sendable {}
extension GCDAsyncUdpSocket: @unchecked Sendable {}

/// Bytes that a read handed over, as `Data`.
extension Data {
    /// Shorter arrays are copied, which costs less than keeping them.
    static let leastLent = 2_048

    /// A copy of these bytes.
    init(copying memory: UnsafeRawBufferPointer) {
        self = memory.baseAddress.map { Data(bytes: $0, count: memory.count) } ?? Data()
    }

    /// The bytes of an array. A long one is not copied: the data keeps it until it is gone, and then the array is kept
    /// for reads that follow.
    ///
    /// Proof: an array of `UInt8` has one piece of memory, which stays where it is as long as somebody holds the array.
    /// The deallocator holds it. `Data` that nobody else holds changes its bytes in place, and may do so here: whoever
    /// hands the array over does not read it again, and what the engine keeps of a read is a copy. The deallocator is
    /// called once nobody has the data, and the array is reused only after the deallocator and whoever handed it over
    /// have released it.
    init(handingOver bytes: [UInt8]) {
        guard bytes.count >= Self.leastLent else {
            self = bytes.withUnsafeBytes { Data(copying: $0) }
            return
        }
        self = bytes.withUnsafeBytes { memory in
            Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: memory.baseAddress!), count: memory.count,
                deallocator: .custom { _, _ in SpareReads.shared.keep(bytes) })
        }
    }
}
