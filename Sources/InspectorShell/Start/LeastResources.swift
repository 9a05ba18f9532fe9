import Dispatch
import Glibc

/// The descriptors and threads that a run needs from its limits. Dispatch ends a program that has no descriptors left
/// for it, and waits for threads without a word.
package enum LeastResources {
    /// An engine takes 4 descriptors, Dispatch 3, the inbox 2. The rest is for sockets and for files read meanwhile.
    package static let descriptors = 16
    /// Two for an engine, one for Dispatch's timers, and some for its queues.
    package static let threads = 6

    /// Makes sure that a run can begin, and takes what Dispatch needs before something else takes it. Returns what is
    /// missing, as a sentence, or `nil` if nothing is.
    package static func secure() -> String? {
        if let problem = whyFewDescriptors() ?? whyFewThreads() { return problem }
        DispatchQueue.global().asyncAfter(deadline: .now()) {}
        return nil
    }

    private static func whyFewDescriptors() -> String? {
        var opened: [Int32] = []
        defer { opened.forEach { close($0) } }
        while opened.count < descriptors {
            let descriptor = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0 else {
                let why = String(cString: strerror(errno))
                return "a run needs \(descriptors) descriptors, but only \(opened.count) are left: \(why) (ulimit -n)"
            }
            opened.append(descriptor)
        }
        return nil
    }

    private static let gate = DispatchSemaphore(value: 0)

    private static func whyFewThreads() -> String? {
        var started: [pthread_t] = []
        defer {
            for _ in started { gate.signal() }
            for thread in started { pthread_join(thread, nil) }
        }
        while started.count < threads {
            var thread = pthread_t()
            let failure = pthread_create(
                &thread, nil,
                { @Sendable _ in
                    LeastResources.gate.wait()
                    return nil
                }, nil)
            guard failure == 0 else {
                let why = String(cString: strerror(failure))
                return "a run needs \(threads) threads, but only \(started.count) can start: \(why) (ulimit -u)"
            }
            started.append(thread)
        }
        return nil
    }
}
