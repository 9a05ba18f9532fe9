import Glibc
import SocketCore
import Synchronization

/// Runs what changes a thread for good (its CPU, its namespace) on one that ends afterwards.
enum OwnThread {
    /// What such threads have used of CPUs so far, in nanoseconds.
    fileprivate static let used = Atomic<Int64>(0)

    /// What this thread has used of CPUs.
    fileprivate static var threadTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    private typealias Work = @Sendable () -> Void

    private final class Box<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }

    /// Waits for it. Returns `nil` if there can be no more threads.
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

    /// Does not wait for it. Returns whether there could be one more thread.
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
    /// What this thread, and those that any observer made for its looks, have used of CPUs.
    package static var processorTime: Duration {
        OwnThread.threadTime + .nanoseconds(OwnThread.used.load(ordering: .relaxed))
    }
}
