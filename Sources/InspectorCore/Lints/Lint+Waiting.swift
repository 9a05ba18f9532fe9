import SocketCore

/// Questions without an answer, and slow answers.
extension Lint {
    static let waiting: [Lint] = [
        Lint(
            "unanswered", as: .note, after: .seconds(5),
            "a request has had no answer for %time; a note, unless you set the time (-W)",
            remedy: "see what the other end waits for (socktui why); a long poll or a subscription looks the same",
            unanswered
        ).warningOnceSet().evenWhereCaptured(),
        Lint(
            "answer-slow", after: .seconds(1), "the latest answer took more than %time",
            remedy: "sort by ANSWER to find the slow ones, and compare their requests ({talk} Traffic)",
            isAllowed: true, answerSlow
        ).evenWhereNothingHappens().evenWhereCaptured(),
    ]

    /// A question that took longer than this to ask is a stream of its own, and nobody may have to answer it.
    private static let longestQuestion = Duration.seconds(1)

    private static func unanswered(_ it: Situation, _ after: Duration) -> Verdict? {
        let (socket, now) = (it.socket, it.now)
        guard socket.phase == .connected, let facts = socket.exchanges, let since = facts.unansweredSince,
            // Of a relayed connection, the server's leg tells.
            it.leg == nil || socket.role == .client,
            // The other end has what was asked.
            socket.writing.pendingBytes == 0, socket.kernel?.sendQueue ?? 0 == 0, !socket.isHeldBack,
            socket.activity.peerClosed == nil
        else { return nil }
        let asked = max(since, socket.activity.lastByte ?? since)
        guard now - asked > after, facts.median != nil || asked - since <= longestQuestion else { return nil }
        return Verdict(
            "a request of \(Format.size(Int(clamping: facts.unansweredBytes))) has had no answer for \(Format.duration(now - asked))",
            lasting: now - asked)
    }

    private static func answerSlow(_ it: Situation, _ after: Duration) -> Verdict? {
        guard let facts = it.socket.exchanges, let last = facts.last, last > after,
            it.leg == nil || it.socket.role == .client
        else { return nil }
        let usual = facts.median.map { "; the median is \(Format.duration($0))" } ?? ""
        return Verdict("the latest answer took \(Format.duration(last))\(usual)", lasting: last)
    }
}
