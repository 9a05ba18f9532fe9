import Dispatch
import Glibc
import InspectorCore
import SocketKit

/// Finds which programs of this host are at the other ends of the connections in sight, and what they have not read.
///
/// It works on a queue of its own, one round at a time: what comes while one is under way is left out, since the next
/// snapshot brings it again.
final class PeerFinder: Sendable {
    private let queue = DispatchQueue(label: "peers", qos: .utility)
    private let state = Lock(State())
    private let tell: @Sendable ([SocketID: PeerEnd]) -> Void

    private struct State {
        var isBusy = false
        var told: [SocketID: PeerEnd] = [:]
        /// Who has which socket open, and when that was last looked through.
        var owners: [UInt64: PeerEnd.Program] = [:]
        /// Sockets that nobody's descriptors were found for, or may be read.
        var unowned: Set<UInt64> = []
        var scanned: ContinuousClock.Instant?
    }

    /// Connections looked at in one round.
    private static let limit = 128
    /// Descriptors of processes looked at in one scan.
    private static let descriptorLimit = 100_000
    /// Between two scans of all processes, at least.
    private static let pause = Duration.seconds(1)

    /// - Parameter tell: called with what was found, on a queue of the finder's; not called when it is what it was.
    init(tell: @escaping @Sendable ([SocketID: PeerEnd]) -> Void) { self.tell = tell }

    /// Looks at the connections whose kernel side was asked for: those in sight. `process` says whose a session is.
    func look(
        _ snapshot: EngineSnapshot, _ asked: SnapshotRequest.KernelChoice,
        process: @escaping @Sendable (SocketID) -> Int
    ) {
        guard
            state.withLock({ state in
                defer { state.isBusy = true }
                return !state.isBusy
            })
        else { return }
        let wanted = Self.connections(in: snapshot, asked)
        queue.async { @Sendable [self] in
            let found = ends(of: wanted, process)
            let isNew = state.withLock { state in
                defer { (state.isBusy, state.told) = (false, found) }
                return state.told != found
            }
            if isNew { tell(found) }
        }
    }

    /// Those whose kernel side is told; of all that are listed only the ones asked for are looked at.
    private static func connections(
        in snapshot: EngineSnapshot, _ asked: SnapshotRequest.KernelChoice
    ) -> [SocketSnapshot] {
        var found: [SocketSnapshot] = []
        func add(_ index: Int) {
            guard snapshot.sockets[index].kernel != nil, snapshot.sockets[index].phase == .connected,
                snapshot.sockets[index].role != .listener
            else { return }
            found.append(snapshot.sockets[index])
        }
        switch asked {
        case .none: break
        case .only(let ids): ids.sorted().prefix(limit).compactMap(snapshot.position).forEach(add)
        case .all: for index in snapshot.sockets.indices where found.count < limit { add(index) }
        }
        return found
    }

    private func ends(
        of sockets: [SocketSnapshot], _ process: (SocketID) -> Int
    ) -> [SocketID: PeerEnd] {
        guard let diagnosis = SocketDiagnosis() else { return [:] }
        var answers: [SocketID: SocketDiagnosis.Answer] = [:]
        for socket in sockets {
            guard let local = socket.local, let peer = socket.peer else { continue }
            if peer.isUnix {
                guard let descriptor = socket.descriptor else { continue }
                answers[socket.id] = diagnosis.other(process: pid_t(process(socket.id)), descriptor: descriptor)
            } else {
                answers[socket.id] = diagnosis.other(local: local, peer: peer)
            }
        }
        learn(Set(answers.values.map(\.inode)))
        let owners = state.withLock { $0.owners }
        return answers.mapValues { PeerEnd(program: owners[$0.inode], unread: $0.unread) }
    }

    /// Finds who has these sockets open, by a scan of all processes where somebody is not known yet.
    private func learn(_ inodes: Set<UInt64>) {
        var (owners, unowned, scanned) = state.withLock { ($0.owners, $0.unowned, $0.scanned) }
        // A socket of that number may be another one by now, or have been handed on.
        owners = owners.filter { inode, owner in
            inodes.contains(inode) && SocketDiagnosis.inode("/proc/\(owner.process)/fd/\(owner.descriptor)") == inode
        }
        unowned.formIntersection(inodes)
        let missing = inodes.subtracting(owners.keys).subtracting(unowned)
        if !missing.isEmpty, scanned.map({ ContinuousClock.now - $0 > Self.pause }) ?? true {
            let found = DescriptorScan.owners(of: missing, limit: Self.descriptorLimit)
            owners.merge(found) { old, _ in old }
            unowned.formUnion(missing.subtracting(found.keys))
            scanned = .now
        }
        state.withLock { ($0.owners, $0.unowned, $0.scanned) = (owners, unowned, scanned) }
    }
}

/// Looks through /proc for who has a socket open.
enum DescriptorScan {
    /// Of each socket, one program that has it open, as far as this user may see, and so many descriptors reach.
    static func owners(of inodes: Set<UInt64>, limit: Int) -> [UInt64: PeerEnd.Program] {
        var missing = inodes
        var found: [UInt64: PeerEnd.Program] = [:]
        var looked = 0
        for process in names(in: "/proc") {
            guard let number = Int(process), !missing.isEmpty, looked <= limit else { continue }
            for descriptor in names(in: "/proc/\(process)/fd") {
                looked += 1
                guard let inode = SocketDiagnosis.inode("/proc/\(process)/fd/\(descriptor)"),
                    missing.remove(inode) != nil, let descriptor = Int32(descriptor)
                else { continue }
                let name = TextFile.read("/proc/\(process)/comm", limit: 64) ?? ""
                found[inode] = PeerEnd.Program(
                    process: number, name: String(name.prefix { $0 != "\n" }), descriptor: descriptor)
            }
        }
        return found
    }

    /// The names in a folder, those that begin with a dot left out.
    static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }
}
