import Dispatch
import Glibc
import SocketKit

/// A peer that sends as fast as it is let, from a thread of its own, until it has sent enough and is told to stop.
package final class Flood: Sendable {
    private struct State {
        var sent = 0
        var isStopping = false
        var isOver = false
    }

    /// It only ever sends a whole number of these.
    package static let unit = 64 << 20
    private let state = Lock(State())

    /// Connects to a loopback port and begins.
    package init(to port: UInt16) throws {
        let kernel = LinuxKernel()
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let problem = kernel.connect(descriptor, to: .v4(host: "127.0.0.1", port: port))
        guard problem == 0 else {
            close(descriptor)
            throw PeerFailure(errno: problem)
        }
        // A queue of its own gets a thread at once, where the global one waits while tests block all others.
        DispatchQueue(label: "flood").async { @Sendable [self] in
            run(descriptor)
            close(descriptor)
            state.withLock { $0.isOver = true }
        }
    }

    private func run(_ descriptor: Int32) {
        let line = Array("the quick brown fox jumps over the lazy dog, again and again\r\n".utf8)
        let block = (0..<(256 << 10)).map { line[$0 % line.count] }
        while state.withLock({ !$0.isStopping || $0.sent % Self.unit > 0 }) {
            let left = Self.unit - state.withLock { $0.sent % Self.unit }
            let count = block.withUnsafeBytes {
                send(descriptor, $0.baseAddress, min($0.count, left), Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            state.withLock { $0.sent += count }
        }
    }

    /// Bytes that it got rid of.
    package var sent: Int { state.withLock { $0.sent } }

    /// Lets it end at the next whole unit, and close; true when it has.
    package func stop() -> Bool {
        state.withLock { $0.isStopping = true }
        return eventually { state.withLock { $0.isOver } }
    }
}
