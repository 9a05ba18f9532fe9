/// The hosts of one view: packs what each tells into numbers of the view, and its times into the viewer's clock.
///
/// A host can lie about itself only: whatever it tells has its own ordinal.
package struct HostFleet: Sendable {
    private struct Member {
        var boot: String
        /// The inode of its agent's network namespace.
        var namespace: UInt64
        /// The least difference seen between the viewer's clock and the host's.
        var shift: Duration
        var looks = 0
        /// When the last look arrived, and after which silence it is late.
        var last: MonotonicTime
        var patience = HostFleet.leastPatience
        /// When the last look began, by the host's clock.
        var began: MonotonicTime?
    }

    /// A network namespace of a kernel. Several agents may see it.
    private struct Claim: Hashable {
        var boot: String
        var inode: UInt64
    }

    private var members: [HostOrdinal: Member] = [:]
    private var claims: [Claim: HostOrdinal] = [:]

    /// A clock that is this far behind stood still for a while, as that of a suspended machine does.
    private static let clockStood = Duration.seconds(5)
    /// A host is late after three intervals, but not sooner than this.
    private static let leastPatience = Duration.seconds(5)

    /// The most sockets of a host and of all, and the most processes of a host.
    private static let mostSockets = 131_072
    private static let mostSocketsOfAll = 500_000
    private static let mostProcesses = 4_096

    package init() {}

    /// Adds a host that has said which kernel it runs (its boot ID), in which network namespace, and its time.
    package mutating func open(
        _ host: HostOrdinal, boot: String, namespace: UInt64, clock: MonotonicTime, at arrival: MonotonicTime
    ) {
        members[host] = Member(boot: boot, namespace: namespace, shift: arrival - clock, last: arrival)
    }

    /// The boot ID of a host that was opened, or `nil`.
    package func boot(of host: HostOrdinal) -> String? { members[host]?.boot }

    /// How far the viewer's clock is ahead of a host's, and for how long nothing has come from it, once it was opened.
    package func distance(of host: HostOrdinal) -> Duration? { members[host]?.shift }
    package func age(of host: HostOrdinal, at time: MonotonicTime) -> Duration? {
        members[host].flatMap { $0.looks > 0 ? max(.zero, time - $0.last) : nil }
    }

    /// Removes a host. Returns what makes all of it disappear.
    package mutating func close(_ host: HostOrdinal, from look: HostLook, at time: MonotonicTime) -> HostMerge {
        members[host] = nil
        claims = claims.filter { $0.value != host }
        var update = HostUpdate()
        update.isFull = true
        return HostMerge(update, of: host, shift: .zero, at: time, isAnew: true, look: look) { _ in false }
    }

    /// The number of looks that a host has told.
    package func looks(of host: HostOrdinal) -> Int { members[host]?.looks ?? 0 }

    /// How long a host has been silent, if that is longer than it should be.
    package func silence(of host: HostOrdinal, at time: MonotonicTime) -> Duration? {
        guard let member = members[host] else { return nil }
        return time - member.last > member.patience ? time - member.last : nil
    }

    /// Whether a host has told more than any should, so that it must be closed.
    package func isOverfull(_ look: HostLook, with host: HostOrdinal) -> Bool {
        guard
            look.sockets.count > Self.mostSockets || look.owners.count > Self.mostSockets
                || look.processes.count > Self.mostProcesses
        else { return false }
        return look.sockets.count { $0.host == host } > Self.mostSockets
            || look.owners.keys.count { HostOrdinal(ofInode: $0) == host } > Self.mostSockets
            || look.processes.keys.count { HostOrdinal(ofProcess: $0) == host } > Self.mostProcesses
            || look.sockets.count > Self.mostSocketsOfAll
    }

    /// Returns what an update changes in the view, or `nil` if the host was not opened.
    package mutating func merge(
        _ update: HostUpdate, of host: HostOrdinal, at arrival: MonotonicTime, into look: HostLook
    ) -> HostMerge? {
        guard var member = members[host] else { return nil }
        let shift = arrival - update.sent
        // Nobody knows what happened before the first look.
        let isAnew = member.looks == 0 || shift - member.shift > Self.clockStood
        member.shift = isAnew ? shift : min(shift, member.shift)
        member.looks = isAnew ? 1 : member.looks + 1
        member.last = arrival
        member.patience = max(Self.leastPatience, min(update.interval, .seconds(20)) * 3)
        let passed = isAnew ? .zero : max(.zero, update.time - (member.began ?? update.time))
        member.began = update.time
        members[host] = member
        // Only who tells of a namespace claims it.
        for namespace in update.namespaces { claim(inode(of: namespace, in: member), for: host) }
        let foreign = Set(update.namespaces.filter { isForeign($0, to: host) }.map(\.ordinal))
        return HostMerge(
            update, of: host, shift: member.shift, at: max(arrival, look.time + .nanoseconds(1)), isAnew: isAnew,
            passed: passed, look: look
        ) { !foreign.contains($0) }
    }

    /// The agent that told of a namespace first tells of its sockets.
    private mutating func claim(_ inode: UInt64, for host: HostOrdinal) {
        guard inode != 0, let boot = members[host]?.boot, !boot.isEmpty else { return }
        let claim = Claim(boot: boot, inode: inode)
        if claims[claim] == nil { claims[claim] = host }
    }

    private func isForeign(_ namespace: HostNamespace, to host: HostOrdinal) -> Bool {
        guard let member = members[host] else { return false }
        return claims[Claim(boot: member.boot, inode: inode(of: namespace, in: member))].map { $0 != host } ?? false
    }

    private func inode(of namespace: HostNamespace, in member: Member) -> UInt64 {
        namespace.inode == 0 && namespace.ordinal == 0 ? member.namespace : namespace.inode
    }
}
