import SocketCore

/// The facts that all rules use at one moment: the scene, how long each state has lasted, how each socket is requested,
/// and what blocks each process.
struct HostFacts: Sendable {
    let scene: HostScene
    let ledger: HostLedger
    let asker: HostAsker
    private let blocking: [Int32: [Holder]]
    private let blockingSockets: [Int32: Set<UInt64>]

    /// A socket that a process cannot write to, and how it waits for room.
    struct Holder: Sendable {
        enum Wait: Equatable, Sendable {
            /// A thread is in a call that writes.
            case call
            /// A thread waits for room, in poll or in a set that is not edge-triggered.
            case ready
            case edge
            case hidden
        }

        var socket: HostSocket
        var wait: Wait
        var thread: HostThread?
    }

    /// How long an amount must be unchanged to count as stalled.
    private static let moment = Duration.milliseconds(200)
    /// The least time between two looks that count as two.
    private static let apart = Duration.milliseconds(250)

    /// The facts before the first look.
    static let none = HostFacts(HostScene(HostLook(time: .zero, sockets: [])), HostLedger())

    init(_ scene: HostScene, _ ledger: HostLedger) {
        (self.scene, self.ledger) = (scene, ledger)
        asker = HostAsker(scene: scene, ledger: ledger)
        let blocking = Self.holders(scene, ledger)
        self.blocking = blocking
        blockingSockets = blocking.mapValues { Set($0.map(\.socket.id)) }
    }

    func isReadingStalled(_ socket: HostSocket) -> Bool {
        socket.unread ?? 0 > 0 && ledger.readStall(socket) > Self.moment
    }

    /// Whether unsent bytes are stalled. A Unix-domain send queue counts memory, and is stalled whenever the peer has
    /// unread bytes, so there must also be a waiting writer.
    func isWritingStalled(_ socket: HostSocket) -> Bool {
        guard Self.isSendingStalled(socket, ledger) else { return false }
        guard socket.transport.isUnix else { return socket.transport == .tcp }
        return scene.owners(of: socket).contains { owner in
            guard let program = scene.programs[owner.process] else { return false }
            return program.writer(to: owner.descriptor) != nil
                || program.entries(of: socket.inode).contains {
                    $0.entry.listensForOutput && !$0.entry.isEdgeTriggered
                }
        }
    }

    private static func isSendingStalled(_ socket: HostSocket, _ ledger: HostLedger) -> Bool {
        socket.unsent ?? 0 > 0 && ledger.writeStall(socket) > moment
    }

    /// Returns how the socket was requested in the recent looks. One look that sees a request clears it.
    func steady(_ socket: HostSocket) -> HostAsking? {
        if socket.inode == 0 { return asker.asking(for: socket) }
        // What blocks a program is known only if this look examined it.
        guard scene.owners(of: socket).allSatisfy({ scene.programs[$0.process] != nil }) else { return nil }
        let askings = ledger.askings(of: socket.id)
        guard let last = askings.last,
            socket.time - last.time < HostLedger.askingLasts
        else { return nil }
        if askings.allSatisfy({ $0.kind == last.kind }) { return last }
        for kind in [HostAsking.Kind.asks, .stopped, .unseen, .hidden] {
            if let asking = askings.last(where: { $0.kind == kind }) { return asking }
        }
        if askings.allSatisfy({ $0.kind == .edge || $0.kind == .stuck }) { return askings.last { $0.kind == .edge } }
        var changing = last
        (changing.kind, changing.words, changing.isWaiting) = (.asks, "keeps changing", false)
        return changing
    }

    /// Whether two looks agree about the socket.
    func isConfirmed(_ socket: HostSocket) -> Bool {
        guard socket.inode != 0 else { return true }
        let askings = ledger.askings(of: socket.id)
        guard let first = askings.first, let last = askings.last else { return false }
        return last.time - first.time >= Self.apart
    }

    // MARK: Blocked processes

    func mayBeHeldUp(_ asking: HostAsking) -> Bool {
        switch asking.kind {
        case .edge, .stuck, .unasked: true
        default: false
        }
    }

    /// Returns the sockets that block a process, because of its own send queue or the peer's window.
    func holders(of process: Int32) -> [Holder] { blocking[process] ?? [] }

    func isHeldUp(_ asking: HostAsking) -> Bool {
        mayBeHeldUp(asking) && asking.process.map { blocking[$0.number] != nil } == true
    }

    func isHeldUp(_ asking: HostAsking, by socket: HostSocket) -> Bool {
        asking.process.map { isHeldUp($0.number, by: socket) } == true
    }

    func isHeldUp(_ process: Int32, by socket: HostSocket) -> Bool {
        blockingSockets[process]?.contains(socket.id) == true
    }

    private static func holders(_ scene: HostScene, _ ledger: HostLedger) -> [Int32: [Holder]] {
        var blocking: [Int32: [Holder]] = [:]
        for socket in scene.sockets(scene.notable) where socket.transport.isStream && !socket.isListening {
            guard isSendingStalled(socket, ledger) || ledger.isLimited(socket) else { continue }
            for owner in scene.owners(of: socket) {
                guard let program = scene.programs[owner.process],
                    let holder = wait(program, owner.descriptor, socket)
                else { continue }
                blocking[owner.process, default: []].append(holder)
            }
        }
        return blocking
    }

    private static func wait(_ program: HostProgram, _ descriptor: Int32, _ socket: HostSocket) -> Holder? {
        if let thread = program.writer(to: descriptor) {
            return Holder(socket: socket, wait: thread.call?.kind == .write ? .call : .ready, thread: thread)
        }
        for (_, entry) in program.entries(of: socket.inode)
        where entry.listensForOutput && !(entry.isEdgeTriggered && socket.transport.isUnix) {
            return Holder(socket: socket, wait: entry.isEdgeTriggered ? .edge : .ready)
        }
        // A Unix-domain send queue is stalled even if no writer waits, so a waiting writer must be visible.
        guard program.process.rung < .arguments, socket.transport == .tcp else { return nil }
        return Holder(socket: socket, wait: .hidden)
    }

    // MARK: Durations

    func unread(_ socket: HostSocket) -> Duration { asker.unread(socket) }

    /// Returns the minimum time for which nothing was sent: as our looks show, while a thread has been in a call that
    /// writes, or while a closed window has held everything back.
    func unsent(_ socket: HostSocket) -> Duration {
        let seen = ledger.writeStall(socket)
        let calls = scene.owners(of: socket).compactMap { owner -> Duration? in
            guard let thread = scene.programs[owner.process]?.writer(to: owner.descriptor), thread.call?.kind == .write
            else { return nil }
            return thread.idle
        }
        let shut = socket.tcp?.sendWindow == 0 && socket.tcp?.sent ?? 0 > 0 ? socket.tcp?.lastSent : nil
        return max(seen, calls.max() ?? .zero, shut ?? .zero)
    }
}
