/// What of a program's connections does not go through the relay, and how its connects differ.
package struct PassedConnects: Equatable, Sendable {
    /// Why a connect went to its target without the relay.
    package enum Reason: CaseIterable, Sendable {
        case datagram, local, namespace, device, unreadable, other

        /// What was counted, in words.
        fileprivate func words(_ count: Int) -> String {
            switch self {
            case .datagram: "\(count) UDP"
            case .local: "\(count) Unix-domain"
            case .namespace: "\(count) in another network namespace"
            case .device: "\(count) bound to a device"
            case .unreadable: "\(count) of processes that may not be looked into"
            case .other: "\(count) of other kinds"
            }
        }
    }

    package var counts: [Reason: Int] = [:]
    /// The processes that use io_uring, whose connects are not seen.
    package var uring: Set<Int> = []
    /// The connects by MPTCP, which succeeded before their targets answered.
    package var early = 0
    /// The connections to the relay's own port that no call of the program announced. They were reset.
    package var strangers = 0

    package init() {}

    package mutating func count(_ reason: Reason) { counts[reason, default: 0] += 1 }

    /// The number of connects that are not shown.
    package var total: Int { counts.values.reduce(0, +) }

    /// What differs from what the program did, as phrases.
    package var phrases: [String] {
        var unseen = Reason.allCases.compactMap { reason in counts[reason].map { reason.words($0) } }
        if !uring.isEmpty {
            unseen.append("what \(uring.sorted().map { "process \($0)" }.joined(separator: ", ")) does by io_uring")
        }
        var phrases = unseen.isEmpty ? [] : ["not shown: " + unseen.joined(separator: ", ")]
        if early > 0 { phrases.append("\(early) by MPTCP succeeded before the target answered") }
        if strangers > 0 { phrases.append("\(Format.count(strangers, "stranger")) reset at the relay's port") }
        return phrases
    }
}
