/// How a frame states its own length: a number of fixed width at a fixed offset in its header.
public struct LengthPrefix: Hashable, Sendable {
    /// The size of the number in bytes.
    public enum Width: Int, Hashable, Sendable, CaseIterable {
        /// One byte.
        case u8 = 1
        /// Two bytes.
        case u16 = 2
        /// Four bytes.
        case u32 = 4
        /// Eight bytes.
        case u64 = 8
    }

    /// The size of the number in bytes.
    public var width: Width
    /// Whether the least significant byte comes first. In network byte order it comes last.
    public var isLittleEndian: Bool
    /// The number of header bytes before the number.
    public var offset: Int
    /// Whether the number also counts the header, which is `offset` and the number itself.
    public var countsHeader: Bool
    /// The length of the longest frame allowed, header included, in bytes.
    public var limit: Int

    /// Describes a prefix. `limit` defaults to 1 MiB.
    public init(
        _ width: Width, isLittleEndian: Bool = false, offset: Int = 0, countsHeader: Bool = false,
        limit: Int = 1 << 20
    ) {
        self.width = width
        self.isLittleEndian = isLittleEndian
        self.offset = offset
        self.countsHeader = countsHeader
        self.limit = limit
    }

    /// The number of bytes up to the end of the number.
    public var headerLength: Int { offset + width.rawValue }

    /// Returns the length of the whole frame that starts with this header, or `nil` if it is shorter than the header or
    /// longer than the limit. Traps if `header` is too short.
    func frameLength(_ header: UnsafeRawBufferPointer) -> Int? {
        let digits = header[offset..<headerLength]
        let number = (isLittleEndian ? Array(digits.reversed()) : Array(digits)).reduce(UInt64(0)) {
            $0 << 8 | UInt64($1)
        }
        let (length, overflow) = number.addingReportingOverflow(countsHeader ? 0 : UInt64(headerLength))
        guard !overflow, length >= UInt64(headerLength), length <= UInt64(limit) else { return nil }
        return Int(length)
    }
}
