import CSocketKitSystem
import Dispatch
import Glibc
import SocketCore
import Synchronization

/// Two threads of which one leads: it waits for the kernel and runs the engine's turns. Between two turns it also calls
/// delegates on their queues, which saves waking another thread for them and being woken again by what they ask for.
///
/// A callback may block, though, even until this engine has done something. So the other thread stands by, and takes the lead
/// once one callback has lasted from one tick to the next. A thread that has lost the lead finishes its batch, so that
/// callbacks stay in order, and stands by from then on. While nobody stands by, callbacks go by Dispatch, so however many
/// block at once, one thread always leads.
///
/// The other thread begins when it is needed first, and sleeps while no callback is made, so an idle engine stays idle.
package final class Lead: Sendable {
    /// Does one thing that the leader is there for; false at the end of it all.
    typealias Pass = (Wait) -> Bool

    /// For how long the leader waits for the kernel.
    enum Wait {
        /// Until something happens.
        case forEvents
        /// Not at all, since more is to be done here.
        case never
        /// The kernel is not even asked.
        case skipped
    }

    private static let tick = timespec(tv_sec: 0, tv_nsec: 1_000_000)
    /// Ticks without a callback after which the thread that stands by sleeps.
    private static let idleTicks = 3
    /// Ticks for which a callback may last whose thread waits for nothing but a processor.
    private static let patience = 10
    /// Ticks after which the lead is taken however often callbacks end, since the kernel has not been asked for so long.
    private static let longestService = 30
    /// Rounds of callbacks, and turns that came of them, before the kernel is asked again.
    private static let rounds = 2
    /// How long the batches of several queues may take, one after the other. The batches that still wait after that go by
    /// Dispatch.
    private static let serviceTime = Duration.milliseconds(1)

    /// The thread that leads; 0: none yet.
    private let leader = Atomic<UInt>(0)
    /// The kernel's number of that thread.
    private let leaderTask = Atomic<Int32>(0)
    /// The callback that the leader is in; 0: none. No number is used twice, so a thread that has lost the lead can tell.
    private let mark = Atomic<UInt>(0)
    /// The last number that was used. The leader's alone.
    private let lastMark = Atomic<UInt>(0)
    /// Which of its services of callbacks the leader is in; 0: it is in none.
    private let service = Atomic<UInt>(0)
    /// Whether the leader itself has asked for a turn.
    private let isRoused = Atomic<Bool>(false)
    /// Whether the other thread stands by.
    private let isCovered = Atomic<Bool>(false)
    /// Whether it sleeps until the next callback.
    private let isAsleep = Atomic<Bool>(false)
    private let hasEnded = Atomic<Bool>(false)
    private let alarm = DispatchSemaphore(value: 0)
    /// Pumps whose batches the leader is to run, and how many they are.
    private let waiting = Lock<[DelegatePump]>([])
    private let waitingCount = Atomic<Int>(0)
    private let threads = Lock(Threads())

    private struct Threads {
        var name = ""
        /// Makes what a thread does while it leads; nil: before the start, and after the end.
        var makePass: (@Sendable () -> Pass)?
        var hasOther = false
    }

    // MARK: Beginning and end

    /// Starts the thread that leads. 0, or an errno. `makePass` is called on each thread, once.
    func start(name: String, _ makePass: @escaping @Sendable () -> Pass) -> Int32 {
        threads.withLock { ($0.name, $0.makePass) = (name, makePass) }
        return ReactorThread.start(name: name) { [self] in
            becomeLeader()
            run(makePass, leads: true)
        }
    }

    /// Both threads end: the leader when its pass says so, the other one now.
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

    /// Asks for a turn, if the caller leads: then nobody need be woken. False: the leader has to be.
    ///
    /// The caller may be losing the lead right now. Either it sees that here, or who takes the lead sees what it stored.
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

    /// Has a batch run by the leader; false if it does not take it. The caller may be another thread, which wakes the leader
    /// then.
    func take(_ pump: DelegatePump) -> Bool {
        guard isCovered.load(ordering: .relaxed) else {
            startOther()
            return false
        }
        return waiting.withLock { waiting in
            // Who has taken the lead meanwhile has emptied the list, and looks at it no more.
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

    /// What waits for the leader goes by Dispatch.
    private func handOver() {
        while let pump = nextWaiting() { pump.runByDispatch() }
    }

    /// Runs the batches that wait, and the turns that they ask for; false if the lead is lost. Then nothing of it is touched
    /// any more: it is the other thread's.
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

    /// Runs the batches that wait now; those that are added meanwhile have to wait.
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

    /// The leader is about to run code of the user's. Returns the number of that.
    func beginCalling() -> UInt {
        let number = lastMark.load(ordering: .relaxed) &+ 1
        mark.store(number, ordering: .sequentiallyConsistent)
        if isAsleep.load(ordering: .sequentiallyConsistent) { wakeOther() }
        return number
    }

    /// The next callback begins. No effect once the lead is lost.
    func goOn(_ number: inout UInt) {
        if mark.compareExchange(expected: number, desired: number &+ 1, ordering: .sequentiallyConsistent).exchanged {
            number &+= 1
        }
    }

    /// The user's code is done; false if the lead is lost.
    func endCalling(_ number: UInt) -> Bool {
        guard mark.compareExchange(expected: number, desired: 0, ordering: .sequentiallyConsistent).exchanged else {
            return false
        }
        // Between two callbacks nobody takes the lead.
        lastMark.store(number, ordering: .relaxed)
        return true
    }

    // MARK: The other thread

    /// Whether it sleeps.
    var isOtherAsleep: Bool { isAsleep.load(ordering: .sequentiallyConsistent) }

    private func startOther() {
        let (name, makePass) = threads.withLock { threads in
            defer { threads.hasOther = true }
            return (threads.name, threads.hasOther ? nil : threads.makePass)
        }
        guard let makePass else { return }
        // Without a second thread everything goes by Dispatch.
        _ = ReactorThread.start(name: name) { [self] in run(makePass, leads: false) }
    }

    private func wakeOther() {
        if isAsleep.exchange(false, ordering: .sequentiallyConsistent) { alarm.signal() }
    }

    /// Looks at the leader every millisecond, and takes the lead when it is stuck; false at the end.
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
                if takeLead(at: now) { return true }
            } else if services.value != 0, services.ticks >= Self.longestService, takeLeadBetweenCallbacks() {
                return true
            }
            var tick = Self.tick
            nanosleep(&tick, nil)
        }
        return false
    }

    /// For how many ticks something has been the same.
    private struct Unchanged {
        private(set) var value: UInt = 0
        private(set) var ticks = 0

        mutating func look(at found: UInt) {
            ticks = found == value ? ticks + 1 : 0
            value = found
        }
    }

    /// Callbacks may be so short that none is the same for long enough.
    private func takeLeadBetweenCallbacks() -> Bool {
        for _ in 0..<1_000 {
            let now = mark.load(ordering: .sequentiallyConsistent)
            if now != 0, takeLead(at: now) { return true }
        }
        return false
    }

    private func sleep() {
        isAsleep.store(true, ordering: .sequentiallyConsistent)
        // A callback may have begun before it saw that.
        let mustStay =
            mark.load(ordering: .sequentiallyConsistent) != 0 || hasEnded.load(ordering: .sequentiallyConsistent)
        if mustStay, isAsleep.exchange(false, ordering: .sequentiallyConsistent) { return }
        alarm.wait()
    }

    /// Takes the lead from a thread that is in this callback, unless it has come back from it.
    private func takeLead(at number: UInt) -> Bool {
        // From now on nothing is left to the leader any more, so what waits for it now is all.
        isCovered.store(false, ordering: .sequentiallyConsistent)
        guard mark.compareExchange(expected: number, desired: 0, ordering: .sequentiallyConsistent).exchanged else {
            isCovered.store(true, ordering: .sequentiallyConsistent)
            return false
        }
        // Far from the numbers that the former leader may still use.
        lastMark.store(number &+ 1 << 32, ordering: .relaxed)
        service.store(0, ordering: .sequentiallyConsistent)
        becomeLeader()
        handOver()
        return true
    }

    /// Whether the leader waits for something other than a processor; true if that is not known.
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
