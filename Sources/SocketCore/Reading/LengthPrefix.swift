/// How a frame says its own length: a number of fixed width, somewhere in its header.
public struct LengthPrefix: Hashable, Sendable, Codable {
    /// How many bytes the number takes.
    public enum Width: Int, Hashable, Sendable, Codable, CaseIterable {
        /// One byte.
        case u8 = 1
        /// Two bytes.
        case u16 = 2
        /// Four bytes.
        case u32 = 4
        /// Eight bytes.
        case u64 = 8
    }

    /// How many bytes the number takes.
    public var width: Width
    /// Whether its least significant byte comes first; network order has it last.
    public var isLittleEndian: Bool
    /// Bytes of the header before the number.
    public var offset: Int
    /// Whether the number counts the header (`offset` and itself) too.
    public var countsHeader: Bool
    /// The longest frame, header included, in bytes.
    public var limit: Int

    /// Describes a prefix; the limit is 1 MiB unless said otherwise.
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

    /// Bytes up to the end of the number.
    public var headerLength: Int { offset + width.rawValue }

    /// The length of the whole frame whose header this is, or nil when it is shorter than its header or longer than the
    /// limit. Traps on fewer bytes than the header has.
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
