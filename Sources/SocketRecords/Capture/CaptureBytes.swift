/// Appends numbers as capture files and packets store them.
extension [UInt8] {
    mutating func append(little value: some FixedWidthInteger) {
        for shift in stride(from: 0, to: value.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    mutating func append(big value: some FixedWidthInteger) {
        for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// Appends zeros until the count is a multiple of four.
    mutating func padToWords() {
        while count % 4 != 0 { append(0) }
    }

    /// Overwrites the two bytes at `index` with a 16-bit number in network order.
    mutating func put(big value: UInt16, at index: Int) {
        self[index] = UInt8(value >> 8)
        self[index + 1] = UInt8(truncatingIfNeeded: value)
    }
}

/// Reads numbers from untrusted bytes. Every read past the end returns `nil`.
struct CaptureCursor {
    let bytes: ArraySlice<UInt8>
    var isBigEndian = true
    private(set) var index: Int

    init(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool = true) {
        self.bytes = bytes
        self.isBigEndian = isBigEndian
        index = bytes.startIndex
    }

    var left: Int { bytes.endIndex - index }
    var rest: ArraySlice<UInt8> { bytes[index...] }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= left else { return nil }
        defer { index += count }
        return bytes[index..<(index + count)]
    }

    mutating func skip(_ count: Int) -> Bool { take(count) != nil }

    mutating func number<Number: FixedWidthInteger & UnsignedInteger>(_: Number.Type = Number.self) -> Number? {
        guard let taken = take(Number.bitWidth / 8) else { return nil }
        var value: Number = 0
        if isBigEndian {
            for byte in taken { value = value << 8 | Number(byte) }
        } else {
            for byte in taken.reversed() { value = value << 8 | Number(byte) }
        }
        return value
    }

    mutating func byte() -> UInt8? { number() }
}

/// The Internet checksum (RFC 1071) of bytes that arrive in parts of even length.
struct InternetChecksum {
    private var sum: UInt64 = 0

    /// The byte order doesn't matter to this sum, so words are added in memory order, several at a time.
    mutating func add(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { buffer in
            let wide = buffer.count & ~15
            var sums = SIMD4<UInt64>()
            for index in stride(from: 0, to: wide, by: 16) {
                let words = buffer.loadUnaligned(fromByteOffset: index, as: SIMD4<UInt32>.self)
                sums &+= SIMD4<UInt64>(truncatingIfNeeded: words)
            }
            for index in stride(from: wide, to: buffer.count, by: 2) {
                let second = index + 1 < buffer.count ? UInt16(buffer[index + 1]) : 0
                sums[0] &+= UInt64(UInt16(bigEndian: UInt16(buffer[index]) << 8 | second))
            }
            sum &+= UInt64(Self.folded(sums[0] &+ sums[1] &+ sums[2] &+ sums[3]))
        }
    }

    mutating func add(_ bytes: [UInt8]) { add(bytes[...]) }

    mutating func add(_ value: UInt16) { sum &+= UInt64(value.bigEndian) }

    var value: UInt16 { ~UInt16(bigEndian: Self.folded(sum)) }

    private static func folded(_ sum: UInt64) -> UInt16 {
        var folded = sum
        while folded > 0xFFFF { folded = (folded & 0xFFFF) + (folded >> 16) }
        return UInt16(folded)
    }
}
