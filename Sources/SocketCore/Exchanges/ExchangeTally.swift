/// The questions and answers of one stream, told from who sends when. It is fed each time bytes pass.
///
/// The client asks. A question begins with its first byte after the server has spoken, or after the connection began; it
/// is answered by the first byte of the server. What a server says before it is asked is no answer. As the protocol is
/// not known, a question that may have been asked before the former answer was over makes the whole stream one whose
/// questions overlap: it has no answer times from then on.
package struct ExchangeTally: Sendable {
    /// What bytes did to the conversation.
    package enum Step: Equatable, Sendable {
        /// Nothing begins or ends: more of a question, an answer or a greeting, or the stream overlaps.
        case more
        case asked
        /// After this time, or `nil` if the question began before the tally. A `Duration` would cost half of a step.
        case answered(nanoseconds: Int64?)
        /// Questions overlap, as these bytes show first.
        case overlapped
    }

    private enum Stage: UInt8 {
        /// No byte has passed.
        case silent
        /// The server has spoken without a question.
        case greeted
        case asking
        case answering
        case overlapping
    }

    /// The totals that were counted last, of the bytes received and sent, without their upper halves.
    package var counted: (received: UInt32, sent: UInt32) = (0, 0)
    private var began: Int64 = 0
    /// When a byte last passed.
    private var latest: Int64 = 0
    /// The bytes of the present question, and of its last part.
    package private(set) var bytes: UInt64 = 0
    private var part: UInt32 = 0
    private var stage = Stage.silent
    private let client: TrafficItem.Direction
    /// Whether the conversation began before the tally, so that the first question may be the rest of one.
    private var isJoined: Bool
    /// Whether the server went on speaking after a long silence, perhaps unasked.
    private var spokeLate = false
    /// Whether `tell` can still reveal something.
    package private(set) var wantsQuestion = true
    private var nature = TalkNature.unknown
    /// The number of answers, and the latest and the longest answer time in nanoseconds.
    private var answered: UInt64 = 0
    private var last: Int64 = 0
    private var worst: Int64 = 0
    /// The answer times, or `nil` before the first answer.
    private var times: AnswerTimes?

    /// Begins with the conversation, or in the midst of it if `isJoined`. `client` is the direction of the client's
    /// bytes.
    package init(client: TrafficItem.Direction, isJoined: Bool = false) {
        (self.client, self.isJoined) = (client, isJoined)
    }

    /// A silence in an answer after which the server may have spoken unasked, in nanoseconds.
    private static let silence: Int64 = 1_000_000_000
    /// The time between two parts of a question from which on they may be two questions, in nanoseconds.
    private static let gap: Int64 = 1_000_000
    /// A part of this many bytes is followed by more of the same.
    private static let bulk: UInt32 = 1_024
    /// The answers after which the first question is not asked for again.
    private static let tries = 4

    /// Whether questions overlap.
    package var overlaps: Bool { stage == .overlapping && nature != .hidden }

    /// Whether nothing is counted any more: questions overlap, or are hidden.
    package var isOver: Bool { stage == .overlapping }

    /// Records bytes that passed.
    package mutating func pass(_ direction: TrafficItem.Direction, _ count: Int, at now: MonotonicTime) -> Step {
        let (isAsking, time, last) = (direction == client, now.nanoseconds, latest)
        latest = time
        switch stage {
        case .asking where !isAsking: return answer(time, last)
        case .answering where isAsking: return spokeLate ? overlap() : ask(count, time)
        case .asking: return askMore(count, after: time - last)
        case .answering: return answerMore(after: time - last)
        case .silent, .greeted: return isAsking ? ask(count, time) : greet()
        case .overlapping: return .more
        }
    }

    private mutating func greet() -> Step {
        stage = .greeted
        return .more
    }

    private mutating func ask(_ count: Int, _ time: Int64) -> Step {
        (stage, began, bytes) = (.asking, time, UInt64(truncatingIfNeeded: count))
        part = UInt32(clamping: count)
        return .asked
    }

    /// `silence` is the time since the last byte, in nanoseconds.
    private mutating func askMore(_ count: Int, after silence: Int64) -> Step {
        if mayBeAnother(after: silence) { return overlap() }
        bytes &+= UInt64(truncatingIfNeeded: count)
        part = UInt32(clamping: count)
        return .more
    }

    /// Returns whether a later part of a question may be another question.
    private func mayBeAnother(after silence: Int64) -> Bool {
        switch nature {
        case .inTurns, .multiplexed, .hidden: false
        case .framed: silence > 0 && part < Self.bulk
        case .unknown: silence >= Self.gap && part < Self.bulk
        }
    }

    private mutating func answer(_ time: Int64, _ latest: Int64) -> Step {
        let took = max(0, time - began)
        // An answer cannot come at the instant at which we ask. We can answer at once.
        if client == .sent, time <= latest { return overlap() }
        stage = .answering
        spokeLate = false
        guard !isJoined else {
            isJoined = false
            return .answered(nanoseconds: nil)
        }
        answered += 1
        last = took
        worst = max(worst, took)
        if times == nil { times = AnswerTimes() }
        times?.add(took)
        return .answered(nanoseconds: took)
    }

    private mutating func answerMore(after silence: Int64) -> Step {
        if silence >= Self.silence, nature != .inTurns { spokeLate = true }
        return .more
    }

    private mutating func overlap() -> Step {
        (stage, times, wantsQuestion) = (.overlapping, nil, false)
        return .overlapped
    }

    /// Tells the first bytes that the client sent. `isWhole` says whether they are all of its first question, to which
    /// an answer has come.
    package mutating func tell(_ question: some Collection<UInt8>, isWhole: Bool) {
        guard wantsQuestion, !overlaps else { return }
        nature = TalkNature(question: question, isWhole: isWhole)
        if nature != .unknown || isWhole || answered >= Self.tries { wantsQuestion = false }
        switch nature {
        case .multiplexed: _ = overlap()
        case .hidden: hide()
        case .unknown, .inTurns, .framed: break
        }
    }

    /// Tells that bytes from now on are encrypted, or frames of a WebSocket, so that nothing is known of exchanges.
    package mutating func hide() { (stage, nature, times, wantsQuestion) = (.overlapping, .hidden, nil, false) }

    /// Tells that questions overlap, as is known from elsewhere.
    package mutating func tellOverlap() { if stage != .overlapping { _ = overlap() } }

    /// Tells the first question if that is of use after `step`. `items` is the traffic so far, as much as is kept.
    package mutating func judge(_ items: [TrafficItem], after step: Step) {
        guard wantsQuestion, step != .more else { return }
        let question = items.prefix(Self.partsJudged).prefix { $0.direction == client }.flatMap(\.bytes)
        let isWhole = if case .answered = step { UInt64(question.count) == bytes } else { false }
        tell(question, isWhole: isWhole)
    }

    /// The most items of traffic in which the first question is looked for.
    private static let partsJudged = 16

    /// The facts of it, or `nil` if they are hidden.
    package var snapshot: ExchangeSnapshot? {
        guard nature != .hidden else { return nil }
        var facts = ExchangeSnapshot()
        facts.overlaps = overlaps
        guard !overlaps else { return facts }
        let isAsking = stage == .asking
        facts.count = answered + (isAsking ? 1 : 0)
        if isAsking { (facts.unansweredSince, facts.unansweredBytes) = (MonotonicTime(nanoseconds: began), bytes) }
        guard let times, answered > 0 else { return facts }
        (facts.last, facts.worst) = (.nanoseconds(last), .nanoseconds(worst))
        facts.median = times.quantile(0.5, worst: worst).map { .nanoseconds($0) }
        facts.late = times.quantile(0.99, worst: worst).map { .nanoseconds($0) }
        if let spread = times.spread(over: ExchangeSnapshot.bars) {
            (facts.least, facts.spread) = (.nanoseconds(spread.least), spread.bars)
        }
        return facts
    }

    /// The memory that it takes, in bytes.
    package var memory: Int { MemoryLayout<Self>.size + (times == nil ? 0 : AnswerTimes.memory) }
}
