import SocketCore
import SocketRecords

/// A type with facts that are not on its wire, because they derive from others or because the inspector finds them out.
protocol Deriving {
    /// Tells the derived facts, after those of the wire.
    func derive(_ tell: inout FactTeller)
}

/// Collects the facts of a message in the order of reports: those of its wire, then the derived ones.
package struct FactTeller: WireCoder {
    package private(set) var facts: [Fact] = []
    /// The session that the message is a part of, and the other end of its connection.
    let socket: SocketSnapshot?
    let end: PeerEnd?

    /// Collects the facts of a message that is a part of `socket`.
    package init(_ message: some WireMessage, of socket: SocketSnapshot? = nil, _ end: PeerEnd? = nil) {
        (self.socket, self.end) = (socket, end)
        var message = message
        // A teller never throws.
        try? message.fields(&self)
        (message as? any Deriving)?.derive(&self)
    }

    /// Collects the facts that `body` tells.
    init(_ body: (inout FactTeller) -> Void) {
        (socket, end) = (nil, nil)
        body(&self)
    }

    package mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value) {}
    package mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value?) {}
    package mutating func field<Value: WireValue>(_ number: UInt32, _ values: inout [Value]) {}

    package mutating func tell(_ fact: () -> Fact) { add(fact()) }

    /// Tells a derived fact.
    mutating func callAsFunction<Value: WireValue>(
        _ name: String, _ value: Value?, _ text: String, after: String? = nil, kind: FactKind? = nil
    ) {
        add(Fact(name, text, after: after, kind: (kind ?? Value.kind).optional, value?.fact ?? .none))
    }

    /// Tells a derived fact that always has a value; `nil` where only its row is asked for.
    mutating func always<Value: WireValue>(
        _ name: String, _ value: Value?, _ text: String, after: String? = nil, kind: FactKind? = nil
    ) {
        add(Fact(name, text, after: after, kind: kind ?? Value.kind, value?.fact ?? .none))
    }

    /// Tells a list.
    mutating func list<Value: WireValue>(_ name: String, _ values: [Value], _ text: String) {
        add(Fact(name, text, kind: .list(Value.kind, limit: nil), .list(values.map(\.fact))))
    }

    /// Tells the facts of a message in its place.
    mutating func inline(_ message: some WireMessage) { add(FactTeller(message, of: socket)) }

    /// Tells what another has told.
    mutating func add(_ other: FactTeller) { other.facts.forEach { add($0) } }

    private mutating func add(_ fact: Fact) {
        if fact.isInlined { return expand(fact) }
        guard let after = fact.after else { return facts.append(fact) }
        let place = after.isEmpty ? 0 : facts.lastIndex { $0.name == after }.map { $0 + 1 }
        facts.insert(fact, at: place ?? facts.count)
    }

    /// Adds the facts of a message in its place, as unknown if there is no message.
    private mutating func expand(_ fact: Fact) {
        if case .facts(let message) = fact.value { return inline(message) }
        guard case .maybe(.facts(let type)) = fact.kind else { return }
        for row in FactTeller(type.blank).facts {
            add(Fact(row.name, row.text, after: row.after, kind: row.kind.optional, .none))
        }
    }
}
