import SocketCore

/// The value of a fact, as reports tell it.
package indirect enum FactValue {
    /// It is unknown or has no meaning.
    case none
    case flag(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case bytes([UInt8])
    case time(MonotonicTime)
    /// A length of time. The unit is in the fact's name: `_ms` for milliseconds, otherwise seconds.
    case span(Duration)
    case list([FactValue])
    case facts(any WireMessage)
}

/// The kind of values that a fact can have.
package indirect enum FactKind {
    case flag
    case integer
    /// An integer that is at least 0.
    case count
    /// A number that is at least 0.
    case number
    case text
    /// One of these words, which are listed only if they are asked for. Each line that is told has its facts' kinds.
    case oneOf(() -> [String])
    case time
    case span
    /// At most `limit` values.
    case list(FactKind, limit: Int?)
    case facts(any WireMessage.Type)
    /// Of another kind, or nothing.
    case maybe(FactKind)
}

/// One row of the table of facts: what a report calls a field of the wire, and what it means.
package struct Fact {
    package var name: String
    package var text: String
    /// The earlier fact that it follows in reports, if not the one before it; empty for the first place.
    package var after: String?
    package var kind: FactKind
    package var value: FactValue
    /// Whether the facts of its value stand in its place.
    package var isInlined = false

    package init(_ name: String, _ text: String, after: String? = nil, kind: FactKind, _ value: FactValue) {
        (self.name, self.text, self.after, self.kind, self.value) = (name, text, after, kind, value)
    }
}

// A field with a name is a fact. JSON, its schema and the tables of docs/json.md derive from this row. Those who write and
// read the wire never make the fact, so it costs them nothing.

extension WireCoder {
    /// Does nothing.
    package mutating func tell(_ fact: () -> Fact) {}

    /// Does nothing.
    package func correct<Value: WireValue>(_ value: inout Value) {}

    /// Does nothing.
    package func correct<Value: WireValue>(_ value: inout Value?) {}

    /// Codes a fact. It is told only if `isKnown` is not false.
    package mutating func field<Value: WireValue>(
        _ number: UInt32, _ value: inout Value, _ name: String, _ text: String,
        after: String? = nil, known isKnown: @autoclosure () -> Bool? = nil
    ) throws(WireError) {
        try field(number, &value)
        correct(&value)
        tell { Fact(name, text, after, Value.kind, value.fact, isKnown()) }
    }

    /// Codes a fact that is told only if there is a value.
    package mutating func field<Value: WireValue>(
        _ number: UInt32, _ value: inout Value?, _ name: String, _ text: String,
        after: String? = nil, known isKnown: @autoclosure () -> Bool? = nil
    ) throws(WireError) {
        try field(number, &value)
        correct(&value)
        tell { Fact(name, text, after, .maybe(Value.kind), value?.fact ?? .none, isKnown()) }
    }

    /// Codes a fact that is a list, of which at most `limit` values are told.
    package mutating func field<Value: WireValue>(
        _ number: UInt32, _ values: inout [Value], _ name: String, _ text: String,
        after: String? = nil, limit: Int? = nil, known isKnown: @autoclosure () -> Bool? = nil
    ) throws(WireError) {
        try field(number, &values)
        tell { Fact(name, text, after, .list(Value.kind, limit: limit), .list(values.map(\.fact)), isKnown()) }
    }

    /// Codes a number with all its bits, as a fact.
    package mutating func exactField(
        _ number: UInt32, _ value: inout Int, _ name: String, _ text: String
    ) throws(WireError) {
        try exactField(number, &value)
        tell { Fact(name, text, nil, .integer, value.fact, nil) }
    }

    /// Codes a message whose facts are told among those of the message that it is in.
    package mutating func inlined<Message: WireMessage>(_ number: UInt32, _ value: inout Message) throws(WireError) {
        try field(number, &value)
        tell { Fact(inlining: .facts(Message.self), value.fact) }
    }

    /// Codes a message whose facts are told among those of the message that it is in, as unknown if there is none.
    package mutating func inlined<Message: WireMessage>(_ number: UInt32, _ value: inout Message?) throws(WireError) {
        try field(number, &value)
        tell { Fact(inlining: .maybe(.facts(Message.self)), value?.fact ?? .none) }
    }
}

extension Fact {
    fileprivate init(
        _ name: String, _ text: String, _ after: String?, _ kind: FactKind, _ value: FactValue,
        _ isKnown: Bool?
    ) {
        self.init(
            name, text, after: after, kind: isKnown == nil ? kind : kind.optional, isKnown == false ? .none : value)
    }

    fileprivate init(inlining kind: FactKind, _ value: FactValue) {
        self.init("", "", kind: kind, value)
        isInlined = true
    }
}

extension FactKind {
    /// One of these words.
    package static func words(_ words: @autoclosure @escaping () -> [String]) -> FactKind { .oneOf(words) }

    /// The kind, or nothing.
    package var optional: FactKind { if case .maybe = self { self } else { .maybe(self) } }
}
