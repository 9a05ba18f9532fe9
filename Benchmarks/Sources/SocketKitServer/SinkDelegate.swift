import SocketKit
import Synchronization

/// Takes a number and so many bytes, and answers with the number; again and again.
final class SinkDelegate: AsyncSocketDelegate {
    private struct State {
        /// Bytes to come, and those of them for which no read is queued yet.
        var total = 0
        var left = 0
        var unasked = 0
        /// Of a borrowed number that has not come wholly.
        var header: [UInt8] = []
    }

    private let state = Mutex(State())
    private let lends: Bool
    /// Reads in the queue at a time: a delegate elsewhere answers late, so more than one.
    private let depth: Int

    init(_ way: Way) {
        lends = way == .borrowed
        depth = way == .queue ? 4 : 1
    }

    func serve(_ socket: AsyncSocket) {
        socket.userData = self
        socket.delegate = self
        hold(socket)
        socket.read(lends ? .borrowing() : ReadRequest(.length(8)))
    }

    private let held = Mutex<AsyncSocket?>(nil)

    private func hold(_ socket: AsyncSocket?) { held.withLock { $0 = socket } }

    func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {
        guard tag == 1 else { return begin(Numbers.number(bytes), socket) }
        let isDone = state.withLock { state in
            state.left -= bytes.count
            return state.left == 0
        }
        if isDone { answer(socket) } else { ask(socket) }
    }

    private func begin(_ total: Int, _ socket: AsyncSocket) {
        state.withLock { ($0.total, $0.left, $0.unasked) = (total, total, total) }
        for _ in 0..<depth { ask(socket) }
    }

    private func ask(_ socket: AsyncSocket) {
        let length = state.withLock { state in
            defer { state.unasked -= min(state.unasked, Numbers.chunk) }
            return min(state.unasked, Numbers.chunk)
        }
        if length > 0 { socket.read(ReadRequest(.length(length), tag: 1)) }
    }

    private func answer(_ socket: AsyncSocket) {
        socket.write(Numbers.bytes(state.withLock { $0.total }))
        if !lends { socket.read(ReadRequest(.length(8))) }
    }

    func socket(_ socket: AsyncSocket, didBorrow bytes: RawSpan, tag: Int) {
        let isDone = state.withLock { state in
            var count = bytes.byteCount
            if state.left == 0 {
                let missing = min(8 - state.header.count, count)
                bytes.withUnsafeBytes { state.header += $0[..<missing] }
                guard state.header.count == 8 else { return false }
                state.total = Numbers.number(state.header)
                state.left = state.total
                state.header = []
                count -= missing
            }
            state.left -= count
            return state.left == 0
        }
        if isDone { answer(socket) }
    }

    func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {
        hold(nil)
        socket.userData = nil
    }
}
