import FuzzSupport
import SocketCore

/// A terminator in bytes that drip in: the search that resumes must find what a naive search of the whole finds.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let mask: UInt8 = input.byte() & 1 == 0 ? 0x01 : 0xFF
    let terminator = input.bytes(1 + input.below(8), mask: mask)
    guard !terminator.isEmpty else { return 0 }
    var bytes: [UInt8] = []
    var offset = 0
    while !input.isEmpty {
        bytes += input.bytes(input.below(32), mask: mask)
        let outcome = bytes.withUnsafeBytes { TerminatorSearch.find(terminator, in: $0, from: offset) }
        let expected = naiveEnd(of: terminator, in: bytes)
        switch outcome {
        case .found(let end):
            require(end == expected, "\(terminator) in \(bytes): found at \(end), not \(String(describing: expected))")
            return 0
        case .missing(let resumeAt):
            require(expected == nil, "\(terminator) in \(bytes): not found")
            require(resumeAt == bytes.count, "the search of \(bytes) ended at \(resumeAt)")
            offset = resumeAt
        }
    }
    return 0
}

private func naiveEnd(of terminator: [UInt8], in bytes: [UInt8]) -> Int? {
    guard terminator.count <= bytes.count else { return nil }
    return (terminator.count...bytes.count).first { bytes[..<$0].suffix(terminator.count) == terminator[...] }
}
