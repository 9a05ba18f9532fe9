import Dispatch
import Glibc
import SocketKit

/// What a program writes, from its pipe to the screen. The program never waits for the screen: what comes faster than it
/// is taken is dropped, the oldest first, and counted.
final class ChildOutput: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        /// Those at the front of `bytes` that are dropped already.
        var dropped = 0
        /// All that were dropped since the last time.
        var lost = 0
    }

    private let state = Lock(State())
    private let queue = DispatchQueue(label: "socktui.child-output")

    /// Bytes that wait here at most.
    private static let limit = 1 << 20
    private static let pieceLength = 64 << 10

    /// Reads from a pipe until its end, and closes it.
    func read(from pipe: Int32) {
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

    /// Takes what came since the last time, and how many bytes before it were dropped.
    func take() -> (bytes: [UInt8], dropped: Int) {
        state.withLock { state in
            defer { state = State() }
            return (Array(state.bytes[state.dropped...]), state.lost)
        }
    }
}
