/// An interface whose packets a capture contains.
package struct CaptureInterface: Equatable, Sendable {
    /// The link type of its packets: a `LinkType`, or an unknown number.
    package var link: UInt16
    package var name = ""
    package var description = ""
    /// The units of time in a second.
    var unitsPerSecond: UInt64 = 1_000_000
    /// The most bytes kept of each packet.
    var snapLength = Int.max
    /// The number of seconds to add to each time.
    var secondsBefore: Int64 = 0

    init(link: UInt16) { self.link = LinkType.canonical(link) }

    /// Sets the resolution from its pcapng form: a power of ten, or of two if the highest bit is set.
    mutating func resolution(_ byte: UInt8) {
        let exponent = Int(byte & 0x7F)
        if byte & 0x80 != 0 {
            unitsPerSecond = exponent < 63 ? 1 << UInt64(exponent) : 1 << 63
        } else {
            unitsPerSecond = (0..<min(exponent, 18)).reduce(1) { units, _ in units * 10 }
        }
    }

    /// Returns nanoseconds since 1970, clamped to what 64 bits hold.
    func nanoseconds(_ units: UInt64) -> Int64 {
        let (seconds, rest) = units.quotientAndRemainder(dividingBy: unitsPerSecond)
        let (high, low) = rest.multipliedFullWidth(by: 1_000_000_000)
        let fraction = unitsPerSecond.dividingFullWidth((high, low)).quotient
        let (whole, overflow) = Int64(clamping: seconds).addingReportingOverflow(secondsBefore)
        // Within ± 146 years of 1970, the difference between two times fits too.
        let held = overflow ? Self.farthest : max(-Self.farthest, min(whole, Self.farthest))
        return held * 1_000_000_000 + Int64(fraction)
    }

    private static let farthest: Int64 = 4_600_000_000
}

/// One packet of a capture.
package struct CapturedPacket: Sendable {
    /// The number of its interface within the section.
    package var interface: Int
    package var link: UInt16
    /// Nanoseconds since 1970 (UTC).
    package var nanoseconds: Int64 = 0
    package var bytes: ArraySlice<UInt8> = []
    /// The length on the wire.
    package var length = 0
    package var comment = ""
    package var isInbound: Bool?
    /// The number of packets that were lost before it.
    package var dropped: UInt64 = 0

    package init(interface: Int, link: UInt16) { (self.interface, self.link) = (interface, link) }
}

/// The options at the end of a block.
struct CaptureOptions {
    private var values: [(code: UInt16, value: ArraySlice<UInt8>)] = []
    private let isBigEndian: Bool
    /// The most options that are kept.
    private static let limit = 64

    init(_ content: CaptureCursor) {
        var content = content
        isBigEndian = content.isBigEndian
        while values.count < Self.limit, let code: UInt16 = content.number(), let length: UInt16 = content.number(),
            code != 0, let value = content.take(Int(length))
        {
            values.append((code, value))
            guard content.skip((4 - Int(length) % 4) % 4) else { return }
        }
    }

    subscript(code: UInt16) -> ArraySlice<UInt8>? { values.first { $0.code == code }?.value }

    /// Returns the first 1,024 bytes of an option's text, or an empty text if it is missing.
    func text(_ code: UInt16) -> String { String(decoding: self[code]?.prefix(1_024) ?? [], as: UTF8.self) }

    func number(_ code: UInt16) -> UInt64? {
        guard let value = self[code] else { return nil }
        var cursor = CaptureCursor(value, isBigEndian: isBigEndian)
        return value.count == 4 ? (cursor.number() as UInt32?).map { UInt64($0) } : cursor.number()
    }
}
