import SocketCore

/// What a check found about one session. Where it says nothing more than a sentence, a text will do.
package struct Verdict: Hashable, Sendable, ExpressibleByStringInterpolation {
    package var sentence: String
    /// `nil`: what the row says.
    package var severity: Severity?
    package var evidence = Evidence.engine
    /// Who is at fault: a program, or an address where the program is not known; `nil`: the session's own program.
    package var subject: String?
    /// How long it has lasted, at least.
    package var lasting: Duration?
    /// The command that shows more, where the program at fault is known.
    package var next: String?
    /// Other sessions that it is about as well.
    package var others: [SocketID] = []
    /// Whether it counts where many of its kind are worse than one.
    package var isGrave = true

    package init(_ sentence: String, lasting: Duration? = nil) {
        self.sentence = sentence
        self.lasting = lasting
    }

    package init(stringLiteral sentence: String) { self.init(sentence) }

    /// What was found about a socket of another program.
    init(_ found: HostFinding) {
        self.init(found.sentence, lasting: found.lasting)
        severity = Severity(rawValue: found.severity)
        evidence = Evidence(rawValue: found.evidence) ?? .queues
        (subject, next, others) = (found.subject, found.next, found.others)
    }

    /// Blames the program at the other end of a connection.
    package func blaming(_ side: Side) -> Verdict {
        var verdict = self
        verdict.subject = side.reader
        verdict.next = side.end?.program?.stackCommand
        return verdict
    }
}

/// A verdict, with the lint that gave it and the session that it is about.
@dynamicMemberLookup
package struct Finding: Hashable, Sendable {
    /// The lint's name.
    package let lint: String
    /// The session it is about; `nil`: the engine as a whole.
    package let socket: SocketID?
    package var severity: Severity
    /// How many more findings of this name blame the same program.
    package var more = 0
    private let verdict: Verdict

    /// What to do about it, as the lint's own remedy.
    package var remedy: String { Lint.named(lint)?.remedy ?? "" }

    init(_ lint: Lint, _ socket: SocketID?, _ verdict: Verdict, owner: String? = nil) {
        (self.lint, self.socket, severity) = (lint.name, socket, verdict.severity ?? lint.severity)
        var verdict = verdict
        verdict.subject = verdict.subject ?? owner
        self.verdict = verdict
    }

    package subscript<Value>(dynamicMember part: KeyPath<Verdict, Value>) -> Value { verdict[keyPath: part] }
}
