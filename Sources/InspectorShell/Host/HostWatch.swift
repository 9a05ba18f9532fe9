import Dispatch
import HostSockets
import InspectorCore
import SocketCore

/// Inspects the host repeatedly and feeds a judge. Not for use on an engine's queue, because a look takes milliseconds.
package struct HostWatch {
    private let observer: HostObserver
    private let namespace: Int32?
    private let stopMark: StopMark
    package private(set) var judge: HostJudge
    /// The last look, with what was learned about the programs.
    package private(set) var look = HostLook(time: .zero, sockets: [])

    /// `stopMark` ends `settle` early, which then throws.
    package init(
        _ options: HostOptions, _ lints: LintSettings, _ system: HostSystem = .live, stopMark: StopMark = StopMark()
    ) {
        self.stopMark = stopMark
        observer = HostObserver(
            system, readsCalls: options.readsCalls, namespace: options.namespace,
            entersOthers: options.namespace == nil && options.entersOthers)
        namespace = options.namespace
        judge = HostJudge(lints)
    }

    /// Takes one look. With `readsPrograms`, also examines what suspects and the owners of `inodes` and `processes`
    /// wait for. `isAsked` says that whom these wait for, and who waits for them, is examined too, however short the wait.
    package mutating func see(
        readsPrograms: Bool, inodes: Set<UInt64> = [], processes: [Int32] = [], ownersBudget: Duration? = nil,
        isAsked: Bool = false
    ) throws(HostObserver.Problem) {
        var now = try observer.look()
        let suspects = judge.absorb(now)
        guard readsPrograms else { return look = now }
        if let ownersBudget { observer.tellOwners(of: &now, budget: ownersBudget) }
        // Who waits for whom is followed from what is asked about, or from the oldest waits.
        let waits = isAsked ? judge.reach(of: inodes, processes, in: now) : judge.oldReach(in: now)
        let wanted = suspects.union(inodes).union(waits)
        observer.examine(
            &now, inodes: wanted, suspects: suspects, reads: true, budget: ownersBudget.map { $0 * 4 })
        for process in processes { observer.examine(&now, process: process, inodes: wanted) }
        judge.absorbExamined(now)
        look = now
    }

    /// Releases what is held of other processes until the next look.
    package func rest() { observer.rest() }

    /// Returns the unread bytes of a socket from the last look.
    package func peek(_ id: UInt64, process: Int32, descriptor: Int32) throws(HostObserver.Problem) -> UnreadBytes {
        guard let socket = look.sockets.first(where: { $0.id == id }) else {
            return UnreadBytes(reason: "it is closed")
        }
        return try observer.peek(socket, process: process, descriptor: descriptor)
    }

    /// The inspected place, in words.
    package var place: String {
        if let namespace { return "in the network namespace of process \(namespace)" }
        return observer.entersOthers ? "on this host" : "in this network namespace"
    }

    /// Returns the processes of that name.
    package func processes(named name: String) -> [Int32] { observer.processes(named: name).map(\.id.number) }

    /// Returns the name of a process that has this text in its name.
    package func name(with text: String) -> String? {
        observer.processes { names in names.contains { $0.contains(text) } }.first?.name
    }

    /// Looks for one second, and then until problems of stalled bytes are proven or cleared, at most for `span`, as
    /// `--check` does. `isMeant` selects the sockets whose programs are examined even if nothing seems wrong with them.
    /// Undecided problems of other sockets are not waited for, unless they are related to these.
    package mutating func settle(
        span: Duration?, processes: [Int32] = [],
        about isMeant: ((HostSocket) -> Bool)? = nil
    ) throws(HostObserver.Problem) {
        let began = ContinuousClock.now
        let budget = isMeant == nil ? Self.ownersBudget : Self.askedBudget
        func inodes(_ look: HostLook) -> Set<UInt64> {
            let meant = isMeant.map { look.sockets.filter($0) } ?? []
            return Set(meant.flatMap { [$0.inode, judge.peer(of: $0.id)?.inode ?? 0] }).subtracting([0])
        }
        func seeAll() throws(HostObserver.Problem) {
            do throws(HostObserver.Problem) {
                try see(
                    readsPrograms: true, inodes: inodes(look), processes: processes, ownersBudget: budget,
                    isAsked: isMeant != nil)
            } catch {
                // Memory or descriptors were short for a moment. What was seen before must not be lost by that.
                guard error.isPassing else { throw error }
                try pause(Self.second)
                try see(
                    readsPrograms: true, inodes: inodes(look), processes: processes, ownersBudget: budget,
                    isAsked: isMeant != nil)
            }
        }
        try see(readsPrograms: false)
        try pause(Self.first)
        try seeAll()
        // A single look is not enough to report a problem.
        try pause(Self.second)
        try seeAll()
        let most = span ?? Self.most
        while .now - began < most, span != nil || isUndecided(processes, isMeant) {
            try pause(min(Self.later, most - (.now - began)))
            try seeAll()
        }
        // Where processor time is short, few looks were taken, and the first ones found not all programs.
        for _ in 0..<Self.spareLooks where span == nil && mayRunOn(processes, isMeant) {
            try pause(Self.later)
            try seeAll()
        }
    }

    private func mayRunOn(_ processes: [Int32], _ isMeant: ((HostSocket) -> Bool)?) -> Bool {
        guard let isMeant else { return false }
        return judge.mayRunOn(about: Set(look.sockets.filter(isMeant).map(\.id)), Set(processes))
    }

    private func isUndecided(_ processes: [Int32], _ isMeant: ((HostSocket) -> Bool)?) -> Bool {
        let undecided = judge.verdicts().undecided
        guard let isMeant, !undecided.isEmpty else { return !undecided.isEmpty }
        return !undecided.isDisjoint(with: judge.related(to: look.sockets.filter(isMeant), Set(processes)))
    }

    private static let first = Duration.seconds(1)
    private static let second = Duration.milliseconds(310)
    /// The time that each look may spend finding the owners of all sockets.
    private static let ownersBudget = Duration.milliseconds(300)
    /// The same if an answer about some sockets is waited for, which must not lack a program because the host is busy.
    private static let askedBudget = Duration.seconds(3)
    private static let later = Duration.milliseconds(930)
    private static let most = Duration.milliseconds(6200)
    private static let spareLooks = 3

    /// Blocks the calling thread, and nothing else in this program.
    private func pause(_ time: Duration) throws(HostObserver.Problem) {
        stopMark.pause(time)
        if stopMark.isStopped { throw HostObserver.Problem(sentence: "cancelled") }
    }
}
