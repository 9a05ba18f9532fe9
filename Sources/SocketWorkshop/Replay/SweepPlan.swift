/// A way to send the same request, or to receive its answer, that must make no difference.
package enum SweepTest: String, CaseIterable, Equatable, Sendable {
    /// The request is split in two, with a pause between.
    case split
    /// The request is sent a byte at a time.
    case dribble
    /// FIN follows the request.
    case halfClose = "half-close"
    /// The answer is read slowly.
    case slowRead = "slow-read"
    /// The request is sent twice at once.
    case pipelined
    /// The connection is reset in the middle of an answer, and a new one is made.
    case reset

    package var help: String {
        switch self {
        case .split: "the request is split in two at every byte, with a pause between the parts"
        case .dribble: "the request is sent byte by byte"
        case .halfClose: "FIN follows the request"
        case .slowRead: "the answer is read slowly"
        case .pipelined: "the request is sent twice at once"
        case .reset: "the connection is reset mid-answer, and another one is opened"
        }
    }
}

/// One connection of a sweep: a test, and where it splits the request.
package struct SweepTrial: Hashable, Sendable {
    package var test: SweepTest
    /// The number of request bytes before the split, or the number of the trial if nothing is split.
    package var offset: Int

    package init(_ test: SweepTest, at offset: Int) { (self.test, self.offset) = (test, offset) }
}

/// How a request is sent and its answer received, in one connection.
package struct ExchangeScript: Equatable, Sendable {
    /// The writes, with the pause between them.
    package var writes: [ArraySlice<UInt8>]
    package var pause = Duration.zero
    /// Whether FIN follows at once.
    package var finishes = false
    /// The size of each read and the pause after it, or `nil` to read without pauses.
    package var slowReads: (size: Int, pause: Duration)?
    /// The number of received bytes after which the connection is reset, if any.
    package var resetsAfter: Int?

    /// Creates a script that sends the whole request at once.
    package init(_ request: [UInt8]) { writes = [request[...]] }

    package static func == (left: Self, right: Self) -> Bool {
        left.writes == right.writes && left.pause == right.pause && left.finishes == right.finishes
            && left.resetsAfter == right.resetsAfter
            && left.slowReads.map { $0.size } == right.slowReads.map { $0.size }
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(writes) }
}

/// The trials of a sweep.
package struct SweepPlan: Equatable, Sendable {
    package let request: [UInt8]
    /// The pause between the parts of a split request.
    package let pause: Duration

    /// The longest total pause of a trial that sends byte by byte or reads slowly.
    private static let longestTrial = Duration.seconds(5)
    /// The most bytes of an answer.
    package static let answerLimit = 1 << 20
    /// The number of connections that are reset.
    private static let resets = 3

    package init(_ request: [UInt8], pause: Duration) { (self.request, self.pause) = (request, pause) }

    /// The trials that don't disturb each other.
    package var trials: [SweepTrial] {
        let splits = request.count < 2 ? [] : (1..<request.count).map { SweepTrial(.split, at: $0) }
        return [SweepTrial(.dribble, at: 1), SweepTrial(.slowRead, at: 1), SweepTrial(.pipelined, at: 1)] + splits
    }

    /// The trials that can disturb others, and so come last.
    package var lastTrials: [SweepTrial] { (1...Self.resets).map { SweepTrial(.reset, at: $0) } }

    /// Returns the script of a trial. `slowdown` multiplies the pause between the parts of a split request.
    package func script(_ trial: SweepTrial, answer: Int, slowdown: Int = 1) -> ExchangeScript {
        var script = ExchangeScript(request)
        switch trial.test {
        case .split:
            script.writes = [request[..<trial.offset], request[trial.offset...]]
            script.pause = pause * slowdown
        case .dribble:
            script.writes = request.indices.map { request[$0...$0] }
            script.pause = min(pause, Self.longestTrial / max(1, request.count))
        case .halfClose: script.finishes = true
        case .slowRead:
            let size = max(1, answer / 50)
            script.slowReads = (size, min(pause, Self.longestTrial / max(1, answer / size)))
        case .pipelined: script.writes = [(request + request)[...]]
        case .reset: script.resetsAfter = max(1, answer / 2)
        }
        return script
    }
}

/// Decides when an answer has ended. Times are counted from the first write.
///
/// A stream doesn't mark the end of an answer. The answer has ended when the peer ends the stream, or else when the
/// expected bytes have arrived and no more follow for a while. If the server is known to end its stream after this
/// side's FIN, FIN is then sent, and everything before the server's FIN counts. That end is certain, unlike any wait.
package struct AnswerWait: Equatable, Sendable {
    package enum Step: Equatable, Sendable {
        /// Wait for bytes, up to this long.
        case read(Duration)
        case finish
        case done
        /// The time limit has passed while an answer of unknown length was still arriving.
        case late
    }

    /// The state of an answer so far.
    package struct State: Equatable, Sendable {
        package var now = Duration.zero
        /// When a byte was last received or written.
        package var latest = Duration.zero
        /// When the kernel last accepted bytes of the request.
        package var written = Duration.zero
        /// How long this side has left received bytes unread.
        package var rested = Duration.zero
        /// The number of bytes received.
        package var count = 0
        /// Whether the expected bytes have arrived, or different ones.
        package var isDecided = false
        /// When FIN was sent.
        package var finished: Duration?
        package var hasEnded = false

        package init() {}
    }

    /// How long no bytes must arrive for an answer to have ended.
    package var quiet: Duration
    /// How long the whole answer can take, not counting this side's own pauses.
    package var deadline: Duration
    /// Whether the server must end its stream.
    package var expectsEnd = false
    /// Whether the server ends its stream after this side's FIN.
    package var endsAfterOurs = false
    /// Whether the length of the answer is unknown, so that it ends when no more bytes arrive.
    package var isFirst = false

    package init(quiet: Duration, deadline: Duration) { (self.quiet, self.deadline) = (quiet, deadline) }

    package func step(_ state: State) -> Step {
        if state.hasEnded || state.count > 2 * SweepPlan.answerLimit { return .done }
        let limit = max(state.written, state.finished ?? .zero) + state.rested + deadline
        let hasFinished = state.finished != nil
        let hasAnswer = hasFinished || state.isDecided || isFirst && state.count > 0
        if expectsEnd || !hasAnswer || hasFinished && endsAfterOurs { return wait(until: limit, state) }
        // Bytes that keep coming, however slowly, don't extend the limit.
        if state.latest > limit { return isFirst && !hasFinished ? .late : .done }
        let end = max(state.latest, state.finished ?? .zero) + quiet
        if state.now < end { return .read(end - state.now) }
        return endsAfterOurs && !hasFinished ? .finish : .done
    }

    private func wait(until end: Duration, _ state: State) -> Step {
        state.now < end ? .read(end - state.now) : .done
    }
}
