import SocketCore

/// What a viewer asked for and the engine has not done yet. While that is more than a limit, nothing more is read from
/// the viewer, so that the engine's mailbox does not grow without end.
final class ViewerAccount: Sendable {
    private struct State {
        var owed = 0
        var refusals: [String] = []
        var unheard = 0
        var answers: [InspectionAnswer] = []
    }

    private let state = Lock(State())

    /// Bytes of commands that wait for the engine.
    static let limit = 4 << 20
    /// Refusals that wait to be told; more are counted.
    private static let refusalLimit = 16

    /// Whether nothing more may be read.
    var isOverdrawn: Bool { state.withLock { $0.owed > Self.limit } }

    /// Notes a command that was handed to the engine.
    func owe(_ cost: Int) { state.withLock { $0.owed += cost } }

    /// Notes that it was carried out, or why it was not. Whether the inspection thread has something to do now.
    func settle(_ cost: Int, _ refusal: String?) -> Bool {
        state.withLock { state in
            let wasOverdrawn = state.owed > Self.limit
            state.owed -= cost
            guard let refusal else { return wasOverdrawn && state.owed <= Self.limit }
            if state.refusals.count < Self.refusalLimit { state.refusals.append(refusal) } else { state.unheard += 1 }
            return true
        }
    }

    /// Notes what came of a request that was handed to the program.
    func settle(_ cost: Int, _ answer: InspectionAnswer) {
        state.withLock { state in
            state.owed -= cost
            state.answers.append(answer)
        }
    }

    /// Takes out the answers that came.
    func takeAnswers() -> [InspectionAnswer] {
        state.withLock { state in
            defer { state.answers = [] }
            return state.answers
        }
    }

    /// Takes out what is to be told.
    func takeRefusals() -> [String] {
        state.withLock { state in
            guard !state.refusals.isEmpty else { return [] }
            defer { (state.refusals, state.unheard) = ([], 0) }
            return state.refusals + (state.unheard > 0 ? ["\(state.unheard) more commands were refused likewise"] : [])
        }
    }
}
