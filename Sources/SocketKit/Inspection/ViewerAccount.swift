import SocketCore
import SocketRecords

/// A viewer's requests that have not been carried out yet. Above a limit, nothing more is read from the viewer, so that
/// the engine's mailbox does not grow without end.
final class ViewerAccount: Sendable {
    private struct State {
        var owed = 0
        var refusals: [String] = []
        var unheard = 0
        var answers: [InspectionAnswer] = []
    }

    private let state = Lock(State())

    /// The bytes of unfinished requests above which nothing more is read.
    static let limit = 4 << 20
    /// The refusals that may wait to be sent. Further ones are only counted.
    private static let refusalLimit = 16

    /// Whether nothing more may be read from the viewer.
    var isOverdrawn: Bool { state.withLock { $0.owed > Self.limit } }

    /// Notes a command that was handed to the engine.
    func owe(_ cost: Int) { state.withLock { $0.owed += cost } }

    /// Notes that a command was carried out, or why it was not. Returns whether the inspection thread has something to
    /// do now.
    func settle(_ cost: Int, _ refusal: String?) -> Bool {
        state.withLock { state in
            let wasOverdrawn = state.owed > Self.limit
            state.owed -= cost
            guard let refusal else { return wasOverdrawn && state.owed <= Self.limit }
            if state.refusals.count < Self.refusalLimit { state.refusals.append(refusal) } else { state.unheard += 1 }
            return true
        }
    }

    /// Notes the answer to a request that was handed to the program.
    func settle(_ cost: Int, _ answer: InspectionAnswer) {
        state.withLock { state in
            state.owed -= cost
            state.answers.append(answer)
        }
    }

    func takeAnswers() -> [InspectionAnswer] {
        state.withLock { state in
            defer { state.answers = [] }
            return state.answers
        }
    }

    func takeRefusals() -> [String] {
        state.withLock { state in
            guard !state.refusals.isEmpty else { return [] }
            defer { (state.refusals, state.unheard) = ([], 0) }
            return state.refusals + (state.unheard > 0 ? ["\(state.unheard) more commands were refused too"] : [])
        }
    }
}
