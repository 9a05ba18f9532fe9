import SocketCore
import SocketRecords

/// A kind of line in JSON Lines. Its facts follow `v`, `type` and `time`.
package struct LineKind {
    /// The value of `type`.
    package let word: String
    /// What it reports.
    package let text: String
    /// The rows of its facts, without values.
    package let facts: [Fact]

    private init(_ word: String, _ text: String, _ teller: FactTeller) {
        (self.word, self.text, facts) = (word, text, teller.facts)
    }

    /// All kinds. The numbers of an event, which follow its own facts, are in `EventCatalogue`.
    package static var all: [LineKind] {
        [
            LineKind("hello", "the first line", .hello(nil)),
            LineKind("child", "the program of `socktui run` has started, runs or has ended", .child(nil)),
            LineKind("program", "a new attached program, or one that has changed", .program(nil)),
            LineKind("event", "something happened; its other fields are below", .event(nil)),
            LineKind("lost", "events that were overwritten before they could be read", .lost(nil)),
            LineKind(
                "socket",
                "a session that has changed, with all its fields: the last line of an `id` is complete",
                .socket(.blank, nil, lints: [], process: 0)),
            LineKind(
                "payload", "with `--payload`: the bytes of one finished operation, datagram or message",
                .payload(nil, limit: 0)),
            LineKind(
                "exchange", "with `--exchanges`: one request with its answer, once complete",
                .exchange(nil)),
            LineKind("call", "with `run --calls`: one system call on a socket, once complete", .call(nil)),
            LineKind("warning", "a new warning; printed once, when it appears", .warning(nil, remedy: nil)),
            LineKind(
                "engine",
                "how busy the engine of one `process` is; at most once a second, and only along with other lines",
                .engine(nil, load: nil, lints: [], process: 0)),
            LineKind(
                "end", "the last line, after the endings of all sockets", .end(EngineCounters(), status: nil)),
        ]
    }
}

extension FactTeller {
    static func hello(_ told: (program: String, engine: String)?) -> FactTeller {
        FactTeller { tell in
            tell.always("format", "socktui", "the name of this format", kind: .words(["socktui"]))
            tell.always("program", told?.program, "the program that writes it, and its version")
            tell.always("engine", told?.engine, "its engine")
        }
    }

    /// The program that runs through the relay.
    static func child(_ child: ChildState?) -> FactTeller {
        var (state, connections) = (State.starting, Int?.none)
        var (status, signal, problem) = (Int32?.none, String?.none, String?.none)
        switch child?.phase {
        case .starting, nil: break
        case .running: state = .running
        case .ended(let ending, _, let count):
            (state, connections) = (.ended, count)
            switch ending {
            case .exit(let number): status = number
            case .signal(let number): signal = SignalWords.name(number)
            case .notStarted(let sentence, _): problem = sentence
            }
        }
        return FactTeller { tell in
            tell.always("name", child?.name, "its name")
            tell("process", child?.process, "null if it has none yet")
            tell.always(
                "via", child?.via.rawValue,
                "`connect` if its connects are intercepted, otherwise the proxies it was offered",
                kind: .words(RunRequest.Via.allCases.map(\.rawValue)))
            tell.always("state", state, "what it does")
            tell("status", status, "its exit status")
            tell("signal", signal, "the name of the signal that ended it")
            tell("connections", connections, "how many connections it made through the relay")
            tell.always("not_shown", child?.passed.total, "how many connects bypassed the relay")
            tell(
                "calls_not_shown", child?.callLosses?.lost,
                "with `--calls`: how many came faster than they were read; otherwise null")
            tell("problem", problem, "why it could not be started")
        }
    }

    /// An attached program and its state.
    static func program(_ program: ProgramInfo?) -> FactTeller {
        let (state, problem): (Attached, String?) =
            switch program?.state {
            case .live, nil: (.live, nil)
            case .silent: (.silent, nil)
            case .ended(let why), .failed(let why): (.ended, why)
            }
        return FactTeller { tell in
            tell.always("process", program?.process, "its process")
            tell.always("name", program?.name, "its name")
            tell.always("rights", program?.rights, "what the viewer may do")
            tell.always("state", state, "whether it still sends updates")
            tell("problem", problem, "why it stopped sending updates")
            tell("dropped_packets", program?.dropped, "for a capture, what the kernel dropped")
        }
    }

    private enum State: String, CaseIterable, WireWord { case starting, running, ended }
    private enum Attached: String, CaseIterable, WireWord { case live, silent, ended }

    static func event(_ event: SocketEvent?) -> FactTeller {
        FactTeller { tell in
            tell.always("sequence", event?.sequence, "its number among the engine's events")
            tell.always("id", event?.socket, "the session")
            tell.always(
                "event", event.map { SocketJSON.word($0.kind) }, "what happened",
                kind: .words(SocketEvent.Kind.allCases.map(SocketJSON.word)))
        }
    }

    static func lost(_ told: (events: UInt64, next: UInt64)?) -> FactTeller {
        FactTeller { tell in
            tell.always("events", told?.events, "how many")
            tell.always("next_sequence", told?.next, "the `sequence` of the next one")
        }
    }

    static func socket(
        _ socket: SocketSnapshot, _ end: PeerEnd?, lints: [String], process: Int
    ) -> FactTeller {
        var tell = FactTeller(socket, of: socket, end)
        tell.list("lints", lints, "the current warnings")
        tell.always("process", process, "the process that owns it")
        return tell
    }

    static func warning(_ finding: Verdict?, remedy: String?) -> FactTeller {
        FactTeller { tell in
            tell("id", finding?.socket, "the session; null for the engine as a whole")
            tell.add(verdict(finding, remedy: remedy))
        }
    }

    /// A finding, without the session that it is about.
    static func verdict(_ finding: Verdict?, remedy: String?) -> FactTeller {
        FactTeller { tell in
            tell.always("lint", finding?.lint, "its name, as in [options](options.md)")
            tell.always(
                "severity", finding?.severity.name, "how bad it is",
                kind: .words(Severity.allCases.map(\.name)))
            tell.always(
                "evidence", finding?.evidence.rawValue,
                """
                `engine`: an engine carries the connection; for other programs' sockets `arguments`: the system calls \
                of their threads, `idle`: no thread has run since the bytes arrived, `wchan`: the kind of wait, \
                `queues`: kernel queues alone
                """, kind: .words(Evidence.allCases.map(\.rawValue)))
            tell("subject", finding?.subject, "the program at fault, as `python3[77]`, or an address; null if unknown")
            tell("for_seconds", finding?.lasting, "for how long, at least; null if it has no duration")
            tell.always("sentence", finding?.sentence, "what is wrong")
            tell("remedy", remedy, "what to do; null if that applies only to our own connections")
            tell(
                "next", finding?.next ?? remedy,
                "a command that shows more if the program at fault is known, otherwise the remedy")
        }
    }

    /// `load` was measured since the last `engine` line, and is unknown in the first.
    static func engine(_ engine: EngineShare?, load: EngineLoad?, lints: [String], process: Int) -> FactTeller {
        FactTeller { tell in
            let times = engine?.times
            tell.always("engine", engine?.engine, "its name")
            tell("busy_share", load?.busy, "since the last such line of the same `process`")
            tell("turns_per_s", load?.turns, "since the last such line of the same `process`")
            tell.always("longest_turn_s", times?.longestTurn, "the longest over the last one to two seconds")
            tell.always("queue_lag_s", times?.queueLag, "the longest over the last one to two seconds")
            tell.always("mailbox_depth", times?.mailboxDepth, "the maximum over the last one to two seconds")
            tell.inline(engine?.counters ?? EngineCounters())
            tell.list("lints", lints, "the current warnings about the engine; with several programs, about any of them")
            tell.always("process", process, "the process that has the engine")
        }
    }

    /// If a signal ends the run, the status is the one that a shell gives it.
    static func end(_ counters: EngineCounters, status: Int32?, signal: Int32? = nil) -> FactTeller {
        FactTeller { tell in
            tell.always("status", signal.map { 128 + $0 } ?? status, "the exit status", kind: .count)
            tell("signal", signal.map(SignalWords.name), "the signal that ended the run, as in `TERM`")
            tell.inline(counters)
        }
    }
}
