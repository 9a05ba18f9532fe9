/// What of a program's connections does not go through the relay, and how its connects differ.
package struct PassedConnects: Equatable, Sendable {
    /// Why a connect went to its target without the relay.
    package enum Reason: CaseIterable, Sendable {
        case datagram, local, nonblocking, namespace, device, unreadable, other

        /// What was counted, in words.
        fileprivate func words(_ count: Int) -> String {
            switch self {
            case .datagram: "\(count) UDP"
            case .local: "\(count) Unix-domain"
            case .nonblocking: "\(count) nonblocking"
            case .namespace: "\(count) in another network namespace"
            case .device: "\(count) bound to a device"
            case .unreadable: "\(count) of processes that may not be inspected"
            case .other: "\(count) of other kinds"
            }
        }
    }

    package var counts: [Reason: Int] = [:]
    /// The processes that use io_uring, whose connects are not seen. Only some are named.
    package private(set) var uring: Set<Int> = []
    /// The calls by which others began to use it.
    package private(set) var moreRings = 0
    /// The programs that would have gained rights by their files. Only some are named.
    package private(set) var limited: [String] = []
    /// The calls that began others.
    package private(set) var moreLimited = 0
    /// The sockets that listen. What they accept is not seen.
    package var listeners = 0
    /// The sockets that may be open, and are told their addresses as the kernel has them, since newer ones are known.
    package var forgotten = 0
    /// The connects by MPTCP, which succeeded before their targets answered.
    package var early = 0
    /// The connections to the relay's own port that no call of the program announced. They were reset.
    package var strangers = 0

    package init() {}

    private static let mostNamed = 16

    package mutating func count(_ reason: Reason) { counts[reason, default: 0] += 1 }

    package mutating func addRing(of process: Int) {
        if uring.contains(process) { return }
        if uring.count < Self.mostNamed { uring.insert(process) } else { moreRings += 1 }
    }

    package mutating func addLimited(_ program: String) {
        if limited.contains(program) { return }
        if limited.count < Self.mostNamed { limited.append(program) } else { moreLimited += 1 }
    }

    /// The number of connects that are not shown.
    package var total: Int { counts.values.reduce(0, +) }

    /// The number of everything that is not shown: connects, listeners, and processes that use io_uring.
    package var unseen: Int { total + listeners + uring.count + moreRings }

    /// What differs from what the program did, as phrases.
    package var phrases: [String] {
        var unseen = Reason.allCases.compactMap { reason in counts[reason].map { reason.words($0) } }
        if listeners > 0 { unseen.append("what \(Format.count(listeners, "listener")) accepted") }
        if !uring.isEmpty {
            let names = uring.sorted().map { "process \($0)" } + (moreRings > 0 ? ["\(moreRings) more"] : [])
            unseen.append("what \(names.joined(separator: ", ")) did by io_uring")
        }
        var phrases = unseen.isEmpty ? [] : ["not shown: " + unseen.joined(separator: ", ")]
        if let rights { phrases.append(rights) }
        if early > 0 { phrases.append("\(early) over MPTCP succeeded before the target answered") }
        if strangers > 0 { phrases.append("\(Format.count(strangers, "other client")) reset at the relay's port") }
        if forgotten > 0 { phrases.append("\(Format.count(forgotten, "older socket")) without the true addresses") }
        return phrases
    }

    /// Which programs have fewer rights than their files give them, or `nil` if none has.
    package var rights: String? {
        guard !limited.isEmpty else { return nil }
        let names = limited + (moreLimited > 0 ? ["\(moreLimited) more"] : [])
        return "\(names.joined(separator: ", ")) can't gain privileges here; with --proxy http, set-uid programs can"
    }
}
