// How single values stand on the wire. What GCDAsyncSocket and the kernel call a number is a varint; what may be
// negative is zigzag-coded (`sint64` of Protocol Buffers); words of ours travel as text, so that new ones break nothing.

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

    /// Writes the message by itself, without a length before it. It stays as it is.
    package mutating func encode(to writer: inout WireWriter) {
        // A writer never throws.
        try? fields(&writer)
    }

    /// The message by itself, without a length before it.
    package var encoded: [UInt8] {
        var writer = WireWriter()
        var copy = self
        try? copy.fields(&writer)
        return writer.bytes
    }
}

// Numbers are held to a range in which no sum or difference of a few of them overflows: whoever shows them must not
// crash over what another program claims.

extension UInt64: WireValue {
    package static var wireType: WireType { .varint }
    package var isDefault: Bool { self == 0 }
    package func write(to writer: inout WireWriter) { writer.varint(self) }
    package static func read(from reader: inout WireReader) throws(WireError) -> UInt64 {
        Swift.min(try reader.varint(), 1 << 62)
    }
}

extension Int64: WireValue {
    package static var wireType: WireType { .varint }
    package var isDefault: Bool { self == 0 }
    package func write(to writer: inout WireWriter) { writer.varint(UInt64(bitPattern: self << 1 ^ self >> 63)) }
    package static func read(from reader: inout WireReader) throws(WireError) -> Int64 {
        let raw = try reader.varint()
        let value = Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1)
        return Swift.max(-(1 << 61), Swift.min(value, 1 << 61))
    }
}

/// What is written as another value.
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
}

extension Int: WireAlias {
    package var written: Int64 { Int64(self) }
    package init(written: Int64) { self = Int(Swift.max(-(1 << 60), Swift.min(written, 1 << 60))) }
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

/// At least zero: rates and shares.
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
    /// Ill-formed bytes are replaced.
    package static func read(from reader: inout WireReader) throws(WireError) -> String {
        String(decoding: try reader.delimited(), as: UTF8.self)
    }
}

extension [UInt8]: WireValue {
    package static var wireType: WireType { .delimited }
    package var isDefault: Bool { isEmpty }
    package func write(to writer: inout WireWriter) { writer.delimited(self) }
    package static func read(from reader: inout WireReader) throws(WireError) -> [UInt8] {
        Array(try reader.delimited())
    }
}

extension Duration: WireAlias {
    package var written: Int64 { wholeNanoseconds }
    package init(written: Int64) { self = .nanoseconds(written) }
}

extension MonotonicTime: WireAlias {
    package var written: Int64 { nanoseconds }
    package init(written: Int64) { self.init(nanoseconds: max(0, written)) }
}

extension SocketID: WireAlias {
    package var written: UInt64 { number }
    /// The number has 48 bits at most; a viewer of several programs keeps the rest for which one it is of.
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

/// A word of ours, as its text. It is written even where it is the first of its kind.
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
