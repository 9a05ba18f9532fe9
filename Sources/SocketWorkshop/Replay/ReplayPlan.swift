import SocketCore

/// The recorded actions of a client in order, and the answers it received: enough to replay them.
package struct ReplayPlan: Equatable, Sendable {
    package enum Action: Equatable, Sendable {
        case send([UInt8])
        /// FIN.
        case finish
        /// RST.
        case reset
    }

    /// One action of the client.
    package struct Step: Equatable, Sendable {
        package var action: Action
        /// The number of answer bytes received before it.
        package var after: Int
        /// Whether the server had ended its stream before it.
        package var isAfterEnd: Bool
        /// How long the client had waited for the last of these bytes.
        package var wait: Duration
        /// How much later it acted.
        package var pause: Duration
    }

    package private(set) var steps: [Step] = []
    /// The bytes that the server sent.
    package private(set) var answer: [UInt8] = []
    /// How the server ended its stream, or `nil` if the file doesn't say.
    package private(set) var ending: AnswerEnding?
    /// The time from the client's last step to the server's last bytes, or to its end.
    package private(set) var lastWait = Duration.zero
    /// The number of bytes that the client sent.
    package private(set) var sent = 0

    /// Whether bytes after the recorded ones are a difference. If the server's end is not recorded, the recording may
    /// have been stopped early, or the client may have closed before all bytes arrived.
    package var isWhole: Bool { ending != nil }

    /// Creates the plan of a conversation's client.
    package init(_ conversation: ExportedConversation) {
        var ends = conversation.ends[...]
        var clock = Clock(latest: conversation.opened, answered: conversation.opened)
        for (index, part) in conversation.parts.enumerated() {
            while let end = ends.first, end.parts <= index { absorb(ends.removeFirst(), &clock) }
            guard ending != .reset else { continue }
            if part.side == .server {
                answer += part.bytes
                clock.answered = max(clock.latest, part.time)
            } else if !part.bytes.isEmpty {
                sent += part.bytes.count
                add(.send(part.bytes), at: part.time, &clock)
            }
        }
        for end in ends { absorb(end, &clock) }
        lastWait = max(.zero, clock.answered - clock.latest)
    }

    private struct Clock {
        /// When the client last acted, and when the server last answered.
        var latest: MonotonicTime
        var answered: MonotonicTime
    }

    private mutating func absorb(_ end: ExportedConversation.End, _ clock: inout Clock) {
        guard ending != .reset, steps.last?.action != .reset else { return }
        switch (end.side, end.isReset) {
        case (.server, let isReset):
            // A reset after FIN means that the client's last bytes arrived too late.
            if ending == nil { ending = isReset ? .reset : .closed }
            clock.answered = max(clock.latest, end.time)
        case (.client, let isReset):
            add(isReset ? .reset : .finish, at: end.time, &clock)
        }
    }

    private mutating func add(_ action: Action, at time: MonotonicTime, _ clock: inout Clock) {
        let heard = max(clock.latest, clock.answered)
        steps.append(
            Step(
                action: action, after: answer.count, isAfterEnd: ending != nil,
                wait: heard - clock.latest, pause: max(.zero, time - heard)))
        clock.latest = max(time, heard)
    }
}

/// How fast a recording is replayed.
package enum ReplayPace: Equatable, Sendable {
    /// This many times as fast as recorded. It scales only the pauses of the client, since the server has its own pace.
    case times(Double)
    /// Without pauses.
    case asap

    /// Parses `recorded`, `x2`, `x0.5` or `asap`. Returns `nil` if it is none of these.
    package static func parse(_ text: String) -> ReplayPace? {
        switch text {
        case "recorded": return .times(1)
        case "asap": return .asap
        default:
            guard text.hasPrefix("x"), let factor = Double(text.dropFirst()), (0.001...1_000_000).contains(factor)
            else {
                return nil
            }
            return .times(factor)
        }
    }

    /// Returns the scaled pause.
    package func pause(_ duration: Duration) -> Duration {
        switch self {
        case .times(let factor): .nanoseconds(Int64(Double(duration.wholeNanoseconds) / factor))
        case .asap: .zero
        }
    }
}

/// How answers are compared in a replay.
package enum ReplayMatch: String, CaseIterable, Equatable, Sendable {
    /// Every byte must be equal.
    case exact
    /// The number of bytes must be equal.
    case length
    /// Every byte outside the holes must be equal.
    case pattern
}

/// One request and its answer in a recorded session.
package struct RecordedExchange: Equatable, Sendable {
    package var request: [UInt8]
    package var answer: [UInt8]
    /// The longest pause within the answer.
    package var longestPause: Duration

    /// Returns the exchanges of a conversation: the client's bytes until the server answered, and the server's bytes
    /// until the client continued.
    package static func all(of conversation: ExportedConversation) -> [RecordedExchange] {
        var exchanges: [RecordedExchange] = []
        var latest = MonotonicTime.zero
        for part in conversation.parts where !part.bytes.isEmpty {
            switch part.side {
            case .client:
                if exchanges.last?.answer.isEmpty ?? false {
                    exchanges[exchanges.count - 1].request += part.bytes
                } else {
                    exchanges.append(RecordedExchange(request: part.bytes, answer: [], longestPause: .zero))
                }
            case .server:
                // Bytes that a server sends first, such as a greeting, are the answer to the connect.
                if exchanges.isEmpty {
                    exchanges.append(RecordedExchange(request: [], answer: [], longestPause: .zero))
                }
                let last = exchanges.count - 1
                if !exchanges[last].answer.isEmpty {
                    exchanges[last].longestPause = max(exchanges[last].longestPause, part.time - latest)
                }
                exchanges[last].answer += part.bytes
                latest = part.time
            }
        }
        return exchanges
    }
}
