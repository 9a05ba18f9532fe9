import SocketCore

/// How a program ended.
package enum ChildEnding: Equatable, Sendable {
    case exit(Int32)
    case signal(Int32)
    /// It was not started. The values are the reason, as a sentence, and a shell's status for it.
    case notStarted(String, status: Int32)

    package var wasStarted: Bool { if case .notStarted = self { false } else { true } }

    /// The exit status that this program takes over, the same as a shell's.
    package var status: Int32 {
        switch self {
        case .exit(let status): status
        case .signal(let number): 128 + number
        case .notStarted(_, let status): status
        }
    }
}

/// The program that runs through the relay.
package struct ChildState: Equatable, Sendable {
    package enum Phase: Equatable, Sendable {
        case starting
        case running(process: Int)
        /// `connections` is the number of connections that it made through the relay.
        case ended(ChildEnding, process: Int?, connections: Int)
    }

    package var name: String
    /// How its connections come to the relay.
    package var via: RunRequest.Via
    /// Whether it has a terminal of its own, which the screen shows.
    package var hasTerminal: Bool
    package var phase = Phase.starting
    /// What does not come there.
    package var passed = PassedConnects()
    /// Which of its calls are missing, or `nil` if they are not traced.
    package var callLosses: CallLosses?
    /// Why it is offered proxies although its connects were to be taken, as a sentence, or `nil`.
    package var note: String?

    package init(name: String, via: RunRequest.Via, hasTerminal: Bool = false, phase: Phase = .starting) {
        (self.name, self.via, self.hasTerminal, self.phase) = (name, via, hasTerminal, phase)
    }

    package init(_ request: RunRequest) {
        self.init(name: request.name, via: request.via, hasTerminal: request.hasTerminal)
    }

    package var isRunning: Bool { if case .running = phase { true } else { false } }

    package var ending: ChildEnding? { if case .ended(let ending, _, _) = phase { ending } else { nil } }

    package var process: Int? {
        switch phase {
        case .starting: nil
        case .running(let process): process
        case .ended(_, let process, _): process
        }
    }

    /// `curl[77]`
    package var title: String { process.map { "\(name)[\($0)]" } ?? name }

    /// `curl[77] runs`, `curl exit 3`, `curl killed by TERM`
    package var chip: String {
        switch phase {
        case .starting: "\(name) starting"
        case .running: "\(title) running" + (passed.unseen > 0 ? ", \(passed.unseen) not shown" : "")
        case .ended(.exit(let status), _, _): "\(name) exit \(status)"
        case .ended(.signal(let number), _, _): "\(name) killed by \(SignalWords.name(number))"
        case .ended(.notStarted, _, _): "\(name) not started"
        }
    }

    /// How it ended, as a sentence, or `nil` if it has not.
    package var farewell: String? {
        guard case .ended(let ending, _, let connections) = phase else { return nil }
        let how: String
        switch ending {
        case .exit(let status): how = "\(title) ended with status \(status)"
        case .signal(let number): how = "\(title) was killed by \(SignalWords.name(number))"
        case .notStarted(let sentence, _): return sentence
        }
        let notes = remarks.map { "; " + $0 }.joined()
        guard connections == 0 else { return "\(how), after \(Format.count(connections, "connection"))\(notes)" }
        let reason =
            via == .connect
            ? "it made none" : "it made none, ignores the proxy variables, or a rule blocked it"
        return "\(how) without a connection through the relay: \(reason)\(via == .socks ? "; try --proxy http" : "")"
            + notes
    }

    /// What is not as the user may expect, as phrases.
    package var remarks: [String] { (note.map { [$0] } ?? []) + passed.phrases + unseenCalls }

    private var unseenCalls: [String] {
        let phrases = callLosses?.phrases ?? []
        return phrases.isEmpty ? [] : ["not shown: " + phrases.joined(separator: ", ")]
    }

    /// Whether it ended and this program saw none of its traffic.
    package var wasUnseen: Bool {
        switch phase {
        case .ended(.notStarted, _, _): false
        case .ended(_, _, let connections): connections == 0
        case .starting, .running: false
        }
    }
}

/// The names of signals.
package enum SignalWords {
    /// The signals that the user can send to a program.
    package static let sent: [(name: String, number: Int32)] = [
        ("INT", 2), ("TERM", 15), ("KILL", 9), ("HUP", 1), ("USR1", 10), ("USR2", 12), ("STOP", 19), ("CONT", 18),
    ]

    private static let others: [(name: String, number: Int32)] = [
        ("QUIT", 3), ("ILL", 4), ("TRAP", 5), ("ABRT", 6), ("BUS", 7), ("FPE", 8), ("SEGV", 11), ("PIPE", 13),
        ("ALRM", 14), ("XCPU", 24), ("XFSZ", 25), ("SYS", 31),
    ]

    /// Returns `TERM`, or `signal 40` if it has no name here. The numbers are those of Linux on x86 and Arm.
    package static func name(_ number: Int32) -> String {
        (sent + others).first { $0.number == number }?.name ?? "signal \(number)"
    }
}

/// News of the running program.
package struct ChildNews: Equatable, Sendable {
    package var state: ChildState
    /// Its output since the last news. `dropped` is the number of bytes dropped before it.
    package var output: [UInt8]
    package var dropped: Int

    package init(_ state: ChildState, output: [UInt8] = [], dropped: Int = 0) {
        (self.state, self.output, self.dropped) = (state, output, dropped)
    }
}
