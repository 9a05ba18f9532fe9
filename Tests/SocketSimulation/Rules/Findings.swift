import SocketKit

/// What must hold in every run; each rule is one that the engine promises, or that a machine without leaks needs.
package enum Rule: String, Sendable, CaseIterable {
    /// An operation ended twice.
    case completedTwice
    /// An operation did not end.
    case neverCompleted
    /// Operations of one direction ended in another order than they were queued.
    case outOfOrder
    /// What a reader got is not what was sent, or what was sent is not what was written.
    case bytesDiffer
    /// A read completed with bytes that it did not ask for, or partial reports do not add up to the whole.
    case wrongResult
    /// A callback came before `didConnect`, after `didDisconnect`, or for a session that does not exist.
    case callbackOrder
    /// A session was left without its `didDisconnect`.
    case neverDisconnected
    /// A descriptor or a watch was left.
    case descriptorLeaked
    /// A call named a descriptor that is not open, or a watch that does not exist.
    case badDescriptor
    /// A turn that changed nothing was asked for again and again.
    case spinning
    /// A turn carried out more than its budget allows.
    case turnTooLong
    /// Something could go on, and nobody is going to look.
    case hanging
    /// A connection that was to close when its queues are empty closed before.
    case notDrained
    /// A snapshot contradicts itself, the kernel, or the callbacks.
    case snapshotContradicts
    /// An `await` whose task was cancelled waits on, or one waits when all is over.
    case neverReturned
    /// Tasks accepted a connection twice, or not at all.
    case connectionsDiffer
    /// Tasks received a message twice, out of order, or not at all.
    case messagesDiffer
    /// Tasks received a datagram twice, or not at all, or one whose sender was told that it was not sent.
    case datagramsDiffer
}

/// A rule that was broken.
package struct Finding: Equatable, Sendable, CustomStringConvertible {
    /// Which.
    package var rule: Rule
    /// How.
    package var detail: String

    package var description: String { "\(rule.rawValue): \(detail)" }
}

/// Gathers what was found. The first finding is the one to look at: the others may follow from it.
package final class Findings: Sendable {
    private let all = Lock<[Finding]>([])

    package init() {}

    /// Every finding, in order.
    package var list: [Finding] { all.withLock { $0 } }

    /// Notes that a rule was broken.
    package func report(_ rule: Rule, _ detail: String) {
        all.withLock { $0.append(Finding(rule: rule, detail: detail)) }
    }

    /// Notes that a rule was broken, unless `holds`.
    package func require(_ holds: Bool, _ rule: Rule, _ detail: @autoclosure () -> String) {
        if !holds { report(rule, detail()) }
    }
}
