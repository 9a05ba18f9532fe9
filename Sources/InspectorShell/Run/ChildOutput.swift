import Dispatch
import Glibc
import SocketKit

/// A program's output, from its pipe to the screen. The program never waits for the screen. If its output arrives
/// faster than it is taken, the oldest bytes are dropped and counted.
package final class ChildOutput: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        /// The number of bytes at the front of `bytes` that are already dropped.
        var dropped = 0
        /// The number of bytes dropped since the last take.
        var lost = 0
    }

    private let state = Lock(State())
    private let queue = DispatchQueue(label: "socktui.child-output")

    /// The most bytes kept here.
    private static let limit = 1 << 20
    private static let pieceLength = 64 << 10

    /// Reads from a pipe until its end, and closes it.
    package func read(from pipe: Int32) {
        queue.async { @Sendable [self] in
            var piece = [UInt8](repeating: 0, count: Self.pieceLength)
            while true {
                let count = Glibc.read(pipe, &piece, piece.count)
                if count > 0 { add(piece[..<count]) } else if count == 0 || errno != EINTR { break }
            }
            close(pipe)
        }
    }

    private func add(_ piece: ArraySlice<UInt8>) {
        state.withLock { state in
            state.bytes += piece
            let excess = state.bytes.count - state.dropped - Self.limit
            guard excess > 0 else { return }
            (state.dropped, state.lost) = (state.dropped + excess, state.lost + excess)
            guard state.dropped > Self.limit else { return }
            state.bytes.removeFirst(state.dropped)
            state.dropped = 0
        }
    }

    /// Takes the output since the last call, and the number of bytes dropped before it.
    package func take() -> (bytes: [UInt8], dropped: Int) {
        state.withLock { state in
            defer { state = State() }
            return (Array(state.bytes[state.dropped...]), state.lost)
        }
    }
}
