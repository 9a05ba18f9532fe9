/// Validates UTF-8 text that arrives in pieces, and finds the first byte that makes it invalid (RFC 3629, 4; RFC 6455,
/// 8.1).
///
/// Runs of ASCII are skipped 64 bytes at a time. A character within one piece is checked at once, and a character split
/// between pieces is checked byte by byte.
package struct UTF8Validator: Sendable, Equatable {
    /// The missing bytes of the current character.
    private var missing: UInt8 = 0
    /// The range allowed for the next byte.
    private var low: UInt8 = 0x80
    private var high: UInt8 = 0xBF

    /// Starts at the beginning of a text.
    package init() {}

    /// Whether the text can end here, with no incomplete character.
    package var isComplete: Bool { missing == 0 }

    /// Checks the next bytes. Returns the offset of the first invalid one, or `nil` if all are valid so far.
    package mutating func validate(_ bytes: UnsafeRawBufferPointer) -> Int? {
        var index = 0
        while missing > 0, index < bytes.count {
            guard goOn(bytes[index]) else { return index }
            index += 1
        }
        while index < bytes.count {
            index = Self.endOfASCII(bytes, from: index)
            while index < bytes.count, bytes[index] >= 0x80 {
                let length = Self.wholeCharacter(bytes, at: index)
                if length > 0 {
                    index &+= length
                } else if let impossible = cut(bytes, at: &index) {
                    return impossible
                }
            }
        }
        return nil
    }

    /// Checks a split or invalid character byte by byte. Returns the offset of its first invalid byte.
    private mutating func cut(_ bytes: UnsafeRawBufferPointer, at index: inout Int) -> Int? {
        guard begin(bytes[index]) else { return index }
        index += 1
        while missing > 0, index < bytes.count {
            guard goOn(bytes[index]) else { return index }
            index += 1
        }
        return nil
    }

    /// Takes the first byte of a non-ASCII character. Returns whether it is valid.
    private mutating func begin(_ byte: UInt8) -> Bool {
        (low, high) = (0x80, 0xBF)
        switch byte {
        case 0xC2...0xDF: missing = 1
        case 0xE0: (missing, low) = (2, 0xA0)
        case 0xED: (missing, high) = (2, 0x9F)
        case 0xE1...0xEF: missing = 2
        case 0xF0: (missing, low) = (3, 0x90)
        case 0xF1...0xF3: missing = 3
        case 0xF4: (missing, high) = (3, 0x8F)
        default: return false
        }
        return true
    }

    /// Takes a later byte of a character. Returns whether it is valid.
    private mutating func goOn(_ byte: UInt8) -> Bool {
        guard low...high ~= byte else { return false }
        missing -= 1
        (low, high) = (0x80, 0xBF)
        return true
    }

    /// Returns the length of the character at `index`, or 0 if it is invalid or fewer than 4 bytes remain.
    ///
    /// All bytes are compared at once, as one little-endian word, with the required upper bits.
    @inline(__always)
    private static func wholeCharacter(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Int {
        guard index &+ 4 <= bytes.count else { return 0 }
        let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self).littleEndian
        if word & 0xC0E0 == 0x80C0 { return word & 0x1E != 0 ? 2 : 0 }
        if word & 0x00C0_C0F0 == 0x0080_80E0 {
            // The last bits of the lead byte, and the bit that marks overlong forms (E0 80) and surrogates (ED A0).
            let edge = word & 0x200F
            return edge != 0 && edge != 0x200D ? 3 : 0
        }
        guard word & 0xC0C0_C0F8 == 0x8080_80F0 else { return 0 }
        // Valid from F0 90 to F4 8F.
        let start = (word & 7) << 2 | word >> 12 & 3
        return start >= 1 && start <= 16 ? 4 : 0
    }

    /// Returns the offset of the first non-ASCII byte from `start` on, or the end.
    @inline(__always)
    private static func endOfASCII(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        while index &+ 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian & upperBits
            if word != 0 { return index &+ word.trailingZeroBitCount / 8 }
            index &+= 8
            while index &+ 64 <= bytes.count, isASCII(bytes, from: index) { index &+= 64 }
        }
        while index < bytes.count, bytes[index] < 0x80 { index &+= 1 }
        return index
    }

    /// Whether the 64 bytes at `index` are ASCII.
    @inline(__always)
    private static func isASCII(_ bytes: UnsafeRawBufferPointer, from index: Int) -> Bool {
        let first = bytes.loadUnaligned(fromByteOffset: index, as: SIMD2<UInt64>.self)
        let second = bytes.loadUnaligned(fromByteOffset: index &+ 16, as: SIMD2<UInt64>.self)
        let third = bytes.loadUnaligned(fromByteOffset: index &+ 32, as: SIMD2<UInt64>.self)
        let fourth = bytes.loadUnaligned(fromByteOffset: index &+ 48, as: SIMD2<UInt64>.self)
        let seen = first | second | third | fourth
        return (seen[0] | seen[1]) & upperBits == 0
    }

    private static var upperBits: UInt64 { 0x8080_8080_8080_8080 }
}
