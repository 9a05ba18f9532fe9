/// A way to send the same request, or to receive its answer, that must make no difference.
package enum SweepTest: String, CaseIterable, Hashable, Sendable {
    /// Cut in two, with a pause between.
    case split
    /// A byte at a time.
    case dribble
    /// Followed by FIN.
    case halfClose = "half-close"
    /// The answer is read slowly.
    case slowRead = "slow-read"
    /// Sent twice at once.
    case pipelined
    /// The connection is reset in the middle of an answer, and a new one made.
    case reset

    package var help: String {
        switch self {
        case .split: "the request is cut in two at every byte, with a pause between the parts"
        case .dribble: "the request is sent byte by byte"
        case .halfClose: "FIN follows the request"
        case .slowRead: "the answer is read slowly"
        case .pipelined: "the request is sent twice at once"
        case .reset: "the connection is reset in the middle of the answer, and another one is made"
        }
    }
}

/// One connection of a sweep: a test, and where it cuts.
package struct SweepTrial: Hashable, Sendable {
    package var test: SweepTest
    /// Bytes of the request before the cut; the number of the trial where nothing is cut.
    package var offset: Int

    package init(_ test: SweepTest, at offset: Int) { (self.test, self.offset) = (test, offset) }
}

/// How a request is sent and its answer received, in one connection.
package struct ExchangeScript: Hashable, Sendable {
    /// What is written, each after the pause.
    package var writes: [ArraySlice<UInt8>]
    package var pause = Duration.zero
    /// Whether FIN follows at once.
    package var finishes = false
    /// Bytes of each read, with a pause after it; `nil`: as they come.
    package var slowReads: (size: Int, pause: Duration)?
    /// The connection is reset once so many bytes came.
    package var resetsAfter: Int?

    /// The request, whole.
    package init(_ request: [UInt8]) { writes = [request[...]] }

    package static func == (left: Self, right: Self) -> Bool {
        left.writes == right.writes && left.pause == right.pause && left.finishes == right.finishes
            && left.resetsAfter == right.resetsAfter
            && left.slowReads.map { $0.size } == right.slowReads.map { $0.size }
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(writes) }
}

/// The trials of a sweep.
package struct SweepPlan: Hashable, Sendable {
    package let request: [UInt8]
    /// Between the parts of a request that is cut.
    package let pause: Duration

    /// A request that is dribbled, or an answer that is read slowly, takes no longer than this in pauses.
    private static let longestTrial = Duration.seconds(5)
    /// Bytes of an answer.
    package static let answerLimit = 1 << 20
    /// Connections that are reset.
    private static let resets = 3

    package init(_ request: [UInt8], pause: Duration) { (self.request, self.pause) = (request, pause) }

    /// The trials that do not disturb each other.
    package var trials: [SweepTrial] {
        let splits = request.count < 2 ? [] : (1..<request.count).map { SweepTrial(.split, at: $0) }
        return [SweepTrial(.dribble, at: 1), SweepTrial(.slowRead, at: 1), SweepTrial(.pipelined, at: 1)] + splits
    }

    /// Those that may, and come last.
    package var lastTrials: [SweepTrial] { (1...Self.resets).map { SweepTrial(.reset, at: $0) } }

    /// What a trial does; `slowdown`: the pause is so many times as long.
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

/// Decides when an answer is over. Times are counted from the first write.
///
/// A stream does not say where an answer ends. It is over when the peer ended the stream; else when what was expected came
/// and nothing more for a while. Where the server is known to end its stream after ours, FIN is sent then, and everything
/// that comes before its own FIN counts: that is sure, and no wait is.
package struct AnswerWait: Hashable, Sendable {
    package enum Step: Hashable, Sendable {
        /// Wait for bytes, so long at most.
        case read(Duration)
        case finish
        case done
    }

    /// What is known of an answer so far.
    package struct State: Hashable, Sendable {
        package var now = Duration.zero
        /// When a byte last came, or was last written.
        package var latest = Duration.zero
        /// Bytes that came.
        package var count = 0
        /// Whether what is expected came, or something else.
        package var isDecided = false
        /// When FIN was sent.
        package var finished: Duration?
        package var hasEnded = false

        package init() {}
    }

    /// How long it is quiet after an answer.
    package var quiet: Duration
    /// How long a byte that is expected may take.
    package var deadline: Duration
    /// Whether the server must end its stream.
    package var expectsEnd = false
    /// Whether the server ends its stream after ours.
    package var endsAfterOurs = false
    /// Whether the length of the answer is not known: it is over when it is quiet.
    package var isFirst = false

    package init(quiet: Duration, deadline: Duration) { (self.quiet, self.deadline) = (quiet, deadline) }

    package func step(_ state: State) -> Step {
        if state.hasEnded || state.count > 2 * SweepPlan.answerLimit { return .done }
        if let finished = state.finished {
            return wait(until: max(finished, state.latest) + (expectsEnd || endsAfterOurs ? deadline : quiet), state)
        }
        guard state.isDecided || isFirst && state.count > 0 else { return wait(until: state.latest + deadline, state) }
        if expectsEnd { return wait(until: state.latest + deadline, state) }
        let end = state.latest + quiet
        if state.now < end { return .read(end - state.now) }
        return endsAfterOurs ? .finish : .done
    }

    private func wait(until end: Duration, _ state: State) -> Step {
        state.now < end ? .read(end - state.now) : .done
    }
}
