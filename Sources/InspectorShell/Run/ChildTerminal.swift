import CSockTUIRun
import Dispatch
import Glibc
import SocketCore
import SocketKit

/// A terminal of a program's own: what the user types is written here, and what the program prints is read from
/// `output`.
final class ChildTerminal: Sendable {
    struct Size: Equatable, Sendable {
        var columns: Int
        var rows: Int
    }

    private struct State {
        /// Our end, to write to. -1 once nothing more can be typed.
        var descriptor: Int32
        /// The typed bytes that the program's end has not taken.
        var waiting = 0
    }

    /// The program's end.
    let path: String
    /// Our end, to read from. Who reads it closes it.
    let output: Int32
    private let state: Lock<State>
    private let queue = DispatchQueue(label: "socktui.child-input")

    /// The most typed bytes that wait. A program that doesn't read must not take up memory.
    static let limit = 64 << 10

    /// Opens a terminal. Throws the errno of the failure.
    init() throws(POSIXErrno) {
        var name = [CChar](repeating: 0, count: Int(CRUN_NAME))
        let ours = crun_open_terminal(&name)
        guard ours >= 0 else { throw POSIXErrno(errno) }
        let other = fcntl(ours, F_DUPFD_CLOEXEC, 3)
        guard other >= 0 else {
            let error = POSIXErrno(errno)
            Glibc.close(ours)
            throw error
        }
        path = String(native: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) })
        output = ours
        state = Lock(State(descriptor: other))
    }

    /// Types bytes. Returns false if too many wait for the program to read them; then none of these do.
    func type(_ bytes: [UInt8]) -> Bool {
        state.withLock { state in
            let descriptor = state.descriptor
            guard descriptor >= 0, state.waiting + bytes.count <= Self.limit else { return false }
            state.waiting += bytes.count
            // Queued before the lock is released, so that it comes before the closing of the descriptor.
            queue.async { @Sendable [self] in
                FileOutput.write(bytes, to: descriptor)
                self.state.withLock { $0.waiting -= bytes.count }
            }
            return true
        }
    }

    func resize(_ size: Size) {
        state.withLock { crun_resize_terminal($0.descriptor, Int32(size.columns), Int32(size.rows)) }
    }

    /// Lets nothing more be typed. What was typed before is written, if the program's end still takes it.
    func close() {
        state.withLock { state in
            let descriptor = state.descriptor
            if descriptor >= 0 { queue.async { Glibc.close(descriptor) } }
            state.descriptor = -1
        }
    }
}
