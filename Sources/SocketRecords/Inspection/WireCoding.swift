/// The encoding of the inspection wire. It is that of Protocol Buffers (varints, 64-bit numbers and length-delimited
/// bytes, each after a field number). A field that a reader doesn't know is skipped, and a missing one keeps its
/// default.
///
/// A type names its fields once, in ascending order, and is written and read by the same lines.
package protocol WireMessage: WireValue, Equatable {
    /// The value to start reading with. Fields that are missing on the wire keep its values.
    static var blank: Self { get }
    /// Codes each field, in ascending order of numbers.
    mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError)
}

/// Why bytes could not be read.
package enum WireError: Error, Equatable, Sendable {
    /// They violate the encoding's rules. The text is a sentence.
    case malformed(String)
    /// They follow the rules but contain something that this version doesn't know. It is left out if it is optional or
    /// one of several; otherwise its container is.
    case unknown
}

/// The value of one field.
package protocol WireValue {
    static var wireType: WireType { get }
    /// The bytes of memory that a value takes as an element of a list, without what it holds on the heap.
    static var memory: Int { get }
    /// Whether the value need not be written, because a missing field means the same.
    var isDefault: Bool { get }
    func write(to writer: inout WireWriter)
    static func read(from reader: inout WireReader) throws(WireError) -> Self
    /// Adds what the value holds on the heap. The value doesn't change.
    mutating func weigh(into scale: inout WireScale)
    /// Whether it is a number below 0.
    var isNegative: Bool { get }
    /// Makes it 0 if it is below.
    mutating func limit()
    /// The value as reports tell it, and the kind of all values of this type.
    var fact: FactValue { get }
    static var kind: FactKind { get }
}

extension WireValue {
    package static var memory: Int { MemoryLayout<Self>.stride }
    package mutating func weigh(into scale: inout WireScale) {}
    package var isNegative: Bool { false }
    package mutating func limit() {}
}

/// How the length of a field's value is found, as in Protocol Buffers.
package enum WireType: UInt8, Sendable {
    case varint = 0
    case fixed64 = 1
    case delimited = 2
    case fixed32 = 5
}

/// Writes or reads fields.
package protocol WireCoder {
    mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value) throws(WireError)
    mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value?) throws(WireError)
    mutating func field<Value: WireValue>(_ number: UInt32, _ values: inout [Value]) throws(WireError)
    /// Notes a field's row of the table of facts.
    mutating func tell(_ fact: () -> Fact)
    /// Replaces a count below 0, which only another program's mistake can be.
    func correct<Value: WireValue>(_ value: inout Value)
    func correct<Value: WireValue>(_ value: inout Value?)
}

extension WireCoder {
    /// Codes a number that the program's user chose, with all its bits. Nothing may be computed from it.
    package mutating func exactField(_ number: UInt32, _ value: inout Int) throws(WireError) {
        var exact = WireExact(value: Int64(value))
        try field(number, &exact)
        value = Int(exact.value)
    }
}

/// Writes fields one after another.
package struct WireWriter: WireCoder {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value) {
        if !value.isDefault { append(number, value) }
    }

    package mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value?) {
        if let value { append(number, value) }
    }

    package mutating func field<Value: WireValue>(_ number: UInt32, _ values: inout [Value]) {
        for value in values { append(number, value) }
    }

    /// Writes one field, even if it has its default.
    package mutating func append<Value: WireValue>(_ number: UInt32, _ value: Value) {
        varint(UInt64(number) << 3 | UInt64(Value.wireType.rawValue))
        value.write(to: &self)
    }

    /// Discards what was written and keeps the capacity.
    package mutating func clear() { bytes.removeAll(keepingCapacity: true) }

    /// Writes bytes unchanged.
    package mutating func append(_ content: [UInt8]) { bytes.append(contentsOf: content) }

    /// Writes a frame of the inspection wire whose content `body` writes.
    package mutating func frame(_ kind: InspectionFrame.Kind, _ body: (inout WireWriter) -> Void) {
        frame(kind.rawValue, body)
    }

    mutating func frame(_ kind: UInt8, _ body: (inout WireWriter) -> Void) {
        let start = bytes.count
        for _ in 0..<InspectionFrame.lengthSize { bytes.append(0) }
        bytes.append(kind)
        body(&self)
        let count = UInt32(bytes.count - start - InspectionFrame.lengthSize)
        for place in 0..<InspectionFrame.lengthSize {
            bytes[start + place] = UInt8(truncatingIfNeeded: count >> UInt32(24 - 8 * place))
        }
    }

    /// Writes a field that is already encoded.
    package mutating func append(_ number: UInt32, encoded: [UInt8]) {
        varint(UInt64(number) << 3 | UInt64(WireType.delimited.rawValue))
        delimited(encoded)
    }

    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func fixed64(_ value: UInt64) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func delimited(_ content: some Collection<UInt8>) {
        varint(UInt64(content.count))
        bytes.append(contentsOf: content)
    }

    /// Writes a length, followed by what `body` writes.
    mutating func delimited(_ body: (inout WireWriter) -> Void) {
        let start = bytes.count
        bytes.append(0)
        body(&self)
        let count = bytes.count - start - 1
        guard count >= 0x80 else { return bytes[start] = UInt8(count) }
        var length = WireWriter()
        length.varint(UInt64(count))
        bytes.replaceSubrange(start...start, with: length.bytes)
    }
}

/// Reads fields in ascending order of their numbers. Fields that are not requested are skipped.
package struct WireReader: WireCoder {
    private let bytes: ArraySlice<UInt8>
    private var index: Int
    /// The key of the next field, once it has been read.
    private var next: (number: UInt64, type: WireType)?
    private let depth: Int
    /// The memory that elements of lists may still take.
    private var room: Int
    /// Nanoseconds to add to each instant.
    let shift: Int64

    /// The maximum depth of messages within messages.
    private static let depthLimit = 16
    /// The maximum memory for the elements of all lists of one message, including those of messages within it. Two
    /// bytes on the wire are enough for an element of two kilobytes.
    package static let memoryLimit = 32 << 20

    /// Creates a reader of these bytes.
    package init(_ bytes: ArraySlice<UInt8>, shift: Int64 = 0) {
        self.init(bytes, depth: 0, room: Self.memoryLimit, shift: shift)
    }

    private init(_ bytes: ArraySlice<UInt8>, depth: Int, room: Int, shift: Int64) {
        self.bytes = bytes
        self.depth = depth
        self.room = room
        self.shift = shift
        index = bytes.startIndex
    }

    /// Reads a whole message, and adds `shift` nanoseconds to each instant in it.
    package static func message<Message: WireMessage>(
        _ bytes: ArraySlice<UInt8>, shift: Int64 = 0
    ) throws(WireError) -> Message {
        var reader = WireReader(bytes, shift: shift)
        return try reader.content()
    }

    private mutating func content<Message: WireMessage>() throws(WireError) -> Message {
        var message = Message.blank
        try message.fields(&self)
        try finish()
        return message
    }

    package mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value) throws(WireError) {
        while try isAt(number, Value.wireType) { value = try take(Value.self) }
    }

    package mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value?) throws(WireError) {
        while try isAt(number, Value.wireType) {
            do throws(WireError) {
                value = try take(Value.self)
            } catch {
                guard error == .unknown else { throw error }
            }
        }
    }

    package mutating func field<Value: WireValue>(_ number: UInt32, _ values: inout [Value]) throws(WireError) {
        while try isAt(number, Value.wireType) {
            do throws(WireError) {
                values.append(try take(Value.self))
            } catch {
                guard error == .unknown else { throw error }
                continue
            }
            room -= Value.memory
            guard room >= 0 else {
                throw .malformed("its lists take more than \(Self.memoryLimit >> 20) MiB of memory")
            }
        }
    }

    package func correct<Value: WireValue>(_ value: inout Value) { value.limit() }

    package func correct<Value: WireValue>(_ value: inout Value?) {
        if value?.isNegative == true { value = nil }
    }

    /// Skips the remaining fields, so that malformed bytes after the last requested one are found too.
    private mutating func finish() throws(WireError) {
        while let (_, type) = try key() { try skip(type) }
    }

    /// Whether the next field is this one. Fields before it are skipped.
    private mutating func isAt(_ number: UInt32, _ type: WireType) throws(WireError) -> Bool {
        while let key = try key() {
            if key.number > UInt64(number) { return false }
            if key.number == UInt64(number), key.type == type { return true }
            try skip(key.type)
        }
        return false
    }

    private mutating func take<Value: WireValue>(_: Value.Type) throws(WireError) -> Value {
        next = nil
        return try Value.read(from: &self)
    }

    private mutating func key() throws(WireError) -> (number: UInt64, type: WireType)? {
        if let next { return next }
        guard index < bytes.endIndex else { return nil }
        let key = try varint()
        guard let type = WireType(rawValue: UInt8(key & 7)), key >> 3 > 0 else {
            throw .malformed("a field has no number, or the unknown wire type \(key & 7)")
        }
        next = (key >> 3, type)
        return next
    }

    private mutating func skip(_ type: WireType) throws(WireError) {
        next = nil
        switch type {
        case .varint: _ = try varint()
        case .fixed64: try advance(8)
        case .fixed32: try advance(4)
        case .delimited: _ = try delimited()
        }
    }

    private mutating func advance(_ count: Int) throws(WireError) {
        guard bytes.endIndex - index >= count else { throw .malformed("a field is longer than its message") }
        index += count
    }

    mutating func varint() throws(WireError) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard index < bytes.endIndex else { throw .malformed("a number is truncated") }
            let byte = bytes[index]
            index += 1
            guard shift < 63 || byte <= 1 else { throw .malformed("a number has more than 64 bits") }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        throw .malformed("a number has more than 64 bits")
    }

    mutating func fixed64() throws(WireError) -> UInt64 {
        let start = index
        try advance(8)
        return bytes[start..<index].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func delimited() throws(WireError) -> ArraySlice<UInt8> {
        let count = try varint()
        guard count <= UInt64(bytes.endIndex - index) else { throw .malformed("a field is longer than its message") }
        let start = index
        index += Int(count)
        return bytes[start..<index]
    }

    mutating func message<Message: WireMessage>() throws(WireError) -> Message {
        guard depth < Self.depthLimit else { throw .malformed("messages are nested too deeply") }
        var inner = WireReader(try delimited(), depth: depth + 1, room: room, shift: shift)
        defer { room = inner.room }
        return try inner.content()
    }
}
