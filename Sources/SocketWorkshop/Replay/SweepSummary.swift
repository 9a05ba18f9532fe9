/// The findings of a sweep, and its parameters.
package struct SweepSummary: Equatable, Sendable {
    package var session: String
    package var address: String
    /// The exchange that was swept, counted from 1, and the number of exchanges.
    package var exchange: Int
    package var exchanges: Int
    package var request: [UInt8]
    package var pattern: AnswerPattern
    package var endings: [AnswerEnding]
    package var controls: Int
    package var findings: [SweepFinding]
    package var parallel: Int
    /// Why it ended early, or `nil` if it didn't.
    package var problem: String?

    package init(
        _ tally: SweepTally, session: String, address: String, exchange: Int, exchanges: Int, request: [UInt8],
        parallel: Int, problem: String?
    ) {
        (self.session, self.address, self.exchange, self.exchanges) = (session, address, exchange, exchanges)
        (self.request, self.parallel, self.problem) = (request, parallel, problem)
        pattern = tally.pattern
        endings = tally.endings.sorted { $0.rawValue < $1.rawValue }
        (controls, findings) = (tally.controls, tally.findings)
    }

    package var hasFinding: Bool { findings.contains(where: \.isFinding) }
}
