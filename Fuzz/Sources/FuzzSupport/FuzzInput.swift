/// The fuzzer's bytes, read as a row of choices. Behind the last byte every choice is 0.
package struct FuzzInput {
    private var rest: UnsafeBufferPointer<UInt8>.SubSequence

    /// Lends the bytes of one run.
    package init(_ start: UnsafePointer<UInt8>?, _ count: Int) {
        rest = UnsafeBufferPointer(start: start, count: count)[...]
    }

    /// Whether nothing is left to choose by.
    package var isEmpty: Bool { rest.isEmpty }

    /// The next byte.
    package mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// A number from 0 to one less than `bound`, which is at most 256.
    package mutating func below(_ bound: Int) -> Int { Int(byte()) % bound }

    /// The next bytes, each cut down by `mask`; fewer where they run out.
    package mutating func bytes(_ count: Int, mask: UInt8) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count).map { $0 & mask }
    }
}

/// Ends the run as a finding, with a sentence, when a rule is broken.
package func require(_ holds: Bool, _ rule: @autoclosure () -> String) {
    if !holds { fatalError(rule()) }
}
