import SocketCore

/// The questions and answers of a connection of an engine that is inspected, from its first byte on. An object of a class
/// would be retained and released at each step, which took a third of the instructions.
///
/// Proof: `ConnectionRarities` alone keeps one. It calls `free` once, when it replaces the value or is destroyed itself, and
/// the value is used on the engine's queue only, by steps of the connection that retains the rarities. Nothing that is
/// called here comes back to the connection.
struct ConnectionExchanges {
    private struct Kept {
        var tally: ExchangeTally
        var isSecure: Bool
        /// The answer times, or `nil` before the first answer.
        var times: UnsafeMutablePointer<AnswerTimes>?
    }
    private let kept: UnsafeMutablePointer<Kept>

    init(_ tally: ExchangeTally, isSecure: Bool) {
        kept = .allocate(capacity: 1)
        kept.initialize(to: Kept(tally: tally, isSecure: isSecure))
    }

    func free() {
        kept.pointee.times?.deallocate()
        kept.deallocate()
    }

    /// Begins anew with the plaintext, once TLS has begun.
    func countPlaintext() {
        if !kept.pointee.isSecure { (kept.pointee.isSecure, kept.pointee.tally.counted) = (true, (0, 0)) }
    }

    /// Counts what passed up to these totals. Returns whether to call `judge`.
    @inline(__always)
    func count(upTo received: UInt64, _ sent: UInt64, at now: MonotonicTime) -> Bool {
        guard isSettled else { return countUnsettled(received, sent, now) }
        countSettled(upTo: received, sent, at: now)
        return false
    }

    /// Whether `countSettled` is enough.
    var isSettled: Bool {
        @inline(__always)
        get { kept.pointee.tally.isSettled }
    }

    /// Counts what passed up to these totals where nothing is left to judge.
    @inline(__always)
    func countSettled(upTo received: UInt64, _ sent: UInt64, at now: MonotonicTime) {
        let times = kept.pointee.times
        ExchangeTally.passSettled(&kept.pointee.tally, upTo: received, sent, at: now, addingTo: times)
    }

    @inline(never)
    private func countUnsettled(_ received: UInt64, _ sent: UInt64, _ now: MonotonicTime) -> Bool {
        let isNews = kept.pointee.tally.pass(upTo: received, sent, at: now, addingTo: kept.pointee.times)
        return isNews || kept.pointee.tally.isOver && keepsTimes
    }

    /// Tells what overlaps by itself or by its first question, if that is of interest. Keeps the first answer time, and
    /// none once questions overlap.
    func judge(overlaps: Bool, _ traffic: () -> [TrafficItem]) {
        if kept.pointee.tally.wantsQuestion {
            if overlaps { kept.pointee.tally.tellOverlap() } else { kept.pointee.tally.judge(traffic()) }
        }
        if kept.pointee.tally.isOver {
            kept.pointee.times?.deallocate()
            kept.pointee.times = nil
        } else if kept.pointee.times == nil, kept.pointee.tally.answered > 0 {
            kept.pointee.times = .allocate(capacity: 1)
            kept.pointee.times?.initialize(to: AnswerTimes())
            kept.pointee.times?.pointee.add(kept.pointee.tally.answerTime)
        }
        if keepsTimes { kept.pointee.tally.settle() }
    }

    /// Whether answer times are kept.
    var keepsTimes: Bool { kept.pointee.times != nil }

    var snapshot: ExchangeSnapshot? { kept.pointee.tally.snapshot(kept.pointee.times?.pointee) }
}
