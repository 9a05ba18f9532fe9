import SocketCore
import Synchronization

/// Arrays of long reads whose bytes are no longer used, kept for later reads.
///
/// Allocating and freeing an array of 64 KiB takes 1,000 instructions, a tenth of the cost of a read of that length. A
/// layer above this library that knows when its user is done with an array returns it here. An array is reused only for
/// a read of the same length, so its old bytes are overwritten or cut off before they can be seen.
package final class ReturnedArrays: Sendable {
    /// The arrays of this process. All engines share them, because an array can come back on any thread, and after its
    /// engine has been released.
    package static let shared = ReturnedArrays()

    /// Shorter arrays are not kept, because only longer reads go straight to an array.
    package static let leastCount = 4_096
    /// The most bytes that are kept.
    package static let limit = 1 << 20

    private struct Kept {
        var arrays: [[UInt8]] = []
        var bytes = 0
    }

    private let kept = Lock(Kept())
    /// Whether an array is available. Most programs never return one, and skip the lock.
    private let areKept = Atomic<Bool>(false)
    /// The length that was requested last. Most long reads never request one, so their arrays are not kept.
    private let wanted = Atomic<Int>(0)

    /// Creates an empty store, which owns no memory.
    package init() {}

    /// Keeps an array, unless it is short, differs from the length requested last, or enough is kept. The caller may
    /// retain it a little longer, without reading or writing it.
    package func keep(_ array: [UInt8]) {
        guard array.count >= Self.leastCount, array.count == wanted.load(ordering: .relaxed) else { return }
        kept.withLock { kept in
            guard kept.bytes + array.count <= Self.limit else { return }
            kept.bytes += array.count
            kept.arrays.append(array)
            areKept.store(true, ordering: .relaxed)
        }
    }

    /// Returns an array of this length that has no other owner, or an empty one. An array of another length is
    /// released, so that lengths that are no longer read don't take the place of those that are.
    @inline(__always)
    package func take(_ count: Int) -> [UInt8] {
        if wanted.load(ordering: .relaxed) != count { wanted.store(count, ordering: .relaxed) }
        return areKept.load(ordering: .relaxed) ? takeKept(count) : []
    }

    private func takeKept(_ count: Int) -> [UInt8] {
        kept.withLock { kept in
            guard let last = kept.arrays.indices.last, LargeArrayPool.isHeldOnce(&kept.arrays[last]) else { return [] }
            let array = kept.arrays.removeLast()
            kept.bytes -= array.count
            if last == 0 { areKept.store(false, ordering: .relaxed) }
            return array.count == count ? array : []
        }
    }
}
