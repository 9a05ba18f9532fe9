import CSocketKitSystem
import Glibc

/// Starts a detached thread that blocks every signal, so that signals reach the program's own threads.
enum ReactorThread {
    private struct Start {
        let name: String
        let body: @Sendable () -> Void
    }

    /// Returns 0, or the errno of pthread_create. `name` is cut to the 15 bytes that Linux shows.
    static func start(name: String, _ body: @escaping @Sendable () -> Void) -> Int32 {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let start = UnsafeMutablePointer<Start>.allocate(capacity: 1)
        start.initialize(to: Start(name: String(name.prefix(15)), body: body))
        var thread = pthread_t()
        let status = pthread_create(
            &thread, &attributes,
            { @Sendable argument in
                guard let place = argument?.assumingMemoryBound(to: Start.self) else { return nil }
                let start = place.move()
                place.deallocate()
                var everything = sigset_t()
                sigfillset(&everything)
                // The faults stay open. If they were blocked, the kernel would kill the program without a message.
                for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT] { sigdelset(&everything, fault) }
                pthread_sigmask(SIG_BLOCK, &everything, nil)
                csystem_name_thread(start.name)
                start.body()
                return nil
            }, start)
        if status != 0 {
            start.deinitialize(count: 1)
            start.deallocate()
        }
        return status
    }
}
