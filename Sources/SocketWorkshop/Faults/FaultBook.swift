import SocketCore

/// A rule with the number that identifies it in lists and in random draws.
package struct NumberedFault: Equatable, Sendable {
    package var number: Int
    package var rule: FaultRule

    package init(_ number: Int, _ rule: FaultRule) { (self.number, self.rule) = (number, rule) }

    /// Returns its stage for a direction in which `start` bytes have already passed, or `nil` if it has none there.
    func stage(at place: FaultPlace, capacity: Int, from start: UInt64) -> FaultStage? {
        guard rule.concerns(place.direction) else { return nil }
        switch rule.effect.carrier {
        case .streams, .both: break
        case .datagrams, .listeners: return nil
        }
        return FaultStage(number, .fault(rule.effect), when: rule.conditions, place, capacity: capacity, from: start)
    }
}

/// What one rule did to one direction of one connection.
package struct FaultTally: Equatable, Sendable {
    package var number: Int
    package var direction: FaultDirection
    package var count: UInt64
    package var dropped: UInt64
}

/// The rules of a run, and the seed of their random draws.
package struct FaultBook: Equatable, Sendable {
    package static let delayBuffer = 4 << 20
    /// The maximum number of rules.
    package static let limit = 256

    package let seed: UInt64
    /// The number of bytes that one direction may delay.
    package var delayBuffer = FaultBook.delayBuffer
    package private(set) var rules: [NumberedFault] = []
    private var last = 0

    package init(seed: UInt64) { self.seed = seed }

    /// Adds rules. Numbers are never reused.
    /// - Returns: The rules with their numbers, or `nil` if there would be more than `limit`.
    package mutating func add(_ rules: [FaultRule]) -> [NumberedFault]? {
        guard self.rules.count + rules.count <= Self.limit else { return nil }
        let added = rules.enumerated().map { NumberedFault(last + 1 + $0.offset, $0.element) }
        last += rules.count
        self.rules += added
        return added
    }

    /// Removes a rule. Returns `false` if no rule has this number.
    package mutating func remove(_ number: Int) -> Bool {
        guard let index = rules.firstIndex(where: { $0.number == number }) else { return false }
        rules.remove(at: index)
        return true
    }

    package mutating func clear() { rules = [] }

    /// Returns the rules for the nth connection. `peer` is its client's address, if it has one.
    package func rules(of connection: UInt64, peer: IPAddress?) -> [NumberedFault] {
        rules.filter { applies($0, to: connection, peer) }
    }

    /// Whether a rule selects this connection, including by chance.
    package func applies(_ fault: NumberedFault, to connection: UInt64, _ peer: IPAddress?) -> Bool {
        for condition in fault.rule.conditions {
            switch condition {
            case .connection(let number) where number != connection: return false
            case .every(let number) where !connection.isMultiple(of: number): return false
            case .first(let number) where connection > number: return false
            case .peer(let network, let bits):
                guard let peer, peer.unmapped.isIn(network, bits: bits) else { return false }
            case .probability(let share) where !fault.rule.effect.isDrawnByRange:
                let random = FaultRandom(
                    seed: seed, rule: fault.number, connection: connection, direction: fault.rule.direction ?? .upstream
                )
                guard random.happens(share, at: .max) else { return false }
            default: break
            }
        }
        return true
    }
}
