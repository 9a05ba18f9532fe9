import Dispatch
import Glibc
import InspectorCore
import SocketKit

/// Finds the local programs at the other ends of the visible connections, and what they have not read.
///
/// It works on its own queue, one round at a time. A snapshot that arrives during a round is skipped, because the next
/// one covers the same connections.
package final class PeerFinder: Sendable {
    private let queue = DispatchQueue(label: "peers", qos: .utility)
    private let state = Lock(State())
    private let tell: @Sendable ([SocketID: PeerEnd]) -> Void

    private struct State {
        var isBusy = false
        var told: [SocketID: PeerEnd] = [:]
        /// The snapshot of the last round, and when that round began.
        var looked: (snapshot: MonotonicTime, time: ContinuousClock.Instant)?
        /// The owners of the visible sockets, by inode.
        var owners: [UInt64: PeerEnd.Program] = [:]
        /// The location of every socket on this host as of the last scan of all processes. `nextScan` is the earliest
        /// time of the next scan.
        var places: [UInt64: DescriptorScan.Place] = [:]
        var nextScan = ContinuousClock.now
        /// Sockets whose owner was not found, or whose owner's descriptors may not be read.
        var unowned: Set<UInt64> = []
    }

    /// The most waiting connections that are named for each listener.
    private static let namedWaiting = 16
    /// The most connections examined in one round.
    private static let limit = 128
    /// The most descriptors examined in one scan.
    private static let descriptorLimit = 100_000
    /// The minimum interval between two scans of all processes. The interval is also at least `pauseFactor` times the
    /// duration of the last scan, for hosts with many descriptors and short-lived sockets.
    private static let pause = Duration.seconds(1)
    private static let pauseFactor = 100
    /// The minimum interval between two rounds on the same snapshot.
    private static let glance = Duration.milliseconds(500)

    /// - Parameter tell: called with the result, on the finder's queue. Not called if the result is unchanged.
    package init(tell: @escaping @Sendable ([SocketID: PeerEnd]) -> Void) { self.tell = tell }

    /// Looks up the connections whose kernel state was requested: the visible ones. `process` returns a session's
    /// process.
    package func look(
        _ snapshot: EngineSnapshot, _ asked: SnapshotRequest.KernelChoice,
        process: @escaping @Sendable (SocketID) -> Int
    ) {
        let isDue = state.withLock { state in
            if let (former, time) = state.looked, former == snapshot.time, .now - time < Self.glance { return false }
            guard !state.isBusy else { return false }
            state.isBusy = true
            state.looked = (snapshot.time, .now)
            return true
        }
        guard isDue else { return }
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

    /// Returns the sockets whose snapshot has kernel state. For a full list, returns only the requested ones.
    private static func connections(
        in snapshot: EngineSnapshot, _ asked: SnapshotRequest.KernelChoice
    ) -> [SocketSnapshot] {
        var found: [SocketSnapshot] = []
        func add(_ index: Int) {
            // Both ends of a captured connection are already known.
            guard let kernel = snapshot.sockets[index].kernel, snapshot.sockets[index].ends == nil else { return }
            let isListening = snapshot.sockets[index].role == .listener && kernel.receiveQueue ?? 0 > 0
            guard isListening || snapshot.sockets[index].phase == .connected else { return }
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
        let waiting = waiting(at: sockets.filter { $0.role == .listener }, diagnosis)
        func ask(_ socket: SocketSnapshot) -> SocketDiagnosis.Answer? {
            guard let local = socket.local, let peer = socket.peer else { return nil }
            if peer.family.isIP { return diagnosis.other(local: local, peer: peer) }
            guard let descriptor = socket.descriptor, let process = pid_t(exactly: process(socket.id)), process > 0
            else { return nil }
            return diagnosis.other(process: process, descriptor: descriptor)
        }
        for socket in sockets where socket.role != .listener { answers[socket.id] = ask(socket) }
        learn(Set(answers.values.map(\.inode)).union(waiting.values.joined().compactMap(\.inode))) { inode in
            sockets.first { answers[$0.id]?.inode == inode }.map { ask($0)?.inode != inode } ?? false
        }
        let owners = state.withLock { $0.owners }
        let ends = answers.mapValues { answer in
            var program = owners[answer.inode]
            if let process = program?.process, answer.unread ?? 0 > 0 {
                program?.isStopped = DescriptorScan.isStopped(process)
            }
            return PeerEnd(answer, program)
        }
        return waiting.reduce(into: ends) { ends, listener in
            let named = listener.value.map { peer, inode in
                PeerEnd.Waiting(peer: peer.description, program: inode.flatMap { owners[$0] })
            }
            ends[listener.key] = PeerEnd(waiting: named)
        }
    }

    /// Returns the connections waiting at these listeners, each with the inode of its other end if that is on this
    /// host.
    private func waiting(
        at listeners: [SocketSnapshot], _ diagnosis: borrowing SocketDiagnosis
    ) -> [SocketID: [(peer: SocketAddress, inode: UInt64?)]] {
        var found: [SocketID: [(peer: SocketAddress, inode: UInt64?)]] = [:]
        for listener in listeners {
            guard let local = listener.local, local.family.isIP else { continue }
            var those: [(peer: SocketAddress, inode: UInt64?)] = []
            for entry in WaitingConnections.find(at: [local]).prefix(Self.namedWaiting) {
                those.append((entry.peer, diagnosis.other(local: entry.local, peer: entry.peer)?.inode))
            }
            found[listener.id] = those
        }
        return found
    }

    /// Finds the owners of these sockets, at their locations in the last scan of all processes or by a new scan.
    ///
    /// A socket may close between the kernel's answer and this lookup. The answer then still concerns its last known
    /// owner. `isGone` asks the kernel again.
    private func learn(_ inodes: Set<UInt64>, isGone: (UInt64) -> Bool) {
        var (owners, unowned, places, nextScan) = state.withLock { ($0.owners, $0.unowned, $0.places, $0.nextScan) }
        let former = owners
        // The inode may now belong to another socket, or the socket may have been passed to another process.
        owners = owners.filter { inode, owner in
            inodes.contains(inode) && DescriptorScan.Place(owner).holds(inode)
        }
        unowned.formIntersection(inodes)
        func find() -> Set<UInt64> {
            let missing = inodes.subtracting(owners.keys).subtracting(unowned)
            for inode in missing {
                if let place = places[inode], place.holds(inode) { owners[inode] = place.program }
            }
            return missing.subtracting(owners.keys)
        }
        if !find().isEmpty, .now >= nextScan {
            let began = ContinuousClock.now
            places = DescriptorScan.sockets(limit: Self.descriptorLimit)
            nextScan = .now + max(Self.pause, (.now - began) * Self.pauseFactor)
            unowned.formUnion(find())
        }
        for inode in inodes where owners[inode] == nil {
            if let program = former[inode], isGone(inode) { owners[inode] = program }
        }
        state.withLock { ($0.owners, $0.unowned, $0.places, $0.nextScan) = (owners, unowned, places, nextScan) }
    }
}

extension PeerEnd {
    /// Combines the kernel's answer about a socket with its owner.
    package init(_ answer: SocketDiagnosis.Answer, _ program: Program?) {
        self.init(
            program: program, unread: answer.unread, unsent: answer.unsent, isClosing: answer.isClosing,
            hasReadEnd: answer.isClosing ? answer.hasReadEnd : nil)
    }
}

/// Scans /proc for the owners of sockets.
package enum DescriptorScan {
    /// A descriptor of a process.
    package struct Place {
        package var process: Int
        package var descriptor: Int32

        package init(process: Int, descriptor: Int32) { (self.process, self.descriptor) = (process, descriptor) }
        package init(_ program: PeerEnd.Program) { self.init(process: program.process, descriptor: program.descriptor) }

        /// Whether the descriptor still refers to that socket.
        package func holds(_ inode: UInt64) -> Bool {
            SocketDiagnosis.inode("/proc/\(process)/fd/\(descriptor)") == inode
        }

        /// The process, with its name.
        package var program: PeerEnd.Program {
            let name = TextFile.read("/proc/\(process)/comm", limit: 64) ?? ""
            return PeerEnd.Program(process: process, name: String(name.prefix { $0 != "\n" }), descriptor: descriptor)
        }
    }

    /// Whether a process is stopped by a signal, or by a debugger.
    package static func isStopped(_ process: Int) -> Bool {
        // The state follows the name, which may contain any character.
        guard let text = TextFile.read("/proc/\(process)/stat", limit: 512), let name = text.lastIndex(of: ")") else {
            return false
        }
        return text[name...].dropFirst(2).first.map { $0 == "T" || $0 == "t" } ?? false
    }

    /// Returns one program that has each of these sockets open. Covers what this user may see, up to `limit`
    /// descriptors.
    package static func owners(of inodes: Set<UInt64>, limit: Int) -> [UInt64: PeerEnd.Program] {
        var missing = inodes
        var found: [UInt64: Place] = [:]
        walk(limit: limit) { place, inode in
            if missing.remove(inode) != nil { found[inode] = place }
            return !missing.isEmpty
        }
        return found.mapValues(\.program)
    }

    /// Returns one location of every socket. Covers what this user may see, up to `limit` descriptors.
    package static func sockets(limit: Int) -> [UInt64: Place] {
        var found: [UInt64: Place] = [:]
        walk(limit: limit) { place, inode in
            if found[inode] == nil { found[inode] = place }
            return true
        }
        return found
    }

    /// Visits the sockets of each process in turn until `goesOn` returns false.
    private static func walk(limit: Int, _ goesOn: (Place, UInt64) -> Bool) {
        var looked = 0
        for process in names(in: "/proc") {
            guard let number = Int(process), looked <= limit else { continue }
            for name in names(in: "/proc/\(process)/fd") {
                looked += 1
                guard let descriptor = Int32(name),
                    let inode = SocketDiagnosis.inode("/proc/\(process)/fd/\(name)")
                else { continue }
                guard goesOn(Place(process: number, descriptor: descriptor), inode) else { return }
            }
        }
    }

    /// Returns the names in a folder, except those that start with a dot.
    package static func names(in folder: String) -> [String] {
        guard let stream = folder.withNative({ opendir($0) }) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            // Read the name in place: the record ends after the name, so it is shorter than its type.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(native: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }
}
