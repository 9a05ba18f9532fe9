/// The continuation of a task that waits for one answer, checked in debug builds only.
///
/// A checked continuation allocates an object, and locks it, to find one that is resumed twice or never.
///
/// Proof: only `waitForAnswer` makes one, and what it hands out is a closure, the answer, whose one use resumes it. Every list
/// of answers belongs to the state of one handle. An answer is taken out of its list under the handle's lock, and called by
/// whoever took it out, after the lock is released; so no two threads have the same one. An answer that is never registered is
/// called by the code that did not register it, before that returns. None is lost: a list only shrinks by being answered, when
/// its operation or session ends, or by `giveUp`; every operation ends in one notice, and the end of a session answers all that
/// wait within it, which is what the tests and the simulation check in debug builds, where `CheckedContinuation` traps on the
/// second resume and reports one that is destroyed without any.
#if DEBUG
typealias AnswerContinuation<Value> = CheckedContinuation<Value, Never>
#else
typealias AnswerContinuation<Value> = UnsafeContinuation<Value, Never>
#endif

/// Suspends the task until the continuation that `body` gets is resumed.
@inline(__always)
func withAnswerContinuation<Value>(
    isolation: isolated (any Actor)? = #isolation, _ body: (AnswerContinuation<Value>) -> Void
) async -> Value {
    #if DEBUG
    await withCheckedContinuation(body)
    #else
    await withUnsafeContinuation(body)
    #endif
}
