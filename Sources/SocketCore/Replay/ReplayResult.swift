/// What came of playing a recorded client.
package struct ReplayResult: Hashable, Sendable {
    /// Bytes written and received, and writes made.
    package var writes = 0
    package var sent = 0
    package var received = 0
    /// Bytes that came where the recording ends, which are not compared.
    package var extra = 0
    package var took = Duration.zero
    /// Where the answers differ.
    package var difference: AnswerDifference?
    /// The step that had been carried out last when they did, counted from 1; `nil`: none had.
    package var step: Int?
    /// How the server ended its stream, where that is not as it was.
    package var ending: Ending?
    /// Why it could not be played to the end.
    package var problem: String?

    package struct Ending: Hashable, Sendable {
        package var expected: AnswerEnding
        package var received: AnswerEnding

        package init(expected: AnswerEnding, received: AnswerEnding) {
            (self.expected, self.received) = (expected, received)
        }
    }

    package init() {}

    package var isEqual: Bool { difference == nil && ending == nil && problem == nil }
}
