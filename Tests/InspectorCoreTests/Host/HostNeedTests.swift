import InspectorCore
import Testing

/// What a host lacks is told in one place, with its reason.
@Suite("What works on this host")
struct HostNeedTests {
    /// What is found, and what one row says of it.
    struct Case: Sendable, CustomStringConvertible {
        var row: String
        var word: String
        var sentence: String
        var change: @Sendable (inout HostGrounds) -> Void
        var description: String { "\(row): \(sentence)" }

        init(
            _ row: String, _ word: String, _ sentence: String, _ change: @escaping @Sendable (inout HostGrounds) -> Void
        ) {
            (self.row, self.word, self.sentence, self.change) = (row, word, sentence, change)
        }
    }

    /// Root on a kernel that allows all.
    private static var root: HostGrounds {
        var grounds = HostGrounds()
        (grounds.kernel, grounds.capabilities, grounds.ringsDisabled) = ("6.18.0 x86_64", ~0, 2)
        return grounds
    }

    private static func user(_ change: @escaping @Sendable (inout HostGrounds) -> Void)
        -> @Sendable (inout HostGrounds)
        -> Void
    {
        { grounds in
            (grounds.user, grounds.capabilities) = (1_000, 0)
            change(&grounds)
        }
    }

    private static let cases = [
        Case("kernel", "works", "6.18.0 x86_64") { _ in },
        Case("sock_diag", "missing", "the kernel does not list TCP over IPv4 (sock_diag): No such file or directory") {
            $0.diagnosis = "the kernel does not list TCP over IPv4 (sock_diag): No such file or directory"
        },
        Case("owners", "limited", "of your own programs only; sudo socktui shows all", user { _ in }),
        Case("owners", "limited", "of your own programs only; more need CAP_SYS_PTRACE") { $0.capabilities = 0 },
        Case(
            "owners", "limited",
            "of your own programs only; sudo socktui shows all; other users' processes are hidden (hidepid)",
            user { $0.hidesProcesses = true }),
        Case("system calls", "works", "of all users' programs") { $0.traceScope = 2 },
        Case("system calls", "limited", "of your own programs only", user { $0.traceScope = 0 }),
        Case(
            "system calls", "limited",
            "ptrace_scope 1: only the kind of wait is shown; sudo socktui shows the arguments",
            user { $0.traceScope = 1 }),
        Case(
            "system calls", "limited",
            "ptrace_scope 3: only the kind of wait is shown, to root too, until the next boot"
        ) { $0.traceScope = 3 },
        Case(
            "system calls", "limited", "process_vm_readv: Operation not permitted; only the kind of wait is shown"
        ) { $0.memory = "Operation not permitted" },
        Case(
            "idle times", "missing",
            "this kernel does not report them (before Linux 6.15, they need CONFIG_SCHED_DEBUG)"
        ) { $0.hasSchedule = false },
        Case(
            "namespaces", "missing",
            "only this network namespace: others need CAP_SYS_ADMIN and CAP_SYS_PTRACE", user { _ in }),
        Case(
            "pidfd_getfd", "missing",
            "Operation not permitted: unread bytes are not shown, and run takes only blocking connects"
        ) { $0.duplicate = "Operation not permitted" },
        Case("pidfd_getfd", "works", "for your own programs", user { _ in }),
        Case(
            "pidfd_getfd", "missing", "ptrace_scope 2: u is refused, and run offers a proxy; sudo socktui allows both",
            user { $0.traceScope = 2 }),
        Case("pidfd_getfd", "missing", "ptrace_scope 3: u is refused, and run offers a proxy, until the next boot") {
            $0.traceScope = 3
        },
        Case(
            "pidfd_getfd", "limited", "ptrace_scope 1: u is refused; sudo socktui allows it", user { $0.traceScope = 1 }
        ),
        Case("seccomp", "missing", "this kernel cannot pass calls on (user_notif): run offers a proxy") {
            $0.hasNotices = false
        },
        Case(
            "seccomp", "limited",
            "this process has a filter already, which may forbid another: run may offer a proxy"
        ) { $0.isFiltered = true },
        Case("io_uring", "works", "off here, so nothing is missed") { $0.ringsDisabled = 2 },
        Case("io_uring", "limited", "off for most users' programs; of others, it is not seen") {
            $0.ringsDisabled = 1
        },
        Case("io_uring", "limited", "not seen") { $0.ringsDisabled = nil },
        Case("CAP_NET_RAW", "missing", "capturing needs it: run sudo socktui capture", user { _ in }),
        Case("libpcap", "missing", "libpcap is needed") { $0.libpcapProblem = "libpcap is needed" },
        Case("tshark", "missing", "tshark is not installed") { $0.tsharkProblem = "tshark is not installed" },
    ]

    @Test("each thing that is missing is told with its reason", arguments: cases)
    func told(_ item: Case) throws {
        var grounds = Self.root
        item.change(&grounds)
        let row = try #require(HostNeed.all.first { $0.name == item.row })
        let answer = row.judge(grounds)
        #expect(answer.word == item.word)
        #expect(answer.sentence == item.sentence)
        let line = HostNeed.lines(grounds).first { $0.hasPrefix(row.name) }
        #expect(line?.contains(row.use) == true && line?.hasSuffix(item.sentence) == true)
        #expect(HostNeed.json(grounds).text.contains(#""name":"\#(row.name)","state":"\#(item.word)""#))
    }

    @Test("where nothing is missing, every row works, and every row that can fail has a case")
    func whole() {
        #expect(HostNeed.all.allSatisfy { $0.judge(Self.root).word == "works" })
        #expect(Set(Self.cases.map(\.row)) == Set(HostNeed.all.map(\.name)))
    }
}
