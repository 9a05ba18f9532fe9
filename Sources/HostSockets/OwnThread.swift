import Glibc
import SocketCore
import Synchronization

/// Runs work that changes its thread permanently (its CPU, its namespace) on a thread that ends afterwards.
enum OwnThread {
    /// The CPU time that such threads have used so far, in nanoseconds.
    fileprivate static let used = Atomic<Int64>(0)

    /// The CPU time that this thread has used.
    fileprivate static var threadTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    private typealias Work = @Sendable () -> Void

    private final class Box<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }

    /// Runs `body` and waits for it. Returns `nil` if no thread can be created.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value? {
        let box = Box<Value>()
        guard
            let thread = create({ @Sendable in
                let value = body()
                used.add(threadTime.wholeNanoseconds, ordering: .relaxed)
                box.value.withLock { $0 = value }
            })
        else { return nil }
        pthread_join(thread, nil)
        return box.value.withLock { $0 }
    }

    /// Runs `body` without waiting for it. Returns whether a thread could be created.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        guard let thread = create(body) else { return false }
        pthread_detach(thread)
        return true
    }

    private static func create(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
        let work = UnsafeMutablePointer<Work>.allocate(capacity: 1)
        work.initialize(to: body)
        var thread = pthread_t()
        let problem = pthread_create(
            &thread, nil,
            { raw in
                guard let place = raw?.assumingMemoryBound(to: Work.self) else { return nil }
                let work = place.move()
                place.deallocate()
                work()
                return nil
            }, work)
        guard problem == 0 else {
            work.deinitialize(count: 1)
            work.deallocate()
            return nil
        }
        return thread
    }
}

extension HostObserver {
    /// The CPU time used by this thread and by the threads that all observers created for their snapshots.
    package static var processorTime: Duration {
        OwnThread.threadTime + .nanoseconds(OwnThread.used.load(ordering: .relaxed))
    }
}
