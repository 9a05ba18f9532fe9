/// Numbers in this machine's byte order, at any offset in data from the kernel.
extension RawSpan {
    /// Returns the number at an offset in a range, or `nil` if it extends beyond the end of the range.
    package func number<N: FixedWidthInteger & BitwiseCopyable>(_: N.Type, _ offset: Int, in range: Range<Int>) -> N? {
        guard offset >= 0, range.lowerBound >= 0, range.upperBound <= byteCount,
            offset <= range.count - MemoryLayout<N>.size
        else { return nil }
        return unsafeLoadUnaligned(fromByteOffset: range.lowerBound + offset, as: N.self)
    }

    package func u8(_ offset: Int, in range: Range<Int>) -> UInt8? { number(UInt8.self, offset, in: range) }
    package func u16(_ offset: Int, in range: Range<Int>) -> UInt16? { number(UInt16.self, offset, in: range) }
    package func u32(_ offset: Int, in range: Range<Int>) -> UInt32? { number(UInt32.self, offset, in: range) }
    package func u64(_ offset: Int, in range: Range<Int>) -> UInt64? { number(UInt64.self, offset, in: range) }

    /// Returns the bytes of a range, which must be within the span.
    package func array(_ range: Range<Int>) -> [UInt8] {
        range.map { unsafeLoadUnaligned(fromByteOffset: $0, as: UInt8.self) }
    }
}

extension [UInt8] {
    /// Appends a number in this machine's byte order.
    mutating func append<N: FixedWidthInteger>(number: N) {
        Swift.withUnsafeBytes(of: number) { append(contentsOf: $0) }
    }
}
