/// The mask of a client's frames (RFC 6455, 5.3): each byte is combined by XOR with one of the key's four, in turn.
///
/// A key is a `UInt32` whose bytes lie in memory as on the wire, so that whole words of payload are combined with it.
package enum Masking {
    /// The key for bytes that begin `offset` bytes behind the start of the payload.
    package static func rotated(_ key: UInt32, by offset: Int) -> UInt32 {
        let bits = UInt32(truncatingIfNeeded: offset & 3) &* 8
        guard bits != 0 else { return key }
        #if _endian(little)
        return key &>> bits | key &<< (32 &- bits)
        #else
        return key &<< bits | key &>> (32 &- bits)
        #endif
    }

    /// Masks, or unmasks, bytes where they are.
    package static func apply(_ key: UInt32, to bytes: UnsafeMutableRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        copy(from: start, to: start, count: bytes.count, key: key)
    }

    /// Masks, or unmasks, bytes into another place, or where they are; whether all that was written is ASCII.
    @discardableResult package static func copy(
        from source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, count: Int, key: UInt32
    ) -> Bool {
        let vector = SIMD8<UInt32>(repeating: key)
        var seen = SIMD8<UInt32>.zero
        var index = 0
        while index &+ 64 <= count {
            let first = source.loadUnaligned(fromByteOffset: index, as: SIMD8<UInt32>.self) ^ vector
            let second = source.loadUnaligned(fromByteOffset: index &+ 32, as: SIMD8<UInt32>.self) ^ vector
            target.storeBytes(of: first, toByteOffset: index, as: SIMD8<UInt32>.self)
            target.storeBytes(of: second, toByteOffset: index &+ 32, as: SIMD8<UInt32>.self)
            seen |= first | second
            index &+= 64
        }
        let isASCII = seen & SIMD8(repeating: 0x8080_8080) == .zero
        return copyTail(from: source, to: target, index..<count, key: key) && isASCII
    }

    /// Fewer than 64 bytes, by words and then by bytes.
    private static func copyTail(
        from source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, _ range: Range<Int>, key: UInt32
    ) -> Bool {
        let word = UInt64(key) << 32 | UInt64(key)
        var seen: UInt64 = 0
        var index = range.lowerBound
        while index &+ 8 <= range.upperBound {
            let masked = source.loadUnaligned(fromByteOffset: index, as: UInt64.self) ^ word
            target.storeBytes(of: masked, toByteOffset: index, as: UInt64.self)
            seen |= masked
            index &+= 8
        }
        var rest = word.littleEndian
        while index < range.upperBound {
            let masked = source.load(fromByteOffset: index, as: UInt8.self) ^ UInt8(truncatingIfNeeded: rest)
            target.storeBytes(of: masked, toByteOffset: index, as: UInt8.self)
            seen |= UInt64(masked)
            rest &>>= 8
            index &+= 1
        }
        return seen & 0x8080_8080_8080_8080 == 0
    }
}
