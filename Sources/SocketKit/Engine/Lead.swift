import CSocketKitSystem
import Dispatch
import Glibc
import SocketCore
import Synchronization

/// Two threads, of which one leads: it waits for the kernel and runs the engine's turns. Between two turns it also
/// calls delegates on their queues, which saves waking another thread for them and being woken by what they request.
///
/// A callback may block, even until this engine has done something. The other thread therefore stands by, and takes the
/// lead once one callback has lasted from one tick to the next. A thread that has lost the lead finishes its batch, so
/// that callbacks stay in order, and then stands by. While no thread stands by, callbacks go through Dispatch, so one
/// thread always leads, however many callbacks block at once.
///
/// The other thread starts when it is first needed, and sleeps while no callback runs, so an idle engine stays idle.
package final class Lead: Sendable {
    /// Does one pass of the leader's work. Returns `false` once the engine has ended.
    typealias Pass = (Wait) -> Bool

    /// How long the leader waits for the kernel.
    enum Wait {
        /// Until something happens.
        case forEvents
        /// Not at all, because more work is waiting here.
        case never
        /// The kernel is not polled.
        case skipped
    }

    private static let tick = timespec(tv_sec: 0, tv_nsec: 1_000_000)
    /// The number of ticks without a callback after which the standby thread sleeps.
    private static let idleTicks = 3
    /// The number of ticks that a callback may last if its thread waits only for a processor.
    private static let patience = 10
    /// The number of ticks after which the lead is taken however often callbacks end, because the kernel has not been
    /// polled for so long.
    private static let longestService = 30
    /// The number of callback rounds, with the turns they request, before the kernel is polled again.
    private static let rounds = 2
    /// How long the batches of several queues may take one after the other. Batches still waiting after that go through
    /// Dispatch.
    private static let serviceTime = Duration.milliseconds(1)

    /// The thread that leads, or 0 if none does yet.
    private let leader = Atomic<UInt>(0)
    /// The leader's thread number in the kernel.
    private let leaderTask = Atomic<Int32>(0)
    /// The number of the leader's current callback, or 0 if it is in none. No number is used twice, so a thread that
    /// has lost the lead can tell.
    private let mark = Atomic<UInt>(0)
    /// The last number that was used. Only the leader writes it.
    private let lastMark = Atomic<UInt>(0)
    /// Identifies the leader's current service of callbacks, or is 0 if it is in none.
    private let service = Atomic<UInt>(0)
    /// Whether the leader itself has requested a turn.
    private let isRoused = Atomic<Bool>(false)
    /// Whether the other thread is standing by.
    private let isCovered = Atomic<Bool>(false)
    /// Whether the other thread sleeps until the next callback.
    private let isAsleep = Atomic<Bool>(false)
    private let hasEnded = Atomic<Bool>(false)
    private let alarm = DispatchSemaphore(value: 0)
    /// Pumps whose batches the leader will run, and their count.
    private let waiting = Lock<[DelegatePump]>([])
    private let waitingCount = Atomic<Int>(0)
    private let threads = Lock(Threads())

    private struct Threads {
        var name = ""
        /// Creates what a thread does while it leads. `nil` before the start and after the end.
        var makePass: (@Sendable () -> Pass)?
        var hasOther = false
    }

    // MARK: Beginning and end

    /// Starts the thread that leads. Returns 0 or an errno. `makePass` is called once on each thread.
    func start(name: String, _ makePass: @escaping @Sendable () -> Pass) -> Int32 {
        threads.withLock { ($0.name, $0.makePass) = (name, makePass) }
        let failure = ReactorThread.start(name: name) { [self] in
            becomeLeader()
            run(makePass, leads: true)
        }
        if failure != 0 { threads.withLock { $0.makePass = nil } }
        return failure
    }

    /// Ends both threads: the leader when its pass returns `false`, the other one now.
    func end() {
        hasEnded.store(true, ordering: .sequentiallyConsistent)
        let makePass = threads.withLock { $0.makePass.take() }
        withExtendedLifetime(makePass) { wakeOther() }
    }

    private func run(_ makePass: @Sendable () -> Pass, leads: Bool) {
        let pass = makePass()
        var leads = leads
        while leads || standBy() {
            guard pass(takeRoused() || hasWaiting ? .never : .forEvents) else { return end() }
            leads = serve(pass)
        }
    }

    private func becomeLeader() {
        leaderTask.store(csystem_thread_number(), ordering: .relaxed)
        leader.store(pthread_self(), ordering: .sequentiallyConsistent)
    }

    // MARK: The leader

    /// Whether the caller is the thread that leads.
    var isHere: Bool { leader.load(ordering: .sequentiallyConsistent) == pthread_self() }

    /// Requests a turn without waking a thread, if the caller leads. Returns `false` if the leader must be woken.
    ///
    /// The caller may be losing the lead right now. Either it sees that here, or the thread that takes the lead sees
    /// what it stored.
    func rouse() -> Bool {
        guard isHere else { return false }
        isRoused.store(true, ordering: .sequentiallyConsistent)
        return isHere
    }

    private func takeRoused() -> Bool {
        guard isRoused.load(ordering: .sequentiallyConsistent) else { return false }
        isRoused.store(false, ordering: .sequentiallyConsistent)
        return true
    }

    private var hasWaiting: Bool { waitingCount.load(ordering: .relaxed) > 0 }

    /// Queues a batch for the leader to run. Returns `false` if the leader does not take it. A caller on another thread
    /// must wake the leader afterwards.
    func enqueue(_ pump: DelegatePump) -> Bool {
        guard isCovered.load(ordering: .relaxed) else {
            startOther()
            return false
        }
        return waiting.withLock { waiting in
            // A thread that has taken the lead meanwhile has emptied the list and does not look at it again.
            guard isCovered.load(ordering: .relaxed) else { return false }
            waiting.append(pump)
            waitingCount.store(waiting.count, ordering: .relaxed)
            return true
        }
    }

    private func nextWaiting() -> DelegatePump? {
        waiting.withLock { waiting in
            guard !waiting.isEmpty else { return nil }
            waitingCount.store(waiting.count - 1, ordering: .relaxed)
            return waiting.removeFirst()
        }
    }

    /// Sends the batches that wait for the leader through Dispatch.
    private func handOver() {
        while let pump = nextWaiting() { pump.runByDispatch() }
    }

    /// Runs the waiting batches and the turns that they request. Returns `false` if the lead is lost. The leader's
    /// state then belongs to the other thread and must not be touched.
    private func serve(_ pass: Pass) -> Bool {
        guard hasWaiting else { return true }
        service.store(lastMark.load(ordering: .relaxed) &+ 1, ordering: .sequentiallyConsistent)
        for _ in 0..<Self.rounds {
            guard runWaiting() else { return false }
            guard isRoused.load(ordering: .relaxed), takeRoused() else { break }
            _ = pass(.skipped)
        }
        service.store(0, ordering: .sequentiallyConsistent)
        return true
    }

    /// Runs the batches that are waiting now, but not those added meanwhile. Returns `false` if the lead is lost.
    private func runWaiting() -> Bool {
        let count = waitingCount.load(ordering: .relaxed)
        let end = count > 1 ? SystemClock().now + Self.serviceTime : nil
        for _ in 0..<count {
            guard let pump = nextWaiting() else { return true }
            guard pump.runBatch(leading: self) else { return false }
            if let end, SystemClock().now > end {
                handOver()
                return true
            }
        }
        return true
    }

    // MARK: Callbacks of the leader

    /// Marks the start of user code on the leader. Returns the number of the callback.
    func beginCalling() -> UInt {
        let number = lastMark.load(ordering: .relaxed) &+ 1
        mark.store(number, ordering: .sequentiallyConsistent)
        if isAsleep.load(ordering: .sequentiallyConsistent) { wakeOther() }
        return number
    }

    /// Marks the start of the next callback. Has no effect once the lead is lost.
    func goOn(_ number: inout UInt) {
        if mark.compareExchange(expected: number, desired: number &+ 1, ordering: .sequentiallyConsistent).exchanged {
            number &+= 1
        }
    }

    /// Marks the end of user code. Returns `false` if the lead is lost.
    func endCalling(_ number: UInt) -> Bool {
        guard mark.compareExchange(expected: number, desired: 0, ordering: .sequentiallyConsistent).exchanged else {
            return false
        }
        // Between two callbacks no thread takes the lead.
        lastMark.store(number, ordering: .relaxed)
        return true
    }

    // MARK: The other thread

    var isOtherAsleep: Bool { isAsleep.load(ordering: .sequentiallyConsistent) }

    private func startOther() {
        let (name, makePass) = threads.withLock { threads -> (String, (@Sendable () -> Pass)?) in
            guard !threads.hasOther, threads.makePass != nil else { return ("", nil) }
            threads.hasOther = true
            return (threads.name, threads.makePass)
        }
        guard let makePass else { return }
        // Without a second thread, all callbacks go through Dispatch.
        _ = ReactorThread.start(name: name) { [self] in run(makePass, leads: false) }
    }

    private func wakeOther() {
        if isAsleep.exchange(false, ordering: .sequentiallyConsistent) { alarm.signal() }
    }

    /// Checks the leader every millisecond and takes the lead when it is stuck. Returns `false` at the end.
    private func standBy() -> Bool {
        isCovered.store(true, ordering: .sequentiallyConsistent)
        var (callback, services) = (Unchanged(), Unchanged())
        while !hasEnded.load(ordering: .sequentiallyConsistent) {
            let now = mark.load(ordering: .sequentiallyConsistent)
            callback.look(at: now == 0 ? lastMark.load(ordering: .relaxed) : now)
            services.look(at: service.load(ordering: .sequentiallyConsistent))
            if now == 0 {
                if callback.ticks >= Self.idleTicks { sleep() }
            } else if callback.ticks >= Self.patience || callback.ticks > 0 && isLeaderBlocked {
                if claimLead(at: now) { return true }
            } else if services.value != 0, services.ticks >= Self.longestService, claimLeadBetweenCallbacks() {
                return true
            }
            var tick = Self.tick
            nanosleep(&tick, nil)
        }
        return false
    }

    /// Counts the ticks for which a value has not changed.
    private struct Unchanged {
        private(set) var value: UInt = 0
        private(set) var ticks = 0

        mutating func look(at found: UInt) {
            ticks = found == value ? ticks + 1 : 0
            value = found
        }
    }

    /// Takes the lead when callbacks are so short that none lasts from one tick to the next.
    private func claimLeadBetweenCallbacks() -> Bool {
        for _ in 0..<1_000 {
            let now = mark.load(ordering: .sequentiallyConsistent)
            if now != 0, claimLead(at: now) { return true }
        }
        return false
    }

    private func sleep() {
        isAsleep.store(true, ordering: .sequentiallyConsistent)
        // A callback may have started before it saw the flag.
        let mustStay =
            mark.load(ordering: .sequentiallyConsistent) != 0 || hasEnded.load(ordering: .sequentiallyConsistent)
        if mustStay, isAsleep.exchange(false, ordering: .sequentiallyConsistent) { return }
        alarm.wait()
    }

    /// Takes the lead from a thread that is in this callback, unless the callback has returned.
    private func claimLead(at number: UInt) -> Bool {
        // From here on no batch is left to the leader, so the list is complete.
        isCovered.store(false, ordering: .sequentiallyConsistent)
        guard mark.compareExchange(expected: number, desired: 0, ordering: .sequentiallyConsistent).exchanged else {
            isCovered.store(true, ordering: .sequentiallyConsistent)
            return false
        }
        // Keep clear of the numbers that the former leader may still use.
        lastMark.store(number &+ 1 << 32, ordering: .relaxed)
        service.store(0, ordering: .sequentiallyConsistent)
        becomeLeader()
        handOver()
        return true
    }

    /// Whether the leader waits for anything but a processor. Returns `true` if that is not known.
    private var isLeaderBlocked: Bool {
        let path = "/proc/self/task/\(leaderTask.load(ordering: .relaxed))/stat"
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return true }
        defer { close(file) }
        var text = [UInt8](repeating: 0, count: 256)
        let count = read(file, &text, text.count)
        // The state follows the name. The name is in parentheses and may contain some itself.
        guard count > 0, let end = text[..<count].lastIndex(of: UInt8(ascii: ")")), end + 2 < count else { return true }
        return text[end + 2] != UInt8(ascii: "R")
    }
}
