import Foundation
import SocketKit

/// A value that crosses threads although the compiler cannot prove that it may.
///
/// Proof: the objects that callers give to GCDAsyncSocket (a delegate, user data, a filter's context, a buffer) are not
/// `Sendable`, but its contract says on which queue each one is used. A delegate, its user data and a buffer are used
/// on the delegate's queue, and a context by its filter and then by the delegate. This target only passes them to code
/// on that queue.
struct Unchecked<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: Value) { self.value = value }
}

/// A delegate, held weakly. The proof is that of `Unchecked`.
struct WeakDelegate: ~Copyable, @unchecked Sendable {
    private let unretained: UnretainedReference<any GCDAsyncSocketDelegate>

    init(_ delegate: (any GCDAsyncSocketDelegate)? = nil) { unretained = UnretainedReference(delegate) }

    /// The delegate, or `nil` if there is none or it has been released.
    var object: (any GCDAsyncSocketDelegate)? { @inline(__always) get { unretained.reference } }
}

/// A datagram socket's delegate, held weakly. The proof is that of `Unchecked`.
struct WeakUdpDelegate: @unchecked Sendable {
    /// The delegate, or `nil` if there is none or it has been released.
    weak var object: (any GCDAsyncUdpSocketDelegate)?
}

/// All state of these classes is in locks.
extension GCDAsyncSocket: @unchecked Sendable {}
extension GCDAsyncUdpSocket: @unchecked Sendable {}

/// Bytes that a read handed over, as `Data`.
extension Data {
    /// Shorter arrays are copied, which is cheaper than retaining them.
    static let leastLent = 2_048

    /// Copies these bytes.
    init(copying memory: UnsafeRawBufferPointer) {
        self = memory.baseAddress.map { Data(bytes: $0, count: memory.count) } ?? Data()
    }

    /// Creates data from an array. A long array is not copied: the data retains it, and once the data is released, the
    /// array is reused for later reads.
    ///
    /// Proof: an array of `UInt8` has one piece of memory, which stays in place while the array is retained. The
    /// deallocator retains it. `Data` that nothing else retains changes its bytes in place, and may do so here: the
    /// code that handed the array over does not read it again, and the engine keeps only copies of reads. The
    /// deallocator is called once the data is released, and the array is reused only after the deallocator and the code
    /// that handed it over have released it.
    init(handingOver bytes: [UInt8]) {
        guard bytes.count >= Self.leastLent else {
            self = bytes.withUnsafeBytes { Data(copying: $0) }
            return
        }
        self = bytes.withUnsafeBytes { memory in
            Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: memory.baseAddress!), count: memory.count,
                deallocator: .custom { _, _ in ReturnedArrays.shared.keep(bytes) })
        }
    }
}
