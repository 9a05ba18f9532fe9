import Dispatch
import HostSockets
import InspectorCore
import SocketCore

/// Looks at the host again and again, and lets a judge judge. Not for an engine's queue: a look takes milliseconds.
struct HostWatch {
    private let observer: HostObserver
    private let namespace: Int32?
    private(set) var judge: HostJudge
    /// The last look, with what was learnt of the programs.
    private(set) var look = HostLook(time: .zero, sockets: [])

    init(_ options: HostOptions, _ lints: LintSettings, _ system: HostSystem = .live) {
        observer = HostObserver(
            system, readsCalls: options.readsCalls, namespace: options.namespace,
            entersOthers: options.namespace == nil && options.entersOthers)
        namespace = options.namespace
        judge = HostJudge(lints)
    }

    /// One look. `readsPrograms`: what the programs of suspects, of `inodes` and `processes` wait for, too.
    mutating func see(
        readsPrograms: Bool, inodes: Set<UInt64> = [], processes: [Int32] = [], ownersBudget: Duration? = nil
    ) throws(HostObserver.Problem) {
        var now = try observer.look()
        let suspects = judge.take(now)
        guard readsPrograms else { return look = now }
        if let ownersBudget { observer.tellOwners(of: &now, budget: ownersBudget) }
        let wanted = suspects.union(inodes)
        observer.examine(
            &now, inodes: wanted, suspects: suspects, reads: true, budget: ownersBudget.map { $0 * 4 })
        for process in processes { observer.examine(&now, process: process, inodes: wanted) }
        judge.takeExamined(now)
        look = now
    }

    /// Lets go of what is held of others until the next look.
    func rest() { observer.rest() }

    /// The unread bytes of a socket of the last look.
    func peek(_ id: UInt64, process: Int32, descriptor: Int32) throws(HostObserver.Problem) -> UnreadBytes {
        guard let socket = look.sockets.first(where: { $0.id == id }) else {
            return UnreadBytes(reason: "it is closed")
        }
        return try observer.peek(socket, process: process, descriptor: descriptor)
    }

    /// What is looked at, in words.
    var place: String {
        if let namespace { return "the network namespace of process \(namespace)" }
        return observer.entersOthers ? "this host" : "this network namespace"
    }

    /// The processes of a name.
    func processes(named name: String) -> [Int32] { observer.processes(named: name).map(\.id.number) }

    /// Looks for a second, and then until what stands is proven or cleared, `span` at most; as `--check` does.
    /// `about`: the sockets whose programs are looked at even if nothing speaks against them; the others are not waited
    /// for, unless they have to do with these.
    mutating func settle(
        span: Duration?, isOnce: Bool = false, processes: [Int32] = [],
        about isMeant: ((HostSocket) -> Bool)? = nil
    ) throws(HostObserver.Problem) {
        let began = ContinuousClock.now
        func inodes(_ look: HostLook) -> Set<UInt64> {
            let meant = isMeant.map { look.sockets.filter($0) } ?? []
            return Set(meant.flatMap { [$0.inode, judge.peer(of: $0.id)?.inode ?? 0] }).subtracting([0])
        }
        func seeAll() throws(HostObserver.Problem) {
            try see(
                readsPrograms: true, inodes: inodes(look), processes: processes, ownersBudget: Self.ownersBudget)
        }
        try see(readsPrograms: false)
        if isOnce { return try seeAll() }
        Self.pause(Self.first)
        try seeAll()
        // Nobody is accused by one look alone.
        Self.pause(Self.second)
        try seeAll()
        let most = span ?? Self.most
        while .now - began < most, span != nil || isUndecided(processes, isMeant) {
            Self.pause(min(Self.later, most - (.now - began)))
            try seeAll()
        }
    }

    private func isUndecided(_ processes: [Int32], _ isMeant: ((HostSocket) -> Bool)?) -> Bool {
        let undecided = judge.verdicts().undecided
        guard let isMeant, !undecided.isEmpty else { return !undecided.isEmpty }
        return !undecided.isDisjoint(with: judge.related(to: look.sockets.filter(isMeant), Set(processes)))
    }

    private static let first = Duration.seconds(1)
    private static let second = Duration.milliseconds(310)
    /// How much of each look may go into finding out whose all sockets are.
    private static let ownersBudget = Duration.milliseconds(300)
    private static let later = Duration.milliseconds(930)
    private static let most = Duration.milliseconds(6200)

    /// Waits; nothing of this program's is held up by it but the caller.
    static func pause(_ time: Duration) {
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .nanoseconds(Int(max(0, time.wholeNanoseconds))))
    }
}
