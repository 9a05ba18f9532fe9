import Dispatch
import Synchronization

/// A box that gives access to its content on one serial queue only.
///
/// Proof: the content is reachable only through `callAsFunction`, which traps on any other queue. The queue is serial, so no
/// two threads use the content at once, and each sees what the one before it wrote. The content is a class, so a call from
/// within a call (user code in a turn) is a second reference, not a second exclusive access.
///
/// The queue may be the caller's. If the caller marks a serial queue that it targets, code on that queue is let in too. All
/// that runs on the one runs on the other, so they exclude each other.
final class Confined<Content: AnyObject>: @unchecked Sendable {
    private let queue: DispatchQueue
    private let mark: DispatchSpecificKey<Bool>
    private let trustsMark = Atomic<Bool>(false)
    private let content: Content

    init(_ content: sending Content, to queue: DispatchQueue, mark: DispatchSpecificKey<Bool>) {
        self.content = content
        self.queue = queue
        self.mark = mark
    }

    /// From now on the mark tells who is on the queue.
    func trustMark() { trustsMark.store(true, ordering: .relaxed) }

    private func check() {
        if trustsMark.load(ordering: .relaxed), DispatchQueue.getSpecific(key: mark) != nil { return }
        dispatchPrecondition(condition: .onQueue(queue))
    }

    /// Runs `body` with the content; traps when called off the queue.
    func callAsFunction<R>(_ body: (Content) throws -> R) rethrows -> R {
        check()
        return try body(content)
    }

    /// Runs `body` for user code that runs within a turn; nil elsewhere.
    ///
    /// Proof: `mailbox` names a thread only while that thread runs user code within a turn, which is on the queue. Whoever
    /// finds its own thread there is that code.
    @inline(__always)
    func withinTurn<R>(of mailbox: Mailbox, _ body: (Content) -> R) -> R? {
        guard mailbox.isWithinTurn else { return nil }
        #if DEBUG
        check()
        #endif
        return body(content)
    }
}
