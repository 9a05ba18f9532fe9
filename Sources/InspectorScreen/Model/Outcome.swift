import InspectorCore

/// What a reducer requests, and what to show the user.
struct Outcome {
    var effects: [Effect] = []
    var notice: Model.Notice?

    static func hint(_ text: String) -> Outcome { Outcome(notice: .hint(text)) }
    static func error(_ text: String) -> Outcome { Outcome(notice: .error(text)) }
}

extension Model {
    /// Shows the notice of an outcome, and returns its effects.
    mutating func absorb(_ outcome: Outcome) -> [Effect] {
        tell(outcome.notice)
        return outcome.effects
    }

    mutating func tell(_ notice: Notice?) {
        if let notice { self.notice = notice }
    }
}
