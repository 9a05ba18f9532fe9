import SocketCore

/// The result of checking one session. It can be written as a string literal if it is only a sentence.
package struct Verdict: Hashable, Sendable, ExpressibleByStringInterpolation {
    package var sentence: String
    /// The severity, or `nil` for that of the row.
    package var severity: Severity?
    package var evidence = Evidence.engine
    /// What is at fault: a program, or an address if the program is not known, or `nil` for the session's own program.
    package var subject: String?
    /// The minimum time that it has lasted.
    package var lasting: Duration?
    /// The command that shows more, if the program at fault is known.
    package var next: String?
    /// The other sessions that it affects.
    package var others: [SocketID] = []
    /// Whether it counts towards `many` of its kind.
    package var isGrave = true

    package init(_ sentence: String, lasting: Duration? = nil) {
        self.sentence = sentence
        self.lasting = lasting
    }

    package init(stringLiteral sentence: String) { self.init(sentence) }

    /// Creates the verdict of a finding about another program's socket.
    init(_ found: HostFinding) {
        self.init(found.sentence, lasting: found.lasting)
        severity = Severity(rawValue: found.severity)
        evidence = Evidence(rawValue: found.evidence) ?? .queues
        (subject, next, others) = (found.subject, found.next, found.others)
    }

    /// Returns the verdict with the program at the other end blamed.
    package func blaming(_ side: Side) -> Verdict {
        var verdict = self
        verdict.subject = side.reader
        verdict.next = side.end?.program?.stackCommand
        return verdict
    }
}

/// A verdict, with its lint and the session it is about.
@dynamicMemberLookup
package struct Finding: Hashable, Sendable {
    /// The lint's name.
    package let lint: String
    /// The session it is about, or `nil` for the engine as a whole.
    package let socket: SocketID?
    package var severity: Severity
    /// The number of other findings of this name that blame the same program.
    package var more = 0
    private let verdict: Verdict

    /// The remedy of its lint.
    package var remedy: String { Lint.named(lint)?.remedy ?? "" }

    init(_ lint: Lint, _ socket: SocketID?, _ verdict: Verdict, owner: String? = nil) {
        (self.lint, self.socket, severity) = (lint.name, socket, verdict.severity ?? lint.severity)
        var verdict = verdict
        verdict.subject = verdict.subject ?? owner
        self.verdict = verdict
    }

    package subscript<Value>(dynamicMember part: KeyPath<Verdict, Value>) -> Value { verdict[keyPath: part] }
}
