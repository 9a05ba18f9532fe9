/// The masking of a client's frames (RFC 6455, 5.3): each byte is XORed with one of the key's four bytes in turn.
///
/// A key is a `UInt32` in wire byte order, so that it can be combined with whole words of payload.
package enum Masking {
    /// Returns the key for bytes that begin at `offset` in the payload.
    package static func rotated(_ key: UInt32, by offset: Int) -> UInt32 {
        let bits = UInt32(truncatingIfNeeded: offset & 3) &* 8
        guard bits != 0 else { return key }
        #if _endian(little)
        return key &>> bits | key &<< (32 &- bits)
        #else
        return key &<< bits | key &>> (32 &- bits)
        #endif
    }

    /// Masks or unmasks bytes in place.
    package static func apply(_ key: UInt32, to bytes: UnsafeMutableRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        copy(from: start, to: start, count: bytes.count, key: key)
    }

    /// Masks or unmasks bytes into another buffer or in place. Returns whether all bytes written are ASCII.
    @discardableResult package static func copy(
        from source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, count: Int, key: UInt32
    ) -> Bool {
        guard count >= 16 else { return copyShort(from: source, to: target, count: count, key: key) }
        let vector = SIMD2(repeating: doubled(key))
        // The last 16 bytes overlap the ones before, so they are read before anything is written.
        let last = load(source, count &- 16) ^ SIMD2(repeating: doubled(rotated(key, by: count)))
        var seen = last
        var index = 0
        while index &+ 64 <= count {
            let first = load(source, index) ^ vector
            let second = load(source, index &+ 16) ^ vector
            let third = load(source, index &+ 32) ^ vector
            let fourth = load(source, index &+ 48) ^ vector
            target.storeBytes(of: first, toByteOffset: index, as: SIMD2<UInt64>.self)
            target.storeBytes(of: second, toByteOffset: index &+ 16, as: SIMD2<UInt64>.self)
            target.storeBytes(of: third, toByteOffset: index &+ 32, as: SIMD2<UInt64>.self)
            target.storeBytes(of: fourth, toByteOffset: index &+ 48, as: SIMD2<UInt64>.self)
            seen |= (first | second) | (third | fourth)
            index &+= 64
        }
        while index &+ 16 < count {
            let masked = load(source, index) ^ vector
            target.storeBytes(of: masked, toByteOffset: index, as: SIMD2<UInt64>.self)
            seen |= masked
            index &+= 16
        }
        target.storeBytes(of: last, toByteOffset: count &- 16, as: SIMD2<UInt64>.self)
        return (seen[0] | seen[1]) & upperBits == 0
    }

    private static var upperBits: UInt64 { 0x8080_8080_8080_8080 }

    @inline(__always)
    private static func doubled(_ key: UInt32) -> UInt64 { UInt64(key) << 32 | UInt64(key) }

    @inline(__always)
    private static func load(_ source: UnsafeRawPointer, _ index: Int) -> SIMD2<UInt64> {
        source.loadUnaligned(fromByteOffset: index, as: SIMD2<UInt64>.self)
    }

    /// Handles fewer than 16 bytes with two overlapping words, or byte by byte.
    private static func copyShort(
        from source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, count: Int, key: UInt32
    ) -> Bool {
        let word = doubled(key)
        if count >= 8 {
            let end = doubled(rotated(key, by: count))
            let first = source.loadUnaligned(as: UInt64.self) ^ word
            let last = source.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self) ^ end
            target.storeBytes(of: first, as: UInt64.self)
            target.storeBytes(of: last, toByteOffset: count &- 8, as: UInt64.self)
            return (first | last) & upperBits == 0
        }
        var rest = word.littleEndian
        var seen: UInt8 = 0
        for index in 0..<count {
            let masked = source.load(fromByteOffset: index, as: UInt8.self) ^ UInt8(truncatingIfNeeded: rest)
            target.storeBytes(of: masked, toByteOffset: index, as: UInt8.self)
            seen |= masked
            rest &>>= 8
        }
        return seen < 0x80
    }
}
