import SocketCore

/// One direction of one datagram association with its rules. Takes in datagrams and returns what to do now.
///
/// Every random choice depends only on the seed and on the datagram's number in its direction.
package struct DatagramFaults: Sendable {
    package enum Action: Equatable, Sendable {
        case deliver([UInt8])
        /// Call `wake` at this time.
        case wake(at: MonotonicTime)
        case report(FaultReport)
    }

    private struct Rule {
        var fault: NumberedFault
        var random: FaultRandom
        var gate: Gate
        var share: Double
        var tally = UInt64(0)
        var dropped = UInt64(0)
        var reported = 0
    }

    /// When a rule applies.
    private struct Gate {
        var bytes: UInt64 = 0
        var time: MonotonicTime?
        var pattern: BytePattern?
    }

    private struct Waiting {
        var due: MonotonicTime
        var bytes: [UInt8]
    }

    private let place: FaultPlace
    private let capacity: Int
    private var rules: [Rule] = []
    /// Delayed datagrams, in the order in which they go out.
    private var waiting: [Waiting] = []
    private var waitingBytes = 0
    private var wakes: MonotonicTime?
    private var number: UInt64 = 0
    private var received: UInt64 = 0
    /// The number of bytes dropped by rules that have been removed.
    private var removedDropped = UInt64(0)
    /// The maximum number of copies of one datagram, and of waiting datagrams. Empty ones take no room in the buffer.
    private static let (copyLimit, waitingLimit) = (64, 16_384)
    /// The number of datagrams dropped because the delay buffer was full.
    package private(set) var overflowed: UInt64 = 0
    private var overflowedBytes: UInt64 = 0

    /// - Parameter delayBuffer: The number of bytes that may wait.
    package init(_ place: FaultPlace, delayBuffer: Int) {
        (self.place, capacity) = (place, delayBuffer)
    }

    /// Whether datagrams pass unaltered and at once.
    package var isIdle: Bool { rules.isEmpty && waiting.isEmpty }

    /// The number of bytes that wait.
    package var delayedBytes: Int { waitingBytes }

    /// Whether a datagram waits, even an empty one.
    package var isWaiting: Bool { !waiting.isEmpty }

    /// The number of bytes dropped by a rule or for lack of room.
    package var droppedBytes: UInt64 { rules.reduce(overflowedBytes + removedDropped) { $0 + $1.dropped } }

    /// Adds a rule. Has no effect if the rule is not for datagrams, or not for this direction.
    package mutating func add(_ fault: NumberedFault) {
        guard fault.rule.concerns(place.direction) else { return }
        switch fault.rule.effect.carrier {
        case .datagrams, .both: break
        case .streams, .listeners: return
        }
        guard !fault.rule.conditions.contains(where: \.choosesExchanges) else { return }
        var gate = Gate()
        for condition in fault.rule.conditions {
            switch condition {
            case .afterBytes(let count): gate.bytes = count
            case .afterTime(let time): gate.time = place.began + time
            case .match(let pattern): gate.pattern = pattern
            default: break
            }
        }
        let random = FaultRandom(
            seed: place.seed, rule: fault.number, connection: place.connection, direction: place.direction)
        rules.append(
            Rule(fault: fault, random: random, gate: gate, share: fault.rule.conditions.probability ?? 1))
    }

    /// Removes a rule. If it delayed datagrams or was the last rule, the waiting ones are delivered at once.
    package mutating func remove(rule number: Int, _ now: MonotonicTime) -> [Action] {
        let removed = rules.filter { $0.fault.number == number }
        rules.removeAll { $0.fault.number == number }
        removedDropped += removed.reduce(0) { $0 + $1.dropped }
        // Datagrams that the rule delayed go out before later ones.
        let delays = removed.contains {
            switch $0.fault.rule.effect {
            case .delay, .reorder: true
            default: false
            }
        }
        guard delays || rules.isEmpty else { return [] }
        for index in waiting.indices { waiting[index].due = now }
        return flush(now)
    }

    /// What each rule has done so far.
    package var tallies: [FaultTally] {
        rules.map {
            FaultTally(number: $0.fault.number, direction: place.direction, count: $0.tally, dropped: $0.dropped)
        }
    }

    /// Handles a datagram from the sender.
    package mutating func receive(_ datagram: [UInt8], _ now: MonotonicTime) -> [Action] {
        number += 1
        var actions: [Action] = []
        var copies = [datagram]
        var due = now
        for index in rules.indices where isOpen(rules[index].gate, datagram, now) {
            apply(index, &copies, &due, &actions)
        }
        received += UInt64(datagram.count)
        for copy in copies { send(copy, due, now, &actions) }
        return actions + flush(now)
    }

    /// Handles the time requested with `Action.wake`.
    package mutating func wake(_ now: MonotonicTime) -> [Action] {
        wakes = nil
        return flush(now)
    }

    private func isOpen(_ gate: Gate, _ datagram: [UInt8], _ now: MonotonicTime) -> Bool {
        guard received >= gate.bytes, gate.time.map({ $0 <= now }) ?? true else { return false }
        switch gate.pattern {
        case nil: return true
        case .expression(let expression): return expression.matches(datagram)
        case .literal(let literal):
            return datagram.withUnsafeBytes {
                if case .found = TerminatorSearch.find(literal, in: $0, from: 0) { true } else { false }
            }
        }
    }

    private mutating func apply(
        _ index: Int, _ copies: inout [[UInt8]], _ due: inout MonotonicTime, _ actions: inout [Action]
    ) {
        let rule = rules[index]
        guard !copies.isEmpty, rule.random.happens(rule.share, at: number, .max) else { return }
        func happens(_ share: Double) -> Bool { rule.random.happens(share, at: number, .max - 1) }
        switch rule.fault.rule.effect {
        case .loss(let share):
            guard happens(share) else { return }
            rules[index].dropped += UInt64(copies.reduce(0) { $0 + $1.count })
            copies = []
        case .duplicate(let share):
            guard copies.count < Self.copyLimit, happens(share) else { return }
            copies += copies
        case .reorder(let share, let time):
            guard happens(share) else { return }
            due = due + time
        case .delay(let time): due = due + time
        case .truncate(let count):
            guard copies[0].count > count else { return }
            rules[index].dropped += UInt64(copies[0].count) - count
            copies = copies.map { Array($0.prefix(Int(clamping: count))) }
        case .corrupt(let bits):
            guard !copies[0].isEmpty else { return }
            for bit in rule.random.distinct(bits, below: UInt64(copies[0].count) * 8, at: number) {
                for copy in copies.indices { copies[copy][Int(bit / 8)] ^= 1 << UInt8(bit % 8) }
            }
        default: return
        }
        rules[index].tally += 1
        guard rules[index].reported < FaultStage.reportLimit else { return }
        rules[index].reported += 1
        actions.append(.report(FaultReport(number: rule.fault.number, kind: .happened, offset: number)))
    }

    private mutating func send(
        _ datagram: [UInt8], _ due: MonotonicTime, _ now: MonotonicTime, _ actions: inout [Action]
    ) {
        if due <= now, waiting.isEmpty || waiting[0].due > now { return actions.append(.deliver(datagram)) }
        guard waitingBytes + datagram.count <= capacity, waiting.count < Self.waitingLimit else {
            overflowed += 1
            overflowedBytes += UInt64(datagram.count)
            return
        }
        let index = waiting.lastIndex { $0.due <= due }.map { $0 + 1 } ?? 0
        waiting.insert(Waiting(due: due, bytes: datagram), at: index)
        waitingBytes += datagram.count
    }

    private mutating func flush(_ now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        let ready = waiting.prefix { $0.due <= now }
        for datagram in ready {
            actions.append(.deliver(datagram.bytes))
            waitingBytes -= datagram.bytes.count
        }
        waiting.removeFirst(ready.count)
        if let due = waiting.first?.due, wakes.map({ due < $0 }) ?? true {
            wakes = due
            actions.append(.wake(at: due))
        }
        return actions
    }
}
