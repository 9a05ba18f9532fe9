/// The result of replaying a recorded client.
package struct ReplayResult: Equatable, Sendable {
    /// The number of writes, and of bytes written and received.
    package var writes = 0
    package var sent = 0
    package var received = 0
    /// The number of bytes after the end of the recording, which are not compared.
    package var extra = 0
    package var took = Duration.zero
    /// The first difference between the answers.
    package var difference: AnswerDifference?
    /// The last step that was performed before the difference, counted from 1, or `nil` if none was.
    package var step: Int?
    /// How the server ended its stream, if that differs from the recording.
    package var ending: Ending?
    /// Why the replay could not be completed.
    package var problem: String?

    package struct Ending: Equatable, Sendable {
        package var expected: AnswerEnding
        package var received: AnswerEnding

        package init(expected: AnswerEnding, received: AnswerEnding) {
            (self.expected, self.received) = (expected, received)
        }
    }

    package init() {}

    package var isEqual: Bool { difference == nil && ending == nil && problem == nil }
}
