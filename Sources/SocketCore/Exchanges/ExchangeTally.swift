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

    /// What passed last.
    private enum Stage: UInt8 {
        /// Nothing.
        case silent
        /// What the server said without a question.
        case greeting
        /// A part of a question.
        case receivedQuestion, sentQuestion
        /// The same of the first one, of which earlier parts may have passed before the tally.
        case rest
        /// A part of an answer.
        case receivedAnswer, sentAnswer
        /// The same after a long silence, so perhaps unasked.
        case late
        /// Anything, since questions overlap or are hidden.
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
    /// Whether nothing is left to judge, as the caller has told.
    package private(set) var isSettled = false
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
    package mutating func pass(
        upTo received: UInt64, _ sent: UInt64, at now: MonotonicTime,
        addingTo times: UnsafeMutablePointer<AnswerTimes>?
    ) -> Bool {
        let (new, newlySent) = advance(to: received, sent)
        return passBoth(new, newlySent, now, times)
    }

    /// Does the same once nothing is left to judge: `isSettled`.
    ///
    /// It is called at each step. The usual turns, of which each exchange has two, are part of it. Whatever else there is,
    /// is called as its last deed, so that it has no registers to save. So is this, which is why it has no `self`: that
    /// has a register of its own, which its caller would have to restore.
    package static func passSettled(
        _ tally: inout ExchangeTally, upTo received: UInt64, _ sent: UInt64, at now: MonotonicTime,
        addingTo times: UnsafeMutablePointer<AnswerTimes>?
    ) {
        let (new, newlySent) = tally.advance(to: received, sent)
        let time = now.nanoseconds
        if newlySent == 0 {
            if new == 0 { return }
            if tally.stage == .sentAnswer { return tally.ask(.receivedQuestion, UInt64(new), time) }
            if tally.stage == .sentQuestion, time > tally.latest {
                tally.answer(.receivedAnswer, time, after: time &- tally.began)
                times?.pointee.add(tally.answerTime)
                return
            }
        } else if new == 0 {
            if tally.stage == .receivedQuestion {
                tally.answer(.sentAnswer, time, after: time &- tally.began)
                times?.pointee.add(tally.answerTime)
                return
            }
            if tally.stage == .receivedAnswer { return tally.ask(.sentQuestion, UInt64(newlySent), time) }
        }
        passRest(&tally, new, newlySent, now, times)
    }

    /// The rest of it: more of a question or an answer, and whatever is rarer.
    @inline(never)
    private static func passRest(
        _ tally: inout ExchangeTally, _ new: UInt32, _ newlySent: UInt32, _ now: MonotonicTime,
        _ times: UnsafeMutablePointer<AnswerTimes>?
    ) {
        let isSent = new == 0
        if isSent || newlySent == 0 {
            let silence = now.nanoseconds &- tally.latest
            let isAnswer = tally.stage == (isSent ? .sentAnswer : .receivedAnswer)
            if isAnswer, silence < Self.silence { return tally.latest = now.nanoseconds }
            if tally.stage == (isSent ? .sentQuestion : .receivedQuestion) {
                tally.latest = now.nanoseconds
                _ = tally.askMore(UInt64(isSent ? newlySent : new), after: silence)
                return
            }
        }
        _ = tally.passBoth(new, newlySent, now, times)
    }

    @inline(never)
    private mutating func passBoth(
        _ new: UInt32, _ newlySent: UInt32, _ now: MonotonicTime, _ times: UnsafeMutablePointer<AnswerTimes>?
    ) -> Bool {
        let isNews = new > 0 && passes(.received, Int(new), now, times)
        return newlySent > 0 && passes(.sent, Int(newlySent), now, times) || isNews
    }

    private mutating func passes(
        _ direction: TrafficItem.Direction, _ count: Int, _ now: MonotonicTime,
        _ times: UnsafeMutablePointer<AnswerTimes>?
    ) -> Bool {
        let step = pass(direction, count, at: now)
        if step == .answered { times?.pointee.add(answerTime) }
        return step != .more
    }

    /// Returns how many bytes passed up to these totals.
    @inline(__always)
    package mutating func advance(to received: UInt64, _ sent: UInt64) -> (received: UInt32, sent: UInt32) {
        let totals = (received: UInt32(truncatingIfNeeded: received), sent: UInt32(truncatingIfNeeded: sent))
        defer { counted = totals }
        return (totals.received &- counted.received, totals.sent &- counted.sent)
    }

    /// Records bytes that passed. The caller keeps the answer times.
    package mutating func pass(_ direction: TrafficItem.Direction, _ count: Int, at now: MonotonicTime) -> Step {
        let (isSent, time) = (direction == .sent, now.nanoseconds)
        switch stage {
        case .receivedAnswer where isSent, .sentAnswer where !isSent:
            ask(question, UInt64(count), time)
            return .asked
        // An answer cannot come at the instant at which we ask. We can answer at once.
        case .receivedQuestion where isSent, .sentQuestion where !isSent && time > latest:
            answer(isSent ? .sentAnswer : .receivedAnswer, time, after: max(0, time &- began))
            return .answered
        default: return passOther(direction == client, UInt64(count), time)
        }
    }

    /// The stage in which the client asks.
    private var question: Stage { client == .sent ? .sentQuestion : .receivedQuestion }

    /// Records what is no usual turn, such as more from the side that sent last.
    @inline(__always)
    private mutating func passOther(_ isAsking: Bool, _ count: UInt64, _ time: Int64) -> Step {
        let silence = time &- latest
        latest = time
        switch stage {
        case .receivedQuestion, .sentQuestion: return isAsking ? askMore(count, after: silence) : overlap()
        case .rest: return isAsking ? askMore(count, after: silence) : answerRest()
        case .receivedAnswer, .sentAnswer, .late: return isAsking ? overlap() : answerMore(after: silence)
        case .silent, .greeting: return isAsking ? askFirst(count, time) : greet()
        case .overlapping: return .more
        }
    }

    private mutating func greet() -> Step {
        stage = .greeting
        return .more
    }

    private mutating func askFirst(_ count: UInt64, _ time: Int64) -> Step {
        ask(isJoined ? .rest : question, count, time)
        return .asked
    }

    @inline(__always)
    private mutating func ask(_ question: Stage, _ count: UInt64, _ time: Int64) {
        (stage, began, latest, bytes) = (question, time, time, count)
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
    private mutating func answer(_ answer: Stage, _ time: Int64, after took: Int64) {
        (stage, latest, answerTime) = (answer, time, took)
        if took > worst { worst = took }
        answered &+= 1
    }

    private mutating func answerRest() -> Step {
        (stage, isJoined) = (client == .sent ? .receivedAnswer : .sentAnswer, false)
        return .answeredRest
    }

    private mutating func answerMore(after silence: Int64) -> Step {
        if silence >= Self.silence, nature != .inTurns { stage = .late }
        return .more
    }

    private mutating func overlap() -> Step {
        (stage, wantsQuestion, isSettled) = (.overlapping, false, false)
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
    package mutating func hide() {
        _ = overlap()
        nature = .hidden
    }

    /// Tells that questions overlap, as is known from elsewhere.
    package mutating func tellOverlap() { if stage != .overlapping { _ = overlap() } }

    /// Tells that answer times are kept. If nothing is left to judge, `passSettled` is enough until questions overlap.
    package mutating func settle() { isSettled = !wantsQuestion && !isOver }

    /// Tells the first question if that is of use, after something began or ended. `items` is the traffic so far, as much
    /// as is kept.
    package mutating func judge(_ items: [TrafficItem]) {
        guard wantsQuestion else { return }
        let question = items.prefix(Self.partsJudged).prefix { $0.direction == client }.flatMap(\.bytes)
        tell(question, isWhole: isAnswered && UInt64(question.count) == bytes)
    }

    private var isAnswered: Bool { stage == .receivedAnswer || stage == .sentAnswer }

    /// The most items of traffic in which the first question is looked for.
    private static let partsJudged = 16

    /// Returns the facts of it, or `nil` if they are hidden. `times` are the answer times, if there are any.
    package func snapshot(_ times: AnswerTimes?) -> ExchangeSnapshot? {
        guard nature != .hidden else { return nil }
        var facts = ExchangeSnapshot()
        facts.overlaps = overlaps
        guard !overlaps else { return facts }
        let isAsking = stage == question || stage == .rest
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
