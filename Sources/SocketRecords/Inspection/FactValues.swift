import SocketCore

// How values of the wire are told, and of which kind they are.

extension WireMessage {
    package var fact: FactValue { .facts(self) }
    package static var kind: FactKind { .facts(Self.self) }
}

extension WireAlias {
    package var fact: FactValue { written.fact }
    package static var kind: FactKind { Written.kind }
}

extension WireWord {
    package var fact: FactValue { .text(rawValue.snakeCased) }
    package static var kind: FactKind {
        func all<Words: CaseIterable>(_: Words.Type) -> [String] {
            Words.allCases.compactMap { ($0 as? any WireWord)?.written.snakeCased }
        }
        guard let type = Self.self as? any CaseIterable.Type else { return .text }
        return .words(all(type))
    }
}

extension String {
    /// A Swift name as a word of JSON: `readPartial` becomes `read_partial`.
    package var snakeCased: String {
        let capitals: ClosedRange<UInt8> = 0x41...0x5A
        guard utf8.contains(where: capitals.contains) else { return self }
        var bytes: [UInt8] = []
        for byte in utf8 {
            if capitals.contains(byte) { bytes.append(UInt8(ascii: "_")) }
            bytes.append(capitals.contains(byte) ? byte | 0x20 : byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension UInt64 {
    package var fact: FactValue { .integer(Int64(clamping: self)) }
    package static var kind: FactKind { .count }
}

extension Int64 {
    package var fact: FactValue { .integer(self) }
    package static var kind: FactKind { .count }
}

extension Int32 { package static var kind: FactKind { .integer } }

extension WireExact {
    package var fact: FactValue { .integer(value) }
    package static var kind: FactKind { .integer }
}

extension Bool {
    package var fact: FactValue { .flag(self) }
    package static var kind: FactKind { .flag }
}

extension Double {
    package var fact: FactValue { .number(self) }
    package static var kind: FactKind { .number }
}

extension String {
    package var fact: FactValue { .text(self) }
    package static var kind: FactKind { .text }
}

extension [UInt8] {
    package var fact: FactValue { .bytes(self) }
    package static var kind: FactKind { .text }
}

extension Duration {
    package var fact: FactValue { .span(self) }
    package static var kind: FactKind { .span }
}

extension MonotonicTime {
    package var fact: FactValue { .time(self) }
    package static var kind: FactKind { .time }
}

extension SocketFlags {
    package var fact: FactValue { .list(Self.names.filter { contains($0.flag) }.map { .text($0.name) }) }
    package static var kind: FactKind { .list(.text, limit: nil) }
}

extension DatagramFlags {
    package var fact: FactValue { .list(Self.names.filter { contains($0.flag) }.map { .text($0.name) }) }
    package static var kind: FactKind { .list(.text, limit: nil) }
}

extension SocketAddress {
    package var fact: FactValue { .text(description) }
    package static var kind: FactKind { .text }
}

extension Endpoint {
    package var fact: FactValue { .text(description) }
    package static var kind: FactKind { .text }
}

extension OperationSnapshot.Kind {
    package var fact: FactValue { .text(name) }
    package static var kind: FactKind { .words(ReadRequest.Kind.Word.allCases.map(\.name) + [Self.write.name]) }
}

extension ConnectSnapshot.Attempt.Outcome {
    package var fact: FactValue { .text(self == .won ? "connected" : written.word) }
    package static var kind: FactKind { .words(["trying", "failed", "connected", "abandoned"]) }
}

extension HostTransport {
    package var fact: FactValue { .text(rawValue) }
    package static var kind: FactKind { .words(allCases.map(\.rawValue)) }
}

extension TLSSnapshot.Phase {
    /// A phase in which somebody is asked awaits a verdict.
    package var fact: FactValue { .text(self == .asking ? "awaiting_verdict" : rawValue) }
    package static var kind: FactKind {
        .words(allCases.map { $0 == .asking ? "awaiting_verdict" : $0.rawValue })
    }
}

extension WebSocketOpcode {
    package var fact: FactValue { .text("\(self)") }
    package static var kind: FactKind { .text }
}

extension WebSocketFailure {
    package var fact: FactValue { .text(description) }
    package static var kind: FactKind { .text }
}
