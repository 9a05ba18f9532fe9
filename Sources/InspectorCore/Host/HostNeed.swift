/// Something of this host that socktui needs, one row each.
package struct HostNeed: Sendable {
    /// What there is of it, with the reason why there is not more.
    package enum Answer: Equatable, Sendable {
        case works(String = "")
        case limited(String)
        case missing(String)

        /// One word, for the table and for JSON.
        package var word: String {
            switch self {
            case .works: "works"
            case .limited: "limited"
            case .missing: "missing"
            }
        }

        package var sentence: String {
            switch self {
            case .works(let sentence), .limited(let sentence), .missing(let sentence): sentence
            }
        }
    }

    package let name: String
    /// What it is for.
    package let use: String
    /// How it is found.
    package let source: String
    package let judge: @Sendable (HostGrounds) -> Answer

    package static let all: [HostNeed] = [
        HostNeed(name: "kernel", use: "everything", source: "uname(2)") { .works($0.kernel) },
        HostNeed(name: "sock_diag", use: "sockets of other programs: host, why, capture", source: "by listing them") {
            $0.diagnosis.map { .missing($0) } ?? .works()
        },
        HostNeed(
            name: "owners", use: "which program has a socket", source: "the effective capabilities, and /proc/1",
            judge: owners),
        HostNeed(
            name: "system calls", use: "what a thread waits for, with arguments",
            source: "ptrace_scope of Yama, the effective capabilities, process_vm_readv(2)", judge: calls),
        HostNeed(name: "idle times", use: "since when a thread has not run", source: "/proc/self/sched") {
            $0.hasSchedule
                ? .works()
                : .missing("this kernel does not report them (before Linux 6.15, they need CONFIG_SCHED_DEBUG)")
        },
        HostNeed(name: "namespaces", use: "sockets of containers", source: "the effective capabilities") {
            $0.has(.sysAdmin) && $0.has(.sysPtrace)
                ? .works()
                : .missing("only this network namespace: others need CAP_SYS_ADMIN and CAP_SYS_PTRACE")
        },
        HostNeed(
            name: "pidfd_getfd", use: "unread bytes (u), connects of run", source: "a duplicate of an own descriptor",
            judge: duplicates),
        HostNeed(
            name: "seccomp", use: "connects of run",
            source: "/proc/sys/kernel/seccomp/actions_avail, /proc/self/status", judge: notices),
        HostNeed(
            name: "io_uring", use: "what programs do by it", source: "/proc/sys/kernel/io_uring_disabled", judge: rings),
        HostNeed(name: "CAP_NET_RAW", use: "capture", source: "the effective capabilities") {
            $0.has(.netRaw) ? .works() : .missing("capturing needs it: run sudo socktui capture")
        },
        HostNeed(name: "libpcap", use: "capture", source: "by loading it") {
            $0.libpcapProblem.map { .missing($0) } ?? .works()
        },
        HostNeed(name: "tshark", use: "the dissected view", source: "PATH") {
            $0.tsharkProblem.map { .missing($0) } ?? .works()
        },
    ]

    private static func owners(_ grounds: HostGrounds) -> Answer {
        if grounds.has(.sysPtrace) { return .works("of all users' programs") }
        let more = grounds.user == 0 ? "more need CAP_SYS_PTRACE" : "sudo socktui shows all"
        let hidden = grounds.hidesProcesses ? "; other users' processes are hidden (hidepid)" : ""
        return .limited("of your own programs only; \(more)\(hidden)")
    }

    private static func calls(_ grounds: HostGrounds) -> Answer {
        if let problem = grounds.memory {
            return .limited("process_vm_readv: \(problem); only the kind of wait is shown")
        }
        switch grounds.traceScope ?? 0 {
        case 3...: return .limited("ptrace_scope 3: only the kind of wait is shown, to root too, until the next boot")
        case _ where grounds.has(.sysPtrace): return .works("of all users' programs")
        case 0: return .limited("of your own programs only")
        case let scope:
            return .limited("ptrace_scope \(scope): only the kind of wait is shown; sudo socktui shows the arguments")
        }
    }

    private static func duplicates(_ grounds: HostGrounds) -> Answer {
        if let problem = grounds.duplicate {
            return .missing("\(problem): unread bytes are not shown, and run takes only blocking connects")
        }
        let refused = "u is refused, and run offers a proxy"
        return switch grounds.traceScope ?? 0 {
        case 3...: .missing("ptrace_scope 3: \(refused), until the next boot")
        case _ where grounds.has(.sysPtrace): .works()
        case 0: .works("for your own programs")
        case 1: .limited("ptrace_scope 1: u is refused; sudo socktui allows it")
        case let scope: .missing("ptrace_scope \(scope): \(refused); sudo socktui allows both")
        }
    }

    private static func notices(_ grounds: HostGrounds) -> Answer {
        if !grounds.hasNotices { return .missing("this kernel cannot pass calls on (user_notif): run offers a proxy") }
        return grounds.isFiltered
            ? .limited("this process has a filter already, which may forbid another: run may offer a proxy") : .works()
    }

    private static func rings(_ grounds: HostGrounds) -> Answer {
        switch grounds.ringsDisabled {
        case 2?: .works("off here, so nothing is missed")
        case 1?: .limited("off for most users' programs; of others, it is not seen")
        default: .limited("not seen")
        }
    }
}

extension HostNeed {
    /// Returns a line for each row: its name, what there is of it, and what it is for or why there is not more.
    package static func lines(_ grounds: HostGrounds) -> [String] {
        let width = all.map(\.name.count).max() ?? 0
        return all.map { row in
            let answer = row.judge(grounds)
            let sentence = answer.sentence.isEmpty ? "" : ": \(Sanitizer(isASCII: false).text(answer.sentence))"
            return "\(Format.padded(row.name, to: width))  \(Format.padded(answer.word, to: 7))  \(row.use)\(sentence)"
        }
    }

    /// Returns the rows as one object.
    package static func json(_ grounds: HostGrounds) -> JSON {
        let rows = all.map { row -> JSON in
            let answer = row.judge(grounds)
            return [
                "name": .string(row.name), "state": .string(answer.word), "use": .string(row.use),
                "found_by": .string(row.source),
                "sentence": answer.sentence.isEmpty ? .null : .string(answer.sentence),
            ]
        }
        return ["type": "host", "needs": .array(rows)]
    }
}
