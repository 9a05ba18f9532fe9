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

    /// Blames the program at the other end of a connection.
    package func blaming(_ side: Side) -> Verdict {
        var verdict = self
        verdict.subject = side.reader
        verdict.next = side.end?.program?.stackCommand
        return verdict
    }
}

/// What a lint found.
package struct Finding: Hashable, Sendable {
    /// The lint's name.
    package var lint: String
    /// The session it is about; `nil`: the engine as a whole.
    package var socket: SocketID?
    package var sentence: String
    package var severity = Severity.warning
    package var evidence = Evidence.engine
    /// Who is at fault; `nil`: not known.
    package var subject: String?
    package var lasting: Duration?
    /// The command that shows more.
    package var next: String?
    /// Other sessions that it is about as well.
    package var others: [SocketID] = []
    package var isGrave = true
    /// How many more findings of this name blame the same program.
    package var more = 0

    /// What to do about it, as the lint's own remedy.
    package var remedy: String { Lint.named(lint)?.remedy ?? "" }

    init(_ lint: Lint, _ socket: SocketID?, _ verdict: Verdict, owner: String? = nil) {
        (self.lint, self.socket, sentence) = (lint.name, socket, verdict.sentence)
        (severity, evidence) = (verdict.severity ?? lint.severity, verdict.evidence)
        (subject, lasting, next) = (verdict.subject ?? owner, verdict.lasting, verdict.next)
        (others, isGrave) = (verdict.others, verdict.isGrave)
    }
}

extension PeerEnd.Program {
    /// The command that prints where its threads are.
    package var stackCommand: String {
        if name.hasPrefix("python") { return "py-spy dump --pid \(process)" }
        if name == "java" { return "jcmd \(process) Thread.print" }
        return "eu-stack -p \(process)"
    }
}
