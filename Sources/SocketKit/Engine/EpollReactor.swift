import CSocketKitSystem
import Glibc
import SocketCore
import Synchronization

/// One thread in epoll_wait, the one that leads. It enters the engine through `turn`, which is `queue.sync`, so the
/// turn runs on this thread without a thread switch. One timerfd in the set is the engine's next deadline. One eventfd
/// wakes the thread, another ends it. All are opened by `start`, which can be called again if it fails.
///
/// A request for a turn wakes this thread, not one of Dispatch's. Those come and go by the dozen under load, and memory
/// that turns allocate would be spread over as many of malloc's arenas.
package final class EpollReactor: Reactor {
    private let epoll = Atomic<Int32>(-1)
    private let timer = Atomic<Int32>(-1)
    private let rousing = Atomic<Int32>(-1)
    private let ending = Atomic<Int32>(-1)
    private let hasStarted = Atomic<Bool>(false)
    /// Why `start` failed last.
    private let whyNotStarted = Atomic<Int32>(0)
    private let hasTimerCome = Atomic<Bool>(false)
    private let leading = Lead()
    private static let timerMark = UInt64.max
    private static let endingMark = UInt64.max - 1
    private static let rousingMark = UInt64.max - 2
    private static let batchLimit = 256

    package init() {}

    deinit { closeDescriptors() }

    package func start(_ turn: @escaping @Sendable ([Readiness]) -> Void) -> Int32 {
        var failure = openDescriptors()
        if failure == 0 {
            failure = leading.start(name: "SocketKit") { [self] in
                let events = EventBuffer(capacity: Self.batchLimit)
                return { [self] wait in pass(wait, events, turn) }
            }
        }
        if failure == 0 {
            hasStarted.store(true, ordering: .sequentiallyConsistent)
        } else {
            whyNotStarted.store(failure, ordering: .relaxed)
            closeDescriptors()
        }
        return failure
    }

    /// Opens what the thread waits for. Returns 0 or an errno.
    private func openDescriptors() -> Int32 {
        var failure = Self.keep(epoll_create1(Int32(EPOLL_CLOEXEC)), in: epoll)
        if failure == 0 {
            failure = Self.keep(timerfd_create(CLOCK_MONOTONIC, Int32(TFD_NONBLOCK) | Int32(TFD_CLOEXEC)), in: timer)
        }
        if failure == 0 { failure = Self.keep(eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC)), in: rousing) }
        if failure == 0 { failure = Self.keep(eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC)), in: ending) }
        if failure == 0 { failure = watch(timer, EPOLLIN.rawValue, Self.timerMark) }
        // Edge-triggered, so that its counter need not be read: it would take centuries to fill.
        if failure == 0 { failure = watch(rousing, EPOLLIN.rawValue | EPOLLET.rawValue, Self.rousingMark) }
        return failure == 0 ? watch(ending, EPOLLIN.rawValue, Self.endingMark) : failure
    }

    private static func keep(_ descriptor: Int32, in place: borrowing Atomic<Int32>) -> Int32 {
        if descriptor < 0 { return errno }
        place.store(descriptor, ordering: .relaxed)
        return 0
    }

    private func watch(_ place: borrowing Atomic<Int32>, _ bits: UInt32, _ mark: UInt64) -> Int32 {
        control(EPOLL_CTL_ADD, place.load(ordering: .relaxed), bits, mark)
    }

    private func closeDescriptors() {
        for descriptor in [
            epoll.exchange(-1, ordering: .relaxed), timer.exchange(-1, ordering: .relaxed),
            rousing.exchange(-1, ordering: .relaxed), ending.exchange(-1, ordering: .relaxed),
        ] where descriptor >= 0 {
            close(descriptor)
        }
    }

    package var lead: Lead? { leading }

    /// Polls the kernel once and runs the resulting turn. Returns `false` if the engine has ended.
    private func pass(_ wait: Lead.Wait, _ events: EventBuffer, _ turn: ([Readiness]) -> Void) -> Bool {
        guard wait != .skipped else {
            turn([])
            return true
        }
        let count = epoll_wait(
            epoll.load(ordering: .relaxed), events.memory.baseAddress, Int32(Self.batchLimit), wait == .never ? 0 : -1)
        guard count >= 0 else {
            precondition(errno == EINTR, "epoll_wait: errno \(errno)")
            return true
        }
        guard let batch = batch(of: Int(count), events) else { return false }
        turn(batch)
        events.giveBack(batch)
        return true
    }

    /// Returns what the kernel reported, or `nil` if the engine has ended.
    private func batch(of count: Int, _ events: EventBuffer) -> [Readiness]? {
        var batch = events.takeBatch()
        for event in events.memory.prefix(count) {
            switch event.data.u64 {
            case Self.endingMark: return nil
            case Self.timerMark: drainTimer()
            case Self.rousingMark: break
            default: batch.append(Self.readiness(event))
            }
        }
        return batch
    }

    /// The memory into which a thread receives reports of the kernel.
    private final class EventBuffer {
        let memory: UnsafeMutableBufferPointer<epoll_event>
        private var batch: [Readiness] = []

        init(capacity: Int) {
            memory = .allocate(capacity: capacity)
            batch.reserveCapacity(capacity)
        }

        /// Returns an empty batch with reserved memory.
        func takeBatch() -> [Readiness] {
            var taken: [Readiness] = []
            swap(&taken, &batch)
            // Not in `giveBack`, where the turn's reference still counts, and its memory would be allocated anew.
            taken.removeAll(keepingCapacity: true)
            return taken
        }

        func giveBack(_ used: consuming [Readiness]) { batch = used }

        deinit { memory.deallocate() }
    }

    private static func readiness(_ event: epoll_event) -> Readiness {
        let bits = event.events
        let mark = event.data.u64
        return Readiness(
            ReactorToken(SocketID(mark >> 16), UInt16(truncatingIfNeeded: mark)),
            readable: bits & EPOLLIN.rawValue != 0, writable: bits & EPOLLOUT.rawValue != 0,
            peerClosed: bits & EPOLLRDHUP.rawValue != 0,
            hungUp: bits & EPOLLHUP.rawValue != 0, hasError: bits & EPOLLERR.rawValue != 0,
            urgent: bits & EPOLLPRI.rawValue != 0)
    }

    package func add(_ descriptor: Int32, _ interest: Interest, _ token: ReactorToken) -> Int32 {
        control(EPOLL_CTL_ADD, descriptor, Self.bits(interest), token.socket.number << 16 | UInt64(token.index))
    }

    package func modify(_ descriptor: Int32, _ interest: Interest, _ token: ReactorToken) -> Int32 {
        control(EPOLL_CTL_MOD, descriptor, Self.bits(interest), token.socket.number << 16 | UInt64(token.index))
    }

    package func remove(_ descriptor: Int32) {
        _ = control(EPOLL_CTL_DEL, descriptor, 0, 0)
    }

    private static func bits(_ interest: Interest) -> UInt32 {
        (interest.contains(.read) ? EPOLLIN.rawValue | EPOLLRDHUP.rawValue : 0)
            | (interest.contains(.write) ? EPOLLOUT.rawValue : 0)
            | (interest.contains(.peerClosed) ? EPOLLRDHUP.rawValue : 0)
            | (interest.contains(.urgent) ? EPOLLPRI.rawValue : 0)
    }

    private func control(_ operation: Int32, _ descriptor: Int32, _ bits: UInt32, _ mark: UInt64) -> Int32 {
        var event = epoll_event(events: bits, data: epoll_data_t(u64: mark))
        guard epoll_ctl(epoll.load(ordering: .relaxed), operation, descriptor, &event) < 0 else { return 0 }
        let failure = errno
        let isOpen = epoll.load(ordering: .relaxed) >= 0
        return isOpen ? failure : whyNotStarted.load(ordering: .relaxed)
    }

    package func wake(at deadline: MonotonicTime?) {
        // A zero time would disarm the timer; one nanosecond is as much in the past as zero.
        let nanoseconds = deadline.map { max(1, $0.nanoseconds) } ?? 0
        var setting = itimerspec()
        setting.it_value.tv_sec = Int(nanoseconds / 1_000_000_000)
        setting.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
        timerfd_settime(timer.load(ordering: .relaxed), Int32(TFD_TIMER_ABSTIME), &setting, nil)
    }

    private func drainTimer() {
        var expirations: UInt64 = 0
        _ = read(timer.load(ordering: .relaxed), &expirations, MemoryLayout<UInt64>.size)
        hasTimerCome.store(true, ordering: .relaxed)
    }

    package func takeTimerMark() -> Bool {
        guard hasTimerCome.load(ordering: .relaxed) else { return false }
        hasTimerCome.store(false, ordering: .relaxed)
        return true
    }

    package func rouse() -> Bool {
        guard hasStarted.load(ordering: .acquiring) else { return false }
        // The leader need not wake itself.
        if !leading.rouse() { signal(rousing) }
        return true
    }

    package func stop() {
        signal(ending)
        leading.end()
    }

    private func signal(_ event: borrowing Atomic<Int32>) {
        var one: UInt64 = 1
        _ = write(event.load(ordering: .relaxed), &one, MemoryLayout<UInt64>.size)
    }
}
