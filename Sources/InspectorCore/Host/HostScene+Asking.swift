import SocketCore

/// Determines how a socket is requested, by each program that has it open.
struct HostAsker {
    let scene: HostScene
    let ledger: HostLedger

    /// How long all threads must have been idle to prove, without reading their calls, that none waits for unread
    /// bytes.
    static let idleProof = Duration.seconds(5)

    /// - Parameter isClose: whether its programs were examined because of it. Otherwise only the owner is returned.
    func asking(for socket: HostSocket, isClose: Bool = true) -> HostAsking {
        let owners = scene.owners(of: socket)
        guard socket.inode != 0, !owners.isEmpty else { return ownerless(socket) }
        var best: (asking: HostAsking, start: UInt64)?
        for owner in owners {
            let asking = self.asking(for: socket, owner, isClose)
            let start = asking.process?.start ?? 0
            if let best {
                guard asking.kind.rawValue <= best.asking.kind.rawValue else { continue }
                // Of equals, prefer the youngest: a server's parent keeps the sockets that its children use.
                if asking.kind == best.asking.kind, owner.process == 1 || start <= best.start { continue }
            }
            best = (asking, start)
        }
        var asking = best?.asking ?? ownerless(socket)
        if owners.count > 1 { asking.others = Set(owners.map(\.process)).count - 1 }
        return asking
    }

    private func ownerless(_ socket: HostSocket) -> HostAsking {
        let waits = socket.state == .established || socket.state == .closeWait
        if socket.inode != 0 { return HostAsking(.hidden, .queues, scene.look.time) }
        let hasListener = scene.isServerSide(socket) && waits
        return HostAsking(hasListener ? .unaccepted : .orphan, .queues, scene.look.time)
    }

    private func asking(for socket: HostSocket, _ owner: HostLook.Owner, _ isClose: Bool) -> HostAsking {
        guard isClose, let program = scene.programs[owner.process] else {
            var asking = HostAsking(.hidden, .queues, scene.look.time)
            asking.process = scene.look.processes[owner.process]?.id
            asking.descriptor = owner.descriptor
            return asking
        }
        let isIdle = isIdle(program, socket)
        let seen = Seen(program, owner.descriptor, proof(program, socket, isIdle: isIdle), isIdle, scene.look.time)
        if let halt = program.halt { return seen.say(.stopped, halt, "stopped") }
        let thread =
            program.reader(of: owner.descriptor) ?? (socket.isListening ? program.accepter(on: owner.descriptor) : nil)
        if let thread { return seen.asks(thread) }
        if let mark = scene.look.lowWater[socket.inode], mark > socket.unread ?? 0 {
            let words = "its low-water mark (SO_RCVLOWAT) is \(Format.size(mark)), and less than that is unread"
            return seen.say(.asks, words, "low water")
        }
        if program.hasUnreadSets { return seen.say(.hidden, "not all of its epoll sets could be read", "-") }
        let inSet = lookIntoSets(seen, socket)
        if let inSet, inSet.kind == .asks { return inSet }
        if program.process.hasRing {
            return seen.say(.unseen, "an io_uring request may be pending, which is not visible", "io_uring")
        }
        if hasRestartedCall(program) { return seen.say(.hidden, "a restarted call is not visible", "-") }
        if seen.proof == .queues { return seen.say(.hidden, "not all of its calls are visible", "-") }
        // If reads are not counted, the queue may have grown back to the same length, with the reader just returned
        // from recv.
        if socket.consumed == nil, let thread = program.running {
            return seen.say(.hidden, "thread \(HostOrdinal.kernelProcess(thread.number)) is running", "running")
        }
        if inSet == nil, seen.proof == .wchan, !isIdle, program.threads(waiting: Self.mayAsk(socket)) > 0 {
            return seen.say(.asks, "one of its threads waits on a socket", "-")
        }
        return inSet ?? seen.nobody()
    }

    /// Whether no thread has run while bytes were unread, so that none waits for them.
    private func isIdle(_ program: HostProgram, _ socket: HostSocket) -> Bool {
        guard socket.unread ?? 0 > 0, let idle = program.leastIdle else { return false }
        return idle >= Self.idleProof && unread(socket) >= Self.idleProof
    }

    /// Returns what a look proves. A thread that may be in recv, or wait for this socket among others, may wait for
    /// more bytes than are available (SO_RCVLOWAT), so its idleness is not a proof.
    private func proof(_ program: HostProgram, _ socket: HostSocket, isIdle: Bool) -> Evidence {
        if program.showsCalls { return .arguments }
        var waits: Set<HostWait> = [.receiveOrSend, .receive]
        if mayHaveMark(socket) {
            waits.insert(.poll)
            let isListenedFor = program.entries(of: socket.inode).contains { $0.1.listensForInput }
            if isListenedFor { waits.insert(.pollSet) }
        }
        if isIdle, program.threads(waiting: waits) == 0 { return .idle }
        return program.process.rung == .waitChannel ? .wchan : .queues
    }

    /// Whether an unreadable low-water mark may keep its bytes from being reported. If the window is closed, the kernel
    /// reports them regardless of the mark (tcp_stream_is_readable).
    private func mayHaveMark(_ socket: HostSocket) -> Bool {
        guard socket.transport == .tcp, scene.look.lowWater[socket.inode] == nil else { return false }
        let window = socket.tcp?.receiveWindow ?? scene.peer(of: socket)?.tcp?.sendWindow
        return window.map { $0 > Self.leastWindow } ?? true
    }

    /// RFC 9293, 3.7.1: the minimum segment size.
    private static let leastWindow: UInt32 = 536

    private static func mayAsk(_ socket: HostSocket) -> Set<HostWait> {
        socket.isListening ? [.accept, .poll, .pollSet] : [.receiveOrSend, .receive, .poll, .pollSet]
    }

    /// Whether there is a restarted call whose kind of wait is unknown too.
    private func hasRestartedCall(_ program: HostProgram) -> Bool {
        program.process.threads.contains { $0.call?.kind == .restarted }
    }

    // MARK: Epoll sets

    /// Returns how the epoll sets request the socket, or `nil` if it is in none.
    private func lookIntoSets(_ seen: Seen, _ socket: HostSocket) -> HostAsking? {
        var found: HostAsking?
        for (set, entry) in seen.program.entries(of: socket.inode) {
            let asking = lookInto(set, entry, seen, socket)
            if asking.kind == .asks { return asking }
            if asking.kind.rawValue < found?.kind.rawValue ?? .max { found = asking }
        }
        return found
    }

    private func lookInto(
        _ set: Int32, _ entry: HostProcess.PollEntry, _ seen: Seen, _ socket: HostSocket
    ) -> HostAsking {
        let (program, waiter) = (seen.program, seen.program.waiter(in: set))
        guard entry.listensForInput else {
            var what = entry.listensForOutput ? "output only" : "no events on it"
            if entry.isOneShot, !entry.listensForOutput { what += " (one-shot, fired and not rearmed)" }
            return seen.say(.unasked, "epoll set \(set) is registered for \(what)", "nobody", waiter?.thread)
        }
        let isEdge = entry.isEdgeTriggered || waiter?.isEdge == true
        if let waiter, !isEdge {
            return seen.asks(waiter.thread, entry.listensForOutput ? "epoll in, out" : "epoll in")
        }
        let inLoops = program.process.rung < .arguments ? program.threads(waiting: [.pollSet]) : 0
        // Without the arguments, it is not known which thread waits in which set.
        if inLoops > 0, !seen.isIdle || inLoops >= program.sets.count {
            return isEdge ? seen.edge(nil) : seen.say(.asks, "a thread waits in epoll", "epoll in")
        }
        let isBusy = isBusy(set, program, but: socket)
        if waiter != nil || isBusy && isEdge || inLoops > 0 && isEdge { return seen.edge(waiter?.thread) }
        if isBusy { return seen.say(.asks, "its event loop is busy with other sockets", "epoll in") }
        return seen.stuck()
    }

    /// Whether another socket of the set was read meanwhile.
    private func isBusy(_ set: Int32, _ program: HostProgram, but socket: HostSocket) -> Bool {
        guard let members = program.sets[set] else { return false }
        return ledger.consumed.contains { $0 != socket.inode && members[$0] != nil }
    }

    // MARK: Durations

    /// Returns the minimum time for which no unread byte was read: as our own looks show, or while the bytes were there
    /// and no thread of any owner has run.
    func unread(_ socket: HostSocket) -> Duration {
        let seen = ledger.readStall(socket)
        guard socket.transport == .tcp, let age = socket.tcp?.lastReceived else { return seen }
        let idle = scene.owners(of: socket).map { scene.programs[$0.process]?.leastIdle }
        guard !idle.isEmpty, !idle.contains(nil), let least = idle.compactMap({ $0 }).min() else { return seen }
        return max(seen, min(age, least))
    }
}

/// The facts about one socket in one program, and the words for them.
private struct Seen {
    let program: HostProgram
    let descriptor: Int32
    let proof: Evidence
    let isIdle: Bool
    let time: MonotonicTime

    init(_ program: HostProgram, _ descriptor: Int32, _ proof: Evidence, _ isIdle: Bool, _ time: MonotonicTime) {
        (self.program, self.descriptor, self.time) = (program, descriptor, time)
        (self.proof, self.isIdle) = (proof, isIdle)
    }

    func say(_ kind: HostAsking.Kind, _ words: String, _ short: String, _ thread: HostThread? = nil) -> HostAsking {
        var asking = HostAsking(kind, proof, time)
        (asking.process, asking.descriptor) = (program.process.id, descriptor)
        (asking.words, asking.short) = (words, short)
        let about = thread ?? program.main
        (asking.thread, asking.idle, asking.isWaiting) = (about?.number, about?.idle, thread != nil)
        return asking
    }

    func asks(_ thread: HostThread, _ short: String? = nil) -> HostAsking {
        say(.asks, short ?? thread.clause, short ?? thread.short, thread)
    }

    func edge(_ waiter: HostThread?) -> HostAsking { say(.edge, "epoll ET", "epoll ET", waiter) }
    func stuck() -> HostAsking { say(.stuck, inMain, "nobody") }

    func nobody() -> HostAsking {
        // A thread that waits to write is in this call, which the column should show.
        if let writer = program.writer(to: descriptor) {
            return say(.unasked, writer.clause, writer.short)
        }
        var asking = say(.unasked, inMain, "nobody")
        let threads = program.process.threads
        asking.wakesLater = threads.count == 1 && threads[0].call?.isTimedSleep == true
        return asking
    }

    private var inMain: String { program.main?.clause ?? "" }
}
