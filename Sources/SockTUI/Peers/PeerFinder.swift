import Dispatch
import Glibc
import InspectorCore
import SocketKit

/// Finds which programs of this host are at the other ends of the connections in sight, and what they have not read.
///
/// It works on its own queue, one round at a time: what comes while one is under way is left out, since the next
/// snapshot brings it again.
final class PeerFinder: Sendable {
    private let queue = DispatchQueue(label: "peers", qos: .utility)
    private let state = Lock(State())
    private let tell: @Sendable ([SocketID: PeerEnd]) -> Void

    private struct State {
        var isBusy = false
        var told: [SocketID: PeerEnd] = [:]
        /// The snapshot that was looked at last, and when.
        var looked: (snapshot: MonotonicTime, time: ContinuousClock.Instant)?
        /// Who has which socket open, of those in sight.
        var owners: [UInt64: PeerEnd.Program] = [:]
        /// Where every socket of this host was when all processes were last looked through, when that was, and when it may
        /// be done again.
        var places: [UInt64: DescriptorScan.Place] = [:]
        var nextScan = ContinuousClock.now
        /// Sockets that nobody's descriptors were found for, or may be read.
        var unowned: Set<UInt64> = []
    }

    /// Of those who wait at one listener, so many are named.
    private static let namedWaiting = 16
    /// Connections looked at in one round.
    private static let limit = 128
    /// Descriptors of processes looked at in one scan.
    private static let descriptorLimit = 100_000
    /// Between two scans of all processes, at least; and so many times as long as one took, where there are many
    /// descriptors and sockets that come and go.
    private static let pause = Duration.seconds(1)
    private static let pauseFactor = 100
    /// Between two looks at one snapshot.
    private static let glance = Duration.milliseconds(500)

    /// - Parameter tell: called with what was found, on a queue of the finder's; not called when it is what it was.
    init(tell: @escaping @Sendable ([SocketID: PeerEnd]) -> Void) { self.tell = tell }

    /// Looks at the connections whose kernel side was asked for: those in sight. `process` says whose a session is.
    func look(
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

    /// Those whose kernel side is told; of all that are listed only the ones asked for are looked at.
    private static func connections(
        in snapshot: EngineSnapshot, _ asked: SnapshotRequest.KernelChoice
    ) -> [SocketSnapshot] {
        var found: [SocketSnapshot] = []
        func add(_ index: Int) {
            // Both ends of a connection that is captured are known.
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

    /// Those who wait at these listeners, each with the inode of its own end where it is on this host.
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

    /// Finds who has these sockets open: where they were at the last scan of all processes, or by a new one.
    ///
    /// A socket may be closed between the kernel's answer about it and this: what it answered is of the program that had
    /// it until then. `isGone` asks the kernel again.
    private func learn(_ inodes: Set<UInt64>, isGone: (UInt64) -> Bool) {
        var (owners, unowned, places, nextScan) = state.withLock { ($0.owners, $0.unowned, $0.places, $0.nextScan) }
        let former = owners
        // A socket of that number may be another one by now, or have been handed on.
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
    /// What the kernel said of a socket, and who has it open.
    init(_ answer: SocketDiagnosis.Answer, _ program: Program?) {
        self.init(
            program: program, unread: answer.unread, unsent: answer.unsent, isClosing: answer.isClosing,
            hasReadEnd: answer.isClosing ? answer.hasReadEnd : nil)
    }
}

/// Looks through /proc for who has which socket open.
enum DescriptorScan {
    /// A descriptor of a process.
    struct Place {
        var process: Int
        var descriptor: Int32

        init(process: Int, descriptor: Int32) { (self.process, self.descriptor) = (process, descriptor) }
        init(_ program: PeerEnd.Program) { self.init(process: program.process, descriptor: program.descriptor) }

        /// Whether that socket is there.
        func holds(_ inode: UInt64) -> Bool { SocketDiagnosis.inode("/proc/\(process)/fd/\(descriptor)") == inode }

        /// The process by its name.
        var program: PeerEnd.Program {
            let name = TextFile.read("/proc/\(process)/comm", limit: 64) ?? ""
            return PeerEnd.Program(process: process, name: String(name.prefix { $0 != "\n" }), descriptor: descriptor)
        }
    }

    /// Whether a process is stopped by a signal, or by a debugger.
    static func isStopped(_ process: Int) -> Bool {
        // The state stands after the name, which may contain anything.
        guard let text = TextFile.read("/proc/\(process)/stat", limit: 512), let name = text.lastIndex(of: ")") else {
            return false
        }
        return text[name...].dropFirst(2).first.map { $0 == "T" || $0 == "t" } ?? false
    }

    /// Of each of these sockets, one program that has it open, as far as this user may see, and so many descriptors reach.
    static func owners(of inodes: Set<UInt64>, limit: Int) -> [UInt64: PeerEnd.Program] {
        var missing = inodes
        var found: [UInt64: Place] = [:]
        walk(limit: limit) { place, inode in
            if missing.remove(inode) != nil { found[inode] = place }
            return !missing.isEmpty
        }
        return found.mapValues(\.program)
    }

    /// One place of every socket, as far as this user may see, and so many descriptors reach.
    static func sockets(limit: Int) -> [UInt64: Place] {
        var found: [UInt64: Place] = [:]
        walk(limit: limit) { place, inode in
            if found[inode] == nil { found[inode] = place }
            return true
        }
        return found
    }

    /// Looks at the sockets of one process after the other until `goesOn` says no.
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

    /// The names in a folder, those that begin with a dot left out.
    static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            // At its place in memory: the record ends after the name, and is shorter than its type.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }
}
