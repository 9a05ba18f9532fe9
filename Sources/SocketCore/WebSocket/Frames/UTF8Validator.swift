/// Checks text that comes in pieces, and finds the first byte with which it cannot be UTF-8 any more (RFC 3629, 4; RFC
/// 6455, 8.1).
///
/// Runs of ASCII are skipped 64 bytes at a time; characters that lie whole in a piece are checked at once; only a
/// character that is cut goes byte by byte.
package struct UTF8Validator: Sendable, Equatable {
    /// Bytes that the character at hand lacks.
    private var missing: UInt8 = 0
    /// What the next of them may be.
    private var low: UInt8 = 0x80
    private var high: UInt8 = 0xBF

    /// A validator of a text that begins.
    package init() {}

    /// Whether the text may end here: no character is cut.
    package var isComplete: Bool { missing == 0 }

    /// Checks the next bytes. The answer is the offset of the first impossible one; nil: the text may go on.
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

    /// Goes byte by byte through a character that is cut, or wrong: the offset of its first impossible byte.
    private mutating func cut(_ bytes: UnsafeRawBufferPointer, at index: inout Int) -> Int? {
        guard begin(bytes[index]) else { return index }
        index += 1
        while missing > 0, index < bytes.count {
            guard goOn(bytes[index]) else { return index }
            index += 1
        }
        return nil
    }

    /// Takes the first byte of a character that is not ASCII.
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

    /// Takes a later byte of a character.
    private mutating func goOn(_ byte: UInt8) -> Bool {
        guard low...high ~= byte else { return false }
        missing -= 1
        (low, high) = (0x80, 0xBF)
        return true
    }

    /// The length of the character that begins at `index`, if 4 bytes are there from it on and it is right; 0
    /// otherwise.
    ///
    /// All of its bytes are compared at once, as one little-endian word, with what their upper bits must be.
    @inline(__always)
    private static func wholeCharacter(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Int {
        guard index &+ 4 <= bytes.count else { return 0 }
        let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self).littleEndian
        if word & 0xC0E0 == 0x80C0 { return word & 0x1E != 0 ? 2 : 0 }
        if word & 0x00C0_C0F0 == 0x0080_80E0 {
            // The lead's last bits and the one that tells overlong forms (E0 80) and surrogates (ED A0).
            let edge = word & 0x200F
            return edge != 0 && edge != 0x200D ? 3 : 0
        }
        guard word & 0xC0C0_C0F8 == 0x8080_80F0 else { return 0 }
        // From F0 90 to F4 8F.
        let start = (word & 7) << 2 | word >> 12 & 3
        return start >= 1 && start <= 16 ? 4 : 0
    }

    /// The first offset from `index` on at which a byte is not ASCII, or the end.
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

    /// Whether 64 bytes are.
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
