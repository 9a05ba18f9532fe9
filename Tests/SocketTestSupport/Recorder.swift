import SocketKit

/// A delegate of sockets and listeners that writes down every call, in order.
package final class Recorder: AsyncSocketDelegate, SocketListenerDelegate {
    /// One call, without the socket.
    package enum Call: Equatable, Sendable {
        case connected
        case read([UInt8], tag: Int)
        case readPartial(Int, tag: Int)
        case wrote(tag: Int)
        case wrotePartial(Int, tag: Int)
        case failed(tag: Int, SocketError.Reason, done: Int)
        case timedOut(tag: Int, done: Int)
        case closedReadStream
        case trust(problem: String?)
        case secured
        case disconnected(SocketError.Reason?)
        case accepted
        case stopped
    }

    private struct State {
        var calls: [Call] = []
        var sockets: [AsyncSocket] = []
        var failures: [FailedOperation] = []
        var timeouts: [TimedOutOperation] = []
        var questions: [TLSTrust] = []
        var error: SocketError?
    }

    private let state = Lock(State())
    private let onAccept: @Sendable (AsyncSocket) -> Void
    private let onCall: @Sendable (AsyncSocket, Call) -> Void
    private let verdict: @Sendable (TimedOutOperation) -> TimeoutVerdict
    private let trust: @Sendable (TLSTrust) -> TrustVerdict

    /// Runs the closures inside the callbacks they are named for.
    package init(
        onAccept: @escaping @Sendable (AsyncSocket) -> Void = { _ in },
        onCall: @escaping @Sendable (AsyncSocket, Call) -> Void = { _, _ in },
        verdict: @escaping @Sendable (TimedOutOperation) -> TimeoutVerdict = { _ in .close },
        trust: @escaping @Sendable (TLSTrust) -> TrustVerdict = { _ in .unhandled }
    ) {
        self.onAccept = onAccept
        self.onCall = onCall
        self.verdict = verdict
        self.trust = trust
    }

    /// Every call so far.
    package var calls: [Call] { state.withLock { $0.calls } }
    /// The connections that were accepted.
    package var sockets: [AsyncSocket] { state.withLock { $0.sockets } }
    /// Operations that failed.
    package var failures: [FailedOperation] { state.withLock { $0.failures } }
    /// Operations that timed out.
    package var timeouts: [TimedOutOperation] { state.withLock { $0.timeouts } }
    /// Certificates that were to be judged.
    package var questions: [TLSTrust] { state.withLock { $0.questions } }
    /// The error of the last disconnect.
    package var lastError: SocketError? { state.withLock { $0.error } }
    /// The bytes of every completed read, joined.
    package var received: [UInt8] {
        calls.flatMap { call -> [UInt8] in if case .read(let bytes, _) = call { bytes } else { [] } }
    }

    /// How many these are, without joining them.
    package var receivedCount: Int {
        calls.reduce(0) { if case .read(let bytes, _) = $1 { $0 + bytes.count } else { $0 } }
    }

    /// Whether the session is over.
    package var isDisconnected: Bool {
        calls.contains { if case .disconnected = $0 { true } else { false } }
    }

    private func note(_ socket: AsyncSocket, _ call: Call) {
        state.withLock { $0.calls.append(call) }
        onCall(socket, call)
    }

    package func socket(_ socket: AsyncSocket, didConnectTo address: SocketAddress) { note(socket, .connected) }

    package func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {
        note(socket, .read(bytes, tag: tag))
    }

    package func socket(_ socket: AsyncSocket, didReadPartialOf count: Int, tag: Int) {
        note(socket, .readPartial(count, tag: tag))
    }

    package func socket(_ socket: AsyncSocket, didWriteWithTag tag: Int) { note(socket, .wrote(tag: tag)) }

    package func socket(_ socket: AsyncSocket, didWritePartialOf count: Int, tag: Int) {
        note(socket, .wrotePartial(count, tag: tag))
    }

    package func socket(_ socket: AsyncSocket, didFail operation: FailedOperation) {
        state.withLock { $0.failures.append(operation) }
        note(socket, .failed(tag: operation.tag, operation.error.reason, done: operation.done))
    }

    package func socket(_ socket: AsyncSocket, didTimeOut operation: TimedOutOperation) -> TimeoutVerdict {
        state.withLock { $0.timeouts.append(operation) }
        note(socket, .timedOut(tag: operation.tag, done: operation.done))
        return verdict(operation)
    }

    package func socketDidSecure(_ socket: AsyncSocket) { note(socket, .secured) }

    package func socket(_ socket: AsyncSocket, didReceive trust: TLSTrust) -> TrustVerdict {
        state.withLock { $0.questions.append(trust) }
        note(socket, .trust(problem: trust.problem))
        return self.trust(trust)
    }

    package func socketDidCloseReadStream(_ socket: AsyncSocket) { note(socket, .closedReadStream) }

    package func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {
        state.withLock { $0.error = error }
        note(socket, .disconnected(error?.reason))
    }

    package func listener(_ listener: SocketListener, didAccept socket: AsyncSocket) {
        state.withLock {
            $0.calls.append(.accepted)
            $0.sockets.append(socket)
        }
        onAccept(socket)
    }

    package func listener(_ listener: SocketListener, didStop error: SocketError?) {
        state.withLock { $0.calls.append(.stopped) }
    }
}
