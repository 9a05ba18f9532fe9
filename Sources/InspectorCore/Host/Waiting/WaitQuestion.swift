import SocketCore

/// A question on a connection that has not been answered: who asked, whom, and since when.
struct WaitQuestion: Sendable {
    /// How it is known that an answer is owed.
    enum Form: String, Sendable {
        /// The asking end was the last to send.
        case answer
        /// Both ends sent last within one tick of the kernel's clock, so only the threads at both ends tell who waits.
        case tie
        /// The connection waits to be accepted.
        case accept
        /// The SYN is unanswered.
        case handshake
        /// Nothing has come from a name server.
        case resolver
        /// A Unix-domain socket, for which the kernel keeps no times.
        case local
    }

    var form: Form
    /// The asking end.
    var asker: HostSocket
    /// The other end, or `nil` if it is on another host or not visible. For a connection that waits to be accepted, the
    /// listener.
    var answerer: HostSocket?
    /// The minimum time since it was asked, or `nil` if not known.
    var age: Duration?
    /// The thread that waits for nothing but this answer, if there is one.
    var thread: HostThread?

    var id: UInt64 { asker.id }

    /// How long ago it was asked, if the kernel keeps the time. Otherwise `age` may be less than that.
    var moment: Duration? { form == .answer || form == .tie ? age : nil }
    /// The minimum time since it was asked, if it does not depend on how long a thread has not run, which may be a second
    /// less.
    var least: Duration? { asker.transport == .tcp ? age : nil }

    /// Whether it was asked before another, or has the lower identity if that is not known.
    func isBefore(_ other: WaitQuestion) -> Bool {
        let (mine, others) = (age ?? .zero, other.age ?? .zero)
        return mine == others ? id < other.id : mine > others
    }

    /// The kernel's clock for bytes ticks up to every 10 ms, and both ends are asked one after the other.
    static let tick = Duration.milliseconds(20)

    /// The time of its last byte: which side sent it, and how long ago.
    enum Clock: Equatable { case open(Duration), tie(Duration), answered }

    /// Returns what the kernel's times of an end say about its last question.
    static func clock(_ socket: HostSocket) -> Clock {
        guard let tcp = socket.tcp, let sent = socket.sentBytes, sent > 0, let asked = tcp.lastSent else {
            return .answered
        }
        guard let received = socket.receivedBytes, received > 0, let answered = tcp.lastReceived else {
            return .open(asked)
        }
        if asked + tick < answered { return .open(asked) }
        return answered + tick < asked ? .answered : .tie(asked)
    }

    /// Returns the identities of the TCP sockets that may have waited for at least this long, the oldest question first.
    /// Only their own counters are used, because a host has thousands of sockets.
    static func oldest(in sockets: [HostSocket], _ least: Duration, most: Int) -> [UInt64] {
        var old: [(id: UInt64, age: Duration)] = []
        for index in sockets.indices where sockets[index].transport == .tcp && sockets[index].inode != 0 {
            if sockets[index].state == .synSent {
                old.append((sockets[index].id, .seconds(Int(sockets[index].retransmits))))
                continue
            }
            guard let asked = sockets[index].tcp?.lastSent, asked >= least, sockets[index].state == .established else {
                continue
            }
            // A connection that waits to be accepted may have sent nothing. A tie is no evidence, and every idle connection
            // whose last question was answered at once is one.
            switch clock(sockets[index]) {
            case .open: break
            case .tie: continue
            case .answered: if sockets[index].receivedBytes ?? 0 > 0 { continue }
            }
            old.append((sockets[index].id, asked))
        }
        return old.sorted { ($0.age, $1.id) > ($1.age, $0.id) }.prefix(most).map(\.id)
    }
}

/// Finds the unanswered questions of one moment.
struct WaitQuestions {
    let facts: HostFacts

    var scene: HostScene { facts.scene }

    /// Returns the question that this end asks, if it is not answered and somebody waits for the answer.
    func question(by socket: HostSocket) -> WaitQuestion? {
        guard socket.inode != 0, !socket.isListening else { return nil }
        switch socket.transport {
        case .tcp: return socket.state == .synSent ? handshake(socket) : stream(socket)
        case .udp: return resolver(socket)
        case .unixStream, .unixPacket: return local(socket)
        case .unixDatagram: return nil
        }
    }

    // MARK: TCP

    private func stream(_ socket: HostSocket) -> WaitQuestion? {
        guard [.established, .finWait1, .finWait2].contains(socket.state), isClient(socket) else { return nil }
        let peer = scene.peer(of: socket)
        if let peer, peer.inode == 0, peer.state == .established || peer.state == .closeWait {
            return unaccepted(socket, peer, by: scene.listener(holding: peer))
        }
        switch WaitQuestion.clock(socket) {
        case .answered: return nil
        case .open(let age):
            guard isAwaited(socket), peer.map(readsOn) != true else { return nil }
            return WaitQuestion(form: .answer, asker: socket, answerer: peer, age: age, thread: waiter(for: socket))
        case .tie(let age):
            // Who sent last is not known, but a thread that waits for nothing else waits for whoever does not read.
            guard let peer, let thread = waiter(for: socket), isLeftAlone(peer) else { return nil }
            return WaitQuestion(form: .tie, asker: socket, answerer: peer, age: age, thread: thread)
        }
    }

    /// - Parameter peer: its other end, which no program has yet, or `nil` if that is not listed.
    private func unaccepted(_ socket: HostSocket, _ peer: HostSocket?, by listener: HostSocket?) -> WaitQuestion? {
        guard let listener, isAwaited(socket),
            case let asking = facts.asker.asking(for: listener),
            // An accepting thread may be late, but it exists.
            asking.kind != .asks || !asking.isWaiting
        else { return nil }
        let thread = waiter(for: socket)
        // The kernel keeps no times of a Unix-domain socket, but the thread may have waited since it connected.
        let age = [socket.tcp?.lastAcknowledged, peer?.tcp?.lastAcknowledged].compactMap { $0 }.min() ?? thread?.idle
        return WaitQuestion(
            form: .accept, asker: socket, answerer: listener,
            age: max(facts.ledger.ownerAge(peer ?? socket), age ?? .zero), thread: thread)
    }

    private func handshake(_ socket: HostSocket) -> WaitQuestion? {
        guard isConnectAwaited(socket) else { return nil }
        let full = scene.listener(answering: socket).flatMap { $0.receiveQueue ?? 0 > $0.sendQueue ?? 0 ? $0 : nil }
        // The first retransmissions are a second or more apart.
        let age = max(facts.ledger.ownerAge(socket), .seconds(Int(socket.retransmits)))
        return WaitQuestion(
            form: .handshake, asker: socket, answerer: full, age: age > .zero ? age : nil, thread: waiter(for: socket))
    }

    /// Whether it is the end that asks, as far as ports tell.
    private func isClient(_ socket: HostSocket) -> Bool {
        if scene.isServerSide(socket) { return false }
        if let peer = scene.peer(of: socket), scene.isServerSide(peer) { return true }
        guard let chosen = scene.look.localPorts(in: socket.namespace), let near = socket.local?.port,
            let far = socket.peer?.port
        else { return true }
        return chosen.contains(near) || !chosen.contains(far)
    }

    // MARK: Others

    static let nameService: UInt16 = 53

    private func resolver(_ socket: HostSocket) -> WaitQuestion? {
        guard socket.peer?.port == Self.nameService, socket.unread ?? 0 == 0 else { return nil }
        let asking = facts.asker.asking(for: socket)
        guard asking.kind == .asks else { return nil }
        let age = max(facts.ledger.ownerAge(socket), asking.waited ?? .zero)
        return WaitQuestion(
            form: .resolver, asker: socket, answerer: scene.nameServer(answering: socket), age: age > .zero ? age : nil,
            thread: waiter(for: socket))
    }

    private func local(_ socket: HostSocket) -> WaitQuestion? {
        if socket.isQueued { return unaccepted(socket, nil, by: scene.listener(awaitedBy: socket)) }
        guard socket.unread ?? 0 == 0, let peer = scene.peer(of: socket), peer.inode != 0,
            socket.local?.name?.isEmpty != false, isLeftAlone(peer)
        else { return nil }
        if let thread = waiter(for: socket) {
            let age = [thread.idle, owed(by: peer)].compactMap { $0 }.max()
            return WaitQuestion(form: .local, asker: socket, answerer: peer, age: age, thread: thread)
        }
        // An event loop listens to the outputs of its children, too, so the other end must be a server's.
        guard scene.isServerSide(peer), [.asks, .edge].contains(facts.asker.asking(for: socket).kind) else {
            return nil
        }
        return WaitQuestion(form: .local, asker: socket, answerer: peer, age: owed(by: peer), thread: nil)
    }

    /// Returns the minimum time for which this end of a Unix-domain connection has had the question: what it has read
    /// came before its programs last ran.
    private func owed(by socket: HostSocket) -> Duration? {
        if socket.unread ?? 0 > 0 { return facts.ledger.readStall(socket) }
        let idle = scene.owners(of: socket).map { scene.programs[$0.process]?.leastIdle }
        return idle.contains(nil) ? nil : idle.compactMap { $0 }.min()
    }

    // MARK: Threads

    /// A thread that has run within this time may be between two calls.
    private static let between = Duration.milliseconds(100)

    /// Whether somebody may wait for what comes here. A program that only sends does not.
    private func isAwaited(_ socket: HostSocket) -> Bool {
        let asking = facts.asker.asking(for: socket)
        switch asking.kind {
        case .asks, .edge, .hidden, .unseen: return true
        case .unasked, .stuck:
            // Between two calls, as curl is once a second, or stuck in one that comes before the answer.
            let program = asking.process.flatMap { scene.programs[$0.number] }
            let hasRun = program?.running != nil || program?.leastIdle.map { $0 < Self.between } ?? false
            return asking.kind == .stuck || hasRun
        case .stopped, .unaccepted, .orphan: return false
        }
    }

    /// Whether somebody may wait for this connection to be made. Nobody does after a `connect` that did not block, until
    /// a thread or an event loop listens for it.
    private func isConnectAwaited(_ socket: HostSocket) -> Bool {
        isAwaited(socket) || waiter(for: socket) != nil
            || scene.owners(of: socket).contains { owner in
                guard let program = scene.programs[owner.process] else { return true }
                return program.writer(to: owner.descriptor) != nil || !program.entries(of: socket.inode).isEmpty
            }
    }

    /// Whether the program at this end is seen not to wait for anything here.
    private func isLeftAlone(_ socket: HostSocket) -> Bool {
        let asking = facts.asker.asking(for: socket)
        return [.unasked, .stuck, .stopped].contains(asking.kind)
            && (asking.proof.provesSilence || asking.kind == .stopped)
    }

    /// Whether this end waits for more from the other, so it owes no answer: a thread that waits for nothing else, or
    /// one for which what is unread is too little (SO_RCVLOWAT) or only looked at (MSG_PEEK).
    private func readsOn(_ socket: HostSocket) -> Bool {
        if socket.unread ?? 0 > 0 { return facts.asker.asking(for: socket).kind == .asks }
        return waiter(for: socket) != nil
    }

    /// Returns a thread that waits for this socket and for no other.
    func waiter(for socket: HostSocket) -> HostThread? {
        for owner in scene.owners(of: socket) {
            guard let program = scene.programs[owner.process] else { continue }
            for thread in program.process.threads where waits(thread, in: program, for: owner.descriptor, socket) {
                return thread
            }
        }
        return nil
    }

    private func waits(_ thread: HostThread, in program: HostProgram, for descriptor: Int32, _ socket: HostSocket)
        -> Bool
    {
        guard let call = thread.call else { return false }
        switch call.kind {
        case .read: return call.reads == [descriptor]
        case .connect: return call.writes == [descriptor]
        case .poll:
            let awaited = call.reads.union(socket.state == .synSent ? call.writes : [])
            return awaited.contains(descriptor)
                && awaited.allSatisfy { $0 == descriptor || !isOfOthers(program.process.sockets[$0], program) }
        case .pollSet:
            guard let set = call.pollSet.flatMap({ program.sets[$0] }), let entry = set[socket.inode],
                entry.listensForInput || socket.state == .synSent
            else { return false }
            return set.keys.allSatisfy { $0 == socket.inode || !isOfOthers($0, program) }
        default: return false
        }
    }

    /// Whether somebody else may send something on a socket. A pair within one process wakes its own threads.
    private func isOfOthers(_ inode: UInt64?, _ program: HostProgram) -> Bool {
        guard let socket = inode.flatMap(scene.socket) else { return false }
        guard socket.transport.isUnix, socket.peerInode != 0 else { return true }
        return !program.process.sockets.values.contains(socket.peerInode)
    }
}
