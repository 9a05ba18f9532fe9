/// The questions and answers of one stream, told from who sends when. It is fed each time bytes pass.
///
/// The client asks. A question begins with its first byte after the server has spoken, or after the connection began; it
/// is answered by the first byte of the server. What a server says before it is asked is no answer. As the protocol is
/// not known, a question that may have been asked before the former answer was over makes the whole stream one whose
/// questions overlap: it has no answer times from then on.
package struct ExchangeTally: Sendable {
    /// What bytes did to the conversation.
    package enum Step: Sendable {
        /// Nothing begins or ends: more of a question, an answer or a greeting, or the stream overlaps.
        case more
        case asked
        /// After `answerTime`.
        case answered
        /// The question began before the tally, or may have.
        case answeredRest
        /// Questions overlap, as these bytes show first.
        case overlapped
    }

    private enum Stage: UInt8 {
        /// No byte has passed.
        case silent
        /// The server has spoken without a question.
        case greeted
        case asking
        /// The first question, of which earlier parts may have passed before the tally.
        case askingRest
        case answering
        /// The server went on after a long silence, perhaps unasked.
        case answeringLate
        case overlapping
    }

    /// The totals that were counted last, of the bytes received and sent, without their upper halves.
    package var counted: (received: UInt32, sent: UInt32) = (0, 0)
    /// When the present question began, or the latest.
    private var began: Int64 = 0
    /// When a byte last passed.
    private var latest: Int64 = 0
    /// The bytes of the present question.
    package private(set) var bytes: UInt64 = 0
    /// Those of its last part, unless that came at the instant of the first.
    private var part: UInt64 = 0
    private var stage = Stage.silent
    private let client: TrafficItem.Direction
    /// Whether the conversation began before the tally, so that the first question may be the rest of one.
    private var isJoined: Bool
    /// Whether `tell` can still reveal something.
    package private(set) var wantsQuestion = true
    private var nature = TalkNature.unknown
    /// The number of answers.
    package private(set) var answered: UInt64 = 0
    /// The latest answer time in nanoseconds, and the longest.
    package private(set) var answerTime: Int64 = 0
    private var worst: Int64 = 0

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
    private static let bulk: UInt64 = 1_024
    /// The answers after which the first question is not asked for again.
    private static let tries = 4

    /// Whether questions overlap.
    package var overlaps: Bool { stage == .overlapping && nature != .hidden }

    /// Whether nothing is counted any more: questions overlap, or are hidden.
    package var isOver: Bool { stage == .overlapping }

    /// Records what passed up to these totals, and adds the answer time to `times` if there is one. Within a step of an
    /// engine, bytes are received before any are sent. Returns whether to call `judge`, and to add the answer time if
    /// there are no `times` yet.
    ///
    /// It is called at each step. The usual turns, of which each exchange has two, are part of it. Whatever else there is,
    /// is called as its last deed, so that it has no registers to save.
    package mutating func pass(
        upTo received: UInt64, _ sent: UInt64, at now: MonotonicTime,
        addingTo times: UnsafeMutablePointer<AnswerTimes>?
    ) -> Bool {
        let (new, newlySent) = advance(to: received, sent)
        if newlySent == 0 { return new != 0 && pass(.received, UInt64(new), now.nanoseconds, times) }
        if new == 0 { return pass(.sent, UInt64(newlySent), now.nanoseconds, times) }
        return passBoth(new, newlySent, now.nanoseconds, times)
    }

    /// Returns how many bytes passed up to these totals.
    @inline(__always)
    package mutating func advance(to received: UInt64, _ sent: UInt64) -> (received: UInt32, sent: UInt32) {
        let totals = (received: UInt32(truncatingIfNeeded: received), sent: UInt32(truncatingIfNeeded: sent))
        defer { counted = totals }
        return (totals.received &- counted.received, totals.sent &- counted.sent)
    }

    @inline(__always)
    private mutating func pass(
        _ direction: TrafficItem.Direction, _ count: UInt64, _ time: Int64, _ times: UnsafeMutablePointer<AnswerTimes>?
    ) -> Bool {
        if direction == client {
            if stage == .answering {
                ask(count, time)
                return wantsQuestion
            }
        } else if stage == .asking, direction == .sent || time > latest {
            answer(time, after: time &- began)
            guard let times else { return true }
            times.pointee.add(answerTime)
            return wantsQuestion
        }
        return changes(direction == client, count, time)
    }

    @inline(never)
    private mutating func passBoth(
        _ new: UInt32, _ newlySent: UInt32, _ time: Int64, _ times: UnsafeMutablePointer<AnswerTimes>?
    ) -> Bool {
        let isNews = pass(.received, UInt64(new), time, times)
        return pass(.sent, UInt64(newlySent), time, times) || isNews
    }

    @inline(never)
    private mutating func changes(_ isAsking: Bool, _ count: UInt64, _ time: Int64) -> Bool {
        passOther(isAsking, count, time) != .more
    }

    /// Records bytes that passed. The caller keeps the answer times.
    package mutating func pass(_ direction: TrafficItem.Direction, _ count: Int, at now: MonotonicTime) -> Step {
        let (isAsking, time) = (direction == client, now.nanoseconds)
        if isAsking, stage == .answering {
            ask(UInt64(count), time)
            return .asked
        }
        // An answer cannot come at the instant at which we ask. We can answer at once.
        if !isAsking, stage == .asking, direction == .sent || time > latest {
            answer(time, after: max(0, time &- began))
            return .answered
        }
        return passOther(isAsking, UInt64(count), time)
    }

    /// Records what is no usual turn, such as more from the side that sent last.
    @inline(__always)
    private mutating func passOther(_ isAsking: Bool, _ count: UInt64, _ time: Int64) -> Step {
        let silence = time &- latest
        latest = time
        switch stage {
        case .asking: return isAsking ? askMore(count, after: silence) : overlap()
        case .askingRest: return isAsking ? askMore(count, after: silence) : answerRest()
        case .answering, .answeringLate: return isAsking ? overlap() : answerMore(after: silence)
        case .silent, .greeted: return isAsking ? askFirst(count, time) : greet()
        case .overlapping: return .more
        }
    }

    private mutating func greet() -> Step {
        stage = .greeted
        return .more
    }

    private mutating func askFirst(_ count: UInt64, _ time: Int64) -> Step {
        ask(count, time)
        if isJoined { stage = .askingRest }
        return .asked
    }

    @inline(__always)
    private mutating func ask(_ count: UInt64, _ time: Int64) {
        (stage, began, latest, bytes) = (.asking, time, time, count)
    }

    /// `silence` is the time since the last byte, in nanoseconds.
    private mutating func askMore(_ count: UInt64, after silence: Int64) -> Step {
        let isFirst = latest &- silence == began
        if mayBeAnother(after: silence, part: isFirst ? bytes : part) { return overlap() }
        bytes &+= count
        part = count
        return .more
    }

    /// Returns whether a later part of a question may be another question.
    private func mayBeAnother(after silence: Int64, part: UInt64) -> Bool {
        switch nature {
        case .inTurns, .multiplexed, .hidden: false
        case .framed: silence > 0 && part < Self.bulk
        case .unknown: silence >= Self.gap && part < Self.bulk
        }
    }

    @inline(__always)
    private mutating func answer(_ time: Int64, after took: Int64) {
        (stage, latest, answerTime, worst) = (.answering, time, took, max(worst, took))
        answered &+= 1
    }

    private mutating func answerRest() -> Step {
        (stage, isJoined) = (.answering, false)
        return .answeredRest
    }

    private mutating func answerMore(after silence: Int64) -> Step {
        if silence >= Self.silence, nature != .inTurns { stage = .answeringLate }
        return .more
    }

    private mutating func overlap() -> Step {
        (stage, wantsQuestion) = (.overlapping, false)
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
    package mutating func hide() { (stage, nature, wantsQuestion) = (.overlapping, .hidden, false) }

    /// Tells that questions overlap, as is known from elsewhere.
    package mutating func tellOverlap() { if stage != .overlapping { _ = overlap() } }

    /// Tells the first question if that is of use, after something began or ended. `items` is the traffic so far, as much
    /// as is kept.
    package mutating func judge(_ items: [TrafficItem]) {
        guard wantsQuestion else { return }
        let question = items.prefix(Self.partsJudged).prefix { $0.direction == client }.flatMap(\.bytes)
        tell(question, isWhole: stage == .answering && UInt64(question.count) == bytes)
    }

    /// The most items of traffic in which the first question is looked for.
    private static let partsJudged = 16

    /// Returns the facts of it, or `nil` if they are hidden. `times` are the answer times, if there are any.
    package func snapshot(_ times: AnswerTimes?) -> ExchangeSnapshot? {
        guard nature != .hidden else { return nil }
        var facts = ExchangeSnapshot()
        facts.overlaps = overlaps
        guard !overlaps else { return facts }
        let isAsking = stage == .asking || stage == .askingRest
        facts.count = answered + (isAsking ? 1 : 0)
        if isAsking { (facts.unansweredSince, facts.unansweredBytes) = (MonotonicTime(nanoseconds: began), bytes) }
        guard let times, answered > 0 else { return facts }
        (facts.last, facts.worst) = (.nanoseconds(answerTime), .nanoseconds(worst))
        // A single time is known, and need not be told from the histogram.
        let isSingle = answered == 1
        facts.median = (isSingle ? worst : times.quantile(0.5, worst: worst)).map { .nanoseconds($0) }
        facts.late = (isSingle ? worst : times.quantile(0.99, worst: worst)).map { .nanoseconds($0) }
        if let spread = times.spread(over: ExchangeSnapshot.bars) {
            (facts.least, facts.spread) = (.nanoseconds(spread.least), spread.bars)
        }
        return facts
    }
}
