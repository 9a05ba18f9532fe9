/// The severity of a verdict.
package enum Severity: Int, Equatable, Sendable, Comparable, CaseIterable {
    /// Informative. There may be no problem.
    case note
    /// There is probably a problem.
    case warning
    /// There is no progress until someone intervenes.
    case critical

    /// The name in JSON.
    package var name: String { "\(self)" }

    package static func < (left: Severity, right: Severity) -> Bool { left.rawValue < right.rawValue }
}

/// The evidence for a verdict, the strongest first.
package enum Evidence: String, Equatable, Sendable, CaseIterable {
    /// An engine owns the connection, and reports its queues.
    case engine
    /// The system calls of the program's threads, with their arguments.
    case arguments
    /// No thread of the program has run since the bytes arrived, so none of them waits for these.
    case idle
    /// The kind of wait that the program's threads are in.
    case wchan
    /// The kernel's queues alone.
    case queues
}

/// A problem with an engine's session or a socket of the host, and what causes it. It can be written as a string
/// literal if it is only a sentence.
package struct Verdict: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The name of its row in the table of lints.
    package var lint = ""
    /// The session it is about, or `nil` for the engine as a whole.
    package var socket: SocketID?
    package var sentence: String
    /// The severity. A check sets the highest that its evidence supports. The row may lower it.
    package var severity = Severity.critical
    package var evidence = Evidence.engine
    /// What is at fault: a program, or an address if the program is not known, or `nil` for the session's own program.
    package var subject: String?
    /// The minimum time that it has lasted.
    package var lasting: Duration?
    /// The command that shows more, if the program at fault is known.
    package var next: String?
    /// The other sessions that it affects.
    package var others: [SocketID] = []
    /// The number of sockets at fault, and how many of them count towards `many` of its kind.
    package var count = 1
    package var grave = 1
    /// The number of other sockets of which the same is reported.
    package var more = 0

    // MARK: The host's sockets

    /// The affected sockets of the host by identity, the one at fault first.
    package var sockets: [UInt64] = []
    /// The affected programs, the one at fault first.
    package var processes: [HostProcess.ID] = []
    /// The parts of the sentence: the problem without its duration, `api.py[4711] has left 4.1M unread`, and the reason
    /// to believe it, `no thread or event loop is reading this socket`.
    package var claim = ""
    package var reason: String?
    /// The names of the hosts that it is about, or empty if there is only this one. Not sanitized.
    package var machines: [String] = []
    /// By what the ends on two hosts are known to be one connection.
    package var pairing: Pairing?
    /// One line for each end.
    package var ends: [End] = []

    /// One end, as listed by `why`. Sanitized.
    package struct End: Hashable, Sendable {
        package var name: String
        package var descriptor: Int32?
        package var words: String

        package init(name: String, descriptor: Int32?, words: String) {
            (self.name, self.descriptor, self.words) = (name, descriptor, words)
        }
    }

    /// By what two ends with each other's addresses are known to be those of one connection.
    package enum Pairing: String, Hashable, Sendable {
        /// Both have counted the same bytes.
        case counters
        /// Nothing but their addresses.
        case addresses
    }

    package init(_ sentence: String, lasting: Duration? = nil) { (self.sentence, self.lasting) = (sentence, lasting) }

    package init(stringLiteral sentence: String) { self.init(sentence) }
}
