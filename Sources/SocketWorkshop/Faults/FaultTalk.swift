import SocketCore

/// The questions and answers of one connection, for rules that apply to some of them.
struct FaultTalk: Sendable {
    /// The exchange that bytes belong to.
    struct Place: Equatable, Sendable {
        /// Its number on the connection, from 1, or 0 for what is part of none: a greeting, and everything once questions
        /// overlap.
        var number: UInt64 = 0
        /// The first bytes of the question, for bytes of its answer; otherwise `nil`.
        var question: [UInt8]?
    }

    private var tally: ExchangeTally
    private var number: UInt64
    /// The first bytes of the present question, or `nil` if they are not known.
    private var question: [UInt8]?
    /// The first question, as long as the protocol may be told from it.
    private var opening: [UInt8] = []
    /// Whether a question that is not answered yet began before.
    private var isRest: Bool

    /// The most bytes of the first question from which its protocol is told.
    private static let mostOpening = 4_096

    /// Begins with the connection, or in the midst of it: `former` is what has been counted until now, if that is known.
    init(isUnderWay: Bool, _ former: ExchangeSnapshot?) {
        tally = ExchangeTally(client: .received, isJoined: isUnderWay)
        number = former?.count ?? 0
        isRest = former?.unansweredSince != nil
        if isUnderWay, former?.overlaps != false { tally.tellOverlap() }
    }

    /// Whether questions overlap, or are hidden.
    var isOver: Bool { tally.isOver }

    /// Counts bytes that this leg has received, and returns what they belong to.
    mutating func pass(_ leg: RelayMachine.Leg, _ bytes: [UInt8], _ now: MonotonicTime) -> Place {
        let step = tally.pass(leg == .client ? .received : .sent, bytes.count, at: now)
        switch step {
        case .asked:
            number += isRest ? 0 : 1
            question = isRest ? nil : []
        case .answered, .answeredRest: if TalkNature.isUpgrade(bytes) { tally.hide() }
        case .more, .overlapped: break
        }
        if leg == .client, let known = question?.count {
            question?.append(contentsOf: bytes.prefix(Exchange.head - known))
        }
        isRest = false
        tellOpening(leg, bytes, step)
        if isOver { return Place() }
        return Place(number: number, question: leg == .client ? nil : question)
    }

    private mutating func tellOpening(_ leg: RelayMachine.Leg, _ bytes: [UInt8], _ step: ExchangeTally.Step) {
        guard tally.wantsQuestion else { return opening = [] }
        let isAnswered = tally.answered > 0
        if leg == .client, !isAnswered { opening += bytes.prefix(Self.mostOpening - opening.count) }
        guard step != .more else { return }
        tally.tell(opening, isWhole: step == .answered && tally.answered == 1 && UInt64(opening.count) == tally.bytes)
    }
}

extension FaultCondition {
    /// Whether it selects exchanges.
    var choosesExchanges: Bool {
        switch self {
        case .exchange, .question: true
        default: false
        }
    }
}

extension BytePattern {
    /// Whether it is found anywhere in these bytes.
    func matches(_ bytes: [UInt8]) -> Bool {
        switch self {
        case .literal(let literal):
            bytes.withUnsafeBytes {
                if case .found = TerminatorSearch.find(literal, in: $0, from: 0) { true } else { false }
            }
        case .expression(let pattern): pattern.matches(bytes)
        }
    }
}
