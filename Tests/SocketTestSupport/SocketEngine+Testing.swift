import Dispatch
import SocketKit

extension SocketEngine {
    /// An engine of which one part or another is the test's own.
    package static func with(
        kernel: any Kernel = LinuxKernel(), time: ManualTime? = nil, resolver: any Resolver = SystemResolver()
    ) -> SocketEngine {
        guard let time else {
            return SocketEngine(
                EngineConfiguration(), kernel: kernel, clock: SystemClock(), reactor: EpollReactor(),
                resolver: resolver)
        }
        return SocketEngine(EngineConfiguration(), kernel: kernel, clock: time, reactor: time, resolver: resolver)
    }

    /// Waits until all that was asked of the engine so far is done, and every callback that came of it on its own queue
    /// has returned. What the kernel has not reported yet is not waited for.
    package func fence() {
        let done = DispatchSemaphore(value: 0)
        // Twice, since writes are tried behind whatever else was asked for in the same turn.
        for _ in 0..<2 {
            requestSnapshot(SnapshotRequest()) { _ in done.signal() }
            done.wait()
        }
    }

    /// One session as it is now, its kernel side included.
    package func picture(of session: SocketID?) -> SocketSnapshot? {
        snapshot(SnapshotRequest(kernel: .all)).sockets.first { $0.id == session }
    }
}

extension ConnectedPair {
    /// The end under test as it is now, its kernel side included; nil once the session is over.
    package var picture: SocketSnapshot? { engine.picture(of: socket.session) }

    /// Waits until the kernel holds so many bytes that the engine leaves there.
    package func leavesInTheKernel(_ count: Int) -> Bool {
        eventually {
            guard let picture else { return false }
            return picture.flags.contains(.readSourceSuspended) && picture.kernel?.receiveQueue == count
        }
    }
}

extension Recorder.Call {
    /// A completed read, its bytes as text.
    package static func text(_ text: String, tag: Int) -> Self { .read(Array(text.utf8), tag: tag) }
}
