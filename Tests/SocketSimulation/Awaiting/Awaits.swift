import SocketKit

/// Every `await` of a run: starts the task that awaits, cancels it at any time, and requires that it returns once.
package final class Awaits: Sendable {
    /// What is awaited.
    package enum Kind: Int, CaseIterable, Sendable {
        case connect, connectSecurely, secure, accept, read, write, room
        case openWebSocket, acceptWebSocket, sendMessage, receiveMessage, ping, webSocketRoom, finish
        case sendDatagram, receiveDatagram
    }

    /// What became of it.
    package enum Event: Int, CaseIterable, Sendable {
        /// The task was cancelled before it ran.
        case cancelledEarly
        /// The task was cancelled while it waited.
        case cancelled
        /// The task was cancelled, and its answer came first.
        case answeredFirst
        case answered, failed
    }

    /// How an `await` returned.
    enum Outcome: Sendable, Equatable {
        case value, cancelled
        case failed(SocketError)

        init(_ error: SocketError) { self = error.reason == .cancelled ? .cancelled : .failed(error) }
    }

    /// One `await`.
    private struct Entry {
        let kind: Kind
        var task: Task<Void, Never>?
        var hasBegun = false
        var isCancelled = false
        var hasReturned = false
    }

    let runner: TaskRunner
    private let findings: Findings
    private let coverage: Coverage
    private let mutation: Mutation
    private let chance: Chance
    private let tell: (@Sendable (String) -> Void)?
    private let entries = Lock<[Entry]>([])

    init(
        chance: Chance, findings: Findings, coverage: Coverage, mutation: Mutation,
        tell: (@Sendable (String) -> Void)?
    ) {
        self.tell = tell
        runner = TaskRunner(mutation: mutation)
        self.chance = chance
        self.findings = findings
        self.coverage = coverage
        self.mutation = mutation
    }

    private func trace(_ line: @autoclosure () -> String) {
        if let tell { tell(line()) }
    }

    /// Starts a task that awaits something. `body` gets whether the task was cancelled before it ran.
    func start(_ kind: Kind, _ body: @escaping @Sendable (_ isCancelledEarly: Bool) async -> Outcome) {
        let number = entries.withLock { entries in
            entries.append(Entry(kind: kind))
            return entries.count - 1
        }
        trace("  await \(number) (\(kind)) begins")
        let task = runner.start { [self] in
            let isCancelledEarly = entries.withLock { entries in
                entries[number].hasBegun = true
                return entries[number].isCancelled
            }
            returned(number, await body(isCancelledEarly))
        }
        entries.withLock { $0[number].task = task }
    }

    private func returned(_ number: Int, _ outcome: Outcome) {
        let former = entries.withLock { entries in
            defer { (entries[number].hasReturned, entries[number].task) = (true, nil) }
            return entries[number]
        }
        let name = "await \(number) (\(former.kind))"
        trace("  \(name) returns: \(outcome)")
        findings.require(!former.hasReturned, .completedTwice, name)
        findings.require(
            outcome != .cancelled || former.isCancelled, .wrongResult, "\(name): cancelled, and nobody cancelled it")
        switch outcome {
        case .value: coverage.see(former.kind, former.isCancelled ? .answeredFirst : .answered)
        case .failed: coverage.see(former.kind, former.isCancelled ? .answeredFirst : .failed)
        case .cancelled: return
        }
    }

    /// Cancels a task that has not returned.
    func cancelOne() {
        guard let number = pickOne() else { return }
        let former = entries.withLock { entries in
            defer { entries[number].isCancelled = true }
            return entries[number]
        }
        trace("  await \(number) (\(former.kind)) is cancelled")
        if !former.isCancelled { coverage.see(former.kind, former.hasBegun ? .cancelled : .cancelledEarly) }
        if former.hasBegun, mutation.strikes(.losesACancellation) { return }
        // Without the lock: what the cancellation makes the engine do may run user code.
        former.task?.cancel()
    }

    /// One of those that have not returned: the latest, or one of a kind, since some kinds wait in crowds.
    private func pickOne() -> Int? {
        let waiting = entries.withLock { entries in
            entries.indices.filter { !entries[$0].hasReturned }.map { (number: $0, kind: entries[$0].kind) }
        }
        guard let last = waiting.last else { return nil }
        if chance.oneIn(3) { return last.number }
        let kinds = Kind.allCases.filter { kind in waiting.contains { $0.kind == kind } }
        let kind = chance.pick(kinds)
        return chance.pick(waiting.filter { $0.kind == kind }).number
    }

    /// How many have not returned.
    var waiting: Int { entries.withLock { $0.count { !$0.hasReturned } } }

    /// The engines are at rest: whatever was cancelled has returned, since that needs no peer and no time.
    func checkQuiet() {
        for (number, entry) in entries.withLock({ $0 }).enumerated() where entry.isCancelled && !entry.hasReturned {
            findings.report(.neverReturned, "await \(number) (\(entry.kind)) was cancelled, and waits")
        }
    }

    /// Everything is closed: nobody waits.
    func finish() {
        for (number, entry) in entries.withLock({ $0 }).enumerated() where !entry.hasReturned {
            findings.report(.neverReturned, "await \(number) (\(entry.kind)) waits, and all is over")
        }
        entries.withLock { $0 = [] }
    }
}
