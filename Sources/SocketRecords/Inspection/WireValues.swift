import SocketCore

// How single values are encoded on the wire. Numbers that GCDAsyncSocket or the kernel defines are varints. Numbers
// that can be negative are zigzag-coded (`sint64` of Protocol Buffers). Our own words are sent as text, so that new
// ones break nothing.

extension WireMessage {
    package static var wireType: WireType { .delimited }
    package var isDefault: Bool { self == Self.blank }

    package func write(to writer: inout WireWriter) {
        writer.delimited { inner in
            var copy = self
            // A writer never throws.
            try? copy.fields(&inner)
        }
    }

    package static func read(from reader: inout WireReader) throws(WireError) -> Self { try reader.message() }

    package mutating func weigh(into scale: inout WireScale) {
        // A scale never throws.
        try? fields(&scale)
    }

    /// Writes the message without a length before it. The message doesn't change.
    package mutating func encode(to writer: inout WireWriter) {
        // A writer never throws.
        try? fields(&writer)
    }

    /// The encoded message, without a length before it.
    package var encoded: [UInt8] {
        var writer = WireWriter()
        var copy = self
        try? copy.fields(&writer)
        return writer.bytes
    }
}

// Numbers are limited to a range in which the sum of a thousand doesn't overflow, because another program's claims must
// not crash a viewer. 2^53 bytes are 8 PiB. Times have a larger range, since they count nanoseconds.

/// The range of the numbers on the wire.
package enum WireLimit {
    /// The largest number.
    package static let number = 1 << 53
    /// The largest time, in nanoseconds: 73 years.
    package static let nanoseconds: Int64 = 1 << 61
    /// The longest text that is kept, in bytes of UTF-8.
    package static let text = 16 << 10
}

extension UInt64: WireValue {
    package static var wireType: WireType { .varint }
    package var isDefault: Bool { self == 0 }
    package func write(to writer: inout WireWriter) { writer.varint(self) }
    package static func read(from reader: inout WireReader) throws(WireError) -> UInt64 {
        Swift.min(try reader.varint(), UInt64(WireLimit.number))
    }
}

/// Nanoseconds.
extension Int64: WireValue {
    package static var wireType: WireType { .varint }
    package var isNegative: Bool { self < 0 }
    package mutating func limit() { self = Swift.max(0, self) }
    package var isDefault: Bool { self == 0 }
    package func write(to writer: inout WireWriter) { WireExact(value: self).write(to: &writer) }
    package static func read(from reader: inout WireReader) throws(WireError) -> Int64 {
        let value = try WireExact.read(from: &reader).value
        return Swift.max(-WireLimit.nanoseconds, Swift.min(value, WireLimit.nanoseconds))
    }
}

/// A signed number with all its bits.
package struct WireExact: WireValue {
    package var value: Int64

    package static var wireType: WireType { .varint }
    package var isDefault: Bool { value == 0 }
    package func write(to writer: inout WireWriter) { writer.varint(UInt64(bitPattern: value << 1 ^ value >> 63)) }
    package static func read(from reader: inout WireReader) throws(WireError) -> WireExact {
        let raw = try reader.varint()
        return WireExact(value: Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1))
    }
}

/// A value that is encoded as another value.
package protocol WireAlias: WireValue {
    associatedtype Written: WireValue
    var written: Written { get }
    init(written: Written) throws(WireError)
}

extension WireAlias {
    package static var wireType: WireType { Written.wireType }
    package var isDefault: Bool { written.isDefault }
    package func write(to writer: inout WireWriter) { written.write(to: &writer) }
    package static func read(from reader: inout WireReader) throws(WireError) -> Self {
        try Self(written: try Written.read(from: &reader))
    }

    package mutating func weigh(into scale: inout WireScale) {
        var written = written
        written.weigh(into: &scale)
    }
}

extension Int: WireAlias {
    package var isNegative: Bool { self < 0 }
    package mutating func limit() { self = Swift.max(0, self) }
    package var written: Int64 { Int64(self) }
    package init(written: Int64) {
        self = Swift.max(-WireLimit.number, Swift.min(Int(written), WireLimit.number))
    }
}

extension Int32: WireAlias {
    package var written: Int64 { Int64(self) }
    package init(written: Int64) throws(WireError) {
        guard let value = Int32(exactly: written) else { throw .malformed("\(written) has more than 32 bits") }
        self = value
    }
}

extension UInt16: WireAlias {
    package var written: UInt64 { UInt64(self) }
    package init(written: UInt64) throws(WireError) {
        guard let value = UInt16(exactly: written) else { throw .malformed("\(written) has more than 16 bits") }
        self = value
    }
}

extension Bool: WireAlias {
    package var written: UInt64 { self ? 1 : 0 }
    package init(written: UInt64) { self = written != 0 }
}

/// Rates and shares, which are at least zero.
extension Double: WireValue {
    package static var wireType: WireType { .fixed64 }
    package var isDefault: Bool { self == 0 }
    package func write(to writer: inout WireWriter) { writer.fixed64(bitPattern) }
    package static func read(from reader: inout WireReader) throws(WireError) -> Double {
        let value = Double(bitPattern: try reader.fixed64())
        return value > 0 ? Swift.min(value, 1e15) : 0
    }
}

extension String: WireValue {
    package static var wireType: WireType { .delimited }
    package var isDefault: Bool { isEmpty }
    package func write(to writer: inout WireWriter) { writer.delimited(utf8) }
    /// Ill-formed bytes are replaced. A text longer than any program has is truncated.
    package static func read(from reader: inout WireReader) throws(WireError) -> String {
        let text = String(decoding: try reader.delimited().prefix(WireLimit.text + 1), as: UTF8.self)
        guard text.utf8.count > WireLimit.text else { return text }
        let mark = "..."
        var end = text.utf8.index(text.utf8.startIndex, offsetBy: WireLimit.text - mark.utf8.count)
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return String(text.unicodeScalars[..<end]) + mark
    }

    package mutating func weigh(into scale: inout WireScale) { scale.memory += utf8.count }
}

extension [UInt8]: WireValue {
    package static var wireType: WireType { .delimited }
    package var isDefault: Bool { isEmpty }
    package func write(to writer: inout WireWriter) { writer.delimited(self) }
    package static func read(from reader: inout WireReader) throws(WireError) -> [UInt8] {
        Array(try reader.delimited())
    }

    package mutating func weigh(into scale: inout WireScale) { scale.memory += count }
}

extension Duration: WireAlias {
    package var written: Int64 { wholeNanoseconds }
    package init(written: Int64) { self = .nanoseconds(written) }
}

extension MonotonicTime: WireAlias {
    package var written: Int64 { nanoseconds }
    package init(written: Int64) { self.init(nanoseconds: max(0, written)) }

    package static func read(from reader: inout WireReader) throws(WireError) -> MonotonicTime {
        let time = MonotonicTime(written: try Int64.read(from: &reader)).nanoseconds
        return MonotonicTime(nanoseconds: max(0, time.addingReportingOverflow(reader.shift).partialValue))
    }
}

extension SocketID: WireAlias {
    package var written: UInt64 { recorded.number }
    /// The number has at most 48 bits. A viewer of several programs or recordings uses the others for their ordinals.
    package init(written: UInt64) throws(WireError) {
        guard written < 1 << 48 else { throw .unknown }
        self.init(written)
    }
}

extension OperationID: WireAlias {
    package var written: UInt64 { number }
    package init(written: UInt64) { self.init(written) }
}

extension SocketFlags: WireAlias {
    package var written: UInt64 { UInt64(rawValue) }
    package init(written: UInt64) { self.init(rawValue: UInt32(truncatingIfNeeded: written)) }
}

/// One of our own words, encoded as its text. It is written even if it is the first of its kind.
package protocol WireWord: WireAlias, RawRepresentable where RawValue == String, Written == String {}

extension WireWord {
    package var isDefault: Bool { false }
    package var written: String { rawValue }
    package init(written: String) throws(WireError) {
        guard let value = Self(rawValue: written) else { throw .unknown }
        self = value
    }
}

extension SocketRole: WireWord {}
extension SocketPhase: WireWord {}
extension CloseMode: WireWord {}
extension TrafficItem.Direction: WireWord {}
extension SocketEvent.Kind: WireWord {}
