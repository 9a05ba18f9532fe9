import SocketKit
import SocketTestSupport

/// Writes the stream in pieces, a few of which are queued at a time, through a kernel that takes them bit by bit.
final class StreamWriter: AsyncSocketDelegate {
    /// Pieces that wait at a time.
    fileprivate static let width = 4
    fileprivate struct State {
        var script: StreamScript
        var written = 0
        var queued = 0
        var completed = 0
        var complaint: String?
    }

    private let state: Lock<State>
    private let kernel: FaultyKernel

    init(_ script: StreamScript, through kernel: FaultyKernel) {
        state = Lock(State(script: script))
        self.kernel = kernel
    }

    /// The first rule that was broken.
    var complaint: String? { state.withLock { $0.complaint } }

    func socket(_ socket: AsyncSocket, didConnectTo address: SocketAddress) { goOn(socket) }

    /// Queues pieces until enough are waiting, and the close after the last one. Only callbacks call this: two threads
    /// could queue their pieces in the wrong order.
    private func goOn(_ socket: AsyncSocket) {
        while let (piece, tag) = state.withLock({ $0.next() }) {
            kernel.limitSends(to: 500 + tag &* 7_919 % 30_000)
            socket.write(piece, tag: tag)
        }
        if state.withLock({ $0.written == $0.script.bytes.count }) { socket.disconnect(.afterWriting) }
    }

    func socket(_ socket: AsyncSocket, didWriteWithTag tag: Int) {
        state.withLock { state in
            if tag != state.completed { state.complain("write \(tag) completed, not \(state.completed)") }
            state.completed += 1
        }
        goOn(socket)
    }

    func socket(_ socket: AsyncSocket, didFail operation: FailedOperation) {
        state.withLock { $0.complain("\(operation)") }
    }
}

extension StreamWriter.State {
    fileprivate mutating func next() -> ([UInt8], Int)? {
        guard queued - completed < StreamWriter.width, written < script.bytes.count else { return nil }
        let piece = script.cut(behind: written)
        defer { queued += 1 }
        written = piece.upperBound
        return (Array(script.bytes[piece]), queued)
    }

    fileprivate mutating func complain(_ rule: String) {
        if complaint == nil { complaint = rule }
    }
}

/// Queues some reads, checks what each brings against the stream, and queues the next when all are done.
final class StreamReader: SocketListenerDelegate, AsyncSocketDelegate {
    fileprivate struct State {
        /// The one connection; held here.
        var socket: AsyncSocket?
        var script: StreamScript
        /// Bytes that came out, in order.
        var position = 0
        var queued: [ReadRequest.Kind] = []
        /// The tag of the first of them.
        var tag = 0
        /// Bytes of it that were reported.
        var reported = 0
        var reads = 0
        var complaint: String?
        var ending: SocketError.Reason??
    }

    private let state: Lock<State>

    init(_ script: StreamScript) {
        state = Lock(State(script: script))
    }

    /// The first rule that was broken.
    var complaint: String? { state.withLock { $0.complaint } }

    /// Bytes that came out.
    var position: Int { state.withLock { $0.position } }

    /// Reads that completed.
    var reads: Int { state.withLock { $0.reads } }

    /// How the session ended; nil: not yet.
    var ending: SocketError.Reason?? { state.withLock { $0.ending } }

    func listener(_ listener: SocketListener, didAccept socket: AsyncSocket) {
        state.withLock { $0.socket = socket }
        socket.delegate = self
        goOn(socket)
    }

    private func goOn(_ socket: AsyncSocket) {
        let (kinds, tag) = state.withLock { state -> ([ReadRequest.Kind], Int) in
            guard state.queued.isEmpty, state.complaint == nil else { return ([], 0) }
            state.queued = state.script.reads(from: state.position)
            return (state.queued, state.tag)
        }
        for (index, kind) in kinds.enumerated() { socket.read(ReadRequest(kind, tag: tag + index)) }
    }

    func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {
        state.withLock { $0.absorb(bytes, tag) }
        goOn(socket)
    }

    func socket(_ socket: AsyncSocket, didReadPartialOf count: Int, tag: Int) {
        state.withLock { state in
            state.require(count > 0 && tag == state.tag) { _ in "a part of \(count) bytes of read \(tag)" }
            state.reported += count
        }
    }

    func socket(_ socket: AsyncSocket, didFail operation: FailedOperation) {
        state.withLock { state in
            // Those that come after the session are refused; all bytes must be out by then.
            let isOver = operation.error.reason == .notConnected && state.position == state.script.bytes.count
            state.require(isOver || operation.error.reason == .closedByPeer) { _ in "\(operation.error)" }
            state.require(operation.tag == state.tag) { "read \(operation.tag) failed, not \($0.tag)" }
            state.advance(over: operation.bytes)
        }
    }

    func socket(_ socket: AsyncSocket, willDisconnect error: SocketError, unread: [UInt8]) {
        state.withLock { state in
            // The session must not end before its bytes are read.
            state.require(unread.isEmpty) { _ in "\(unread.count) bytes went to no read" }
        }
    }

    func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {
        state.withLock { state in
            state.ending = .some(error?.reason)
            state.socket = nil
        }
    }
}

extension StreamReader.State {
    fileprivate mutating func absorb(_ bytes: [UInt8], _ tag: Int) {
        guard tag == self.tag, let kind = queued.first else { return require(false) { "read \(tag), not \($0.tag)" } }
        require(reported < bytes.count) { "\($0.reported) of \(bytes.count) bytes were reported as parts: \(kind)" }
        switch kind {
        case .available(let limit): require(1...(limit ?? .max) ~= bytes.count) { _ in "\(bytes.count) bytes: \(kind)" }
        case .length(let length): require(bytes.count == length) { _ in "\(bytes.count) bytes: \(kind)" }
        case .delimiter(let terminator, let limit):
            let end = script.firstEnd(of: terminator, in: position..<min(script.bytes.count, position + bytes.count))
            require(bytes.count == end && bytes.count <= limit ?? .max) { _ in "\(bytes.count) bytes: \(kind)" }
        case .frame: require(bytes.count == script.frame(at: position)?.length) { _ in "\(bytes.count) bytes: \(kind)" }
        }
        reads += 1
        advance(over: bytes)
    }

    /// A read is over, with these bytes.
    fileprivate mutating func advance(over bytes: [UInt8]) {
        require(script.holds(bytes, at: position)) { _ in "other bytes" }
        position += bytes.count
        if !queued.isEmpty { queued.removeFirst() }
        tag += 1
        reported = 0
    }

    fileprivate mutating func require(_ holds: Bool, _ rule: (Self) -> String) {
        if !holds, complaint == nil { complaint = "at \(position): \(rule(self))" }
    }
}
