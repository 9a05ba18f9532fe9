import SocketKit

/// The pages of the ledger: what was asked, and what became of it. Every method returns the rules that were broken.
struct Book {
    /// A read or a write.
    struct Operation {
        /// nil: there was no session when it was asked for, so it will be refused.
        var session: SocketID?
        /// nil: it is a write.
        let read: ReadRequest?
        /// Of a write.
        let bytes: [UInt8]
        /// A task waits for it, and nobody hears of its parts.
        let isAwaited: Bool
        /// It is a write whose task was cancelled when bytes of it had left: the rest goes out, and nobody hears of it.
        var isAbandoned = false
        /// The sum of its partial reports.
        var reported = 0
        var hasEnded = false
        /// One that was queued later ended before it.
        var wasOvertaken = false

        var isStanding: Bool { read?.isStanding ?? false }
    }

    /// From connect or accept to `didDisconnect`.
    struct Session {
        var id: SocketID?
        let owner: Int
        let isAccepted: Bool
        var isConnected: Bool
        var isOver = false
        var isReleased = false
        /// A later session of its handle moved while this one's end was under way: its callbacks come on the other engine,
        /// and may overtake a picture that the former engine made before.
        var hasBeenTakenAlong = false
        /// The peer's end of stream was told: no read can complete any more.
        var hasToldEnd = false
        var hasToldUnread = false
        /// A read gave back what it had (cancelled, or a standing one set aside): others may read it, even after the end
        /// of the stream was told.
        var hasGivenBack = false
        /// Tags of the operations that have not ended, in order.
        var reads: [Int] = []
        var writes: [Int] = []
        /// What its reads got and its writes gave, as far as they ended.
        var read: [UInt8] = []
        var written: [UInt8] = []
        var hasNews = false

        init(id: SocketID?, owner: Int, isAccepted: Bool) {
            self.id = id
            self.owner = owner
            self.isAccepted = isAccepted
            isConnected = isAccepted
        }
    }

    /// The tag of an operation is its index here.
    var operations: [Operation] = []
    /// In the order in which they began.
    var sessions: [Session] = []

    func index(of id: SocketID) -> Int? {
        sessions.firstIndex { $0.id == id }
    }

    mutating func add(_ operation: Operation) -> Int {
        operations.append(operation)
        let tag = operations.count - 1
        if let id = operation.session, let index = index(of: id) {
            if operation.isStanding { sessions[index].hasGivenBack = true }
            if operation.read == nil { sessions[index].writes.append(tag) } else { sessions[index].reads.append(tag) }
        }
        return tag
    }

    /// A connection moved: its session has another name, and so have its operations.
    mutating func rename(_ former: SocketID, _ later: SocketID) {
        guard let index = index(of: former) else { return }
        sessions[index].id = later
        let owner = sessions[index].owner
        for other in sessions.indices where other != index && sessions[other].owner == owner && !sessions[other].isOver
        {
            sessions[other].hasBeenTakenAlong = true
        }
        for tag in operations.indices where operations[tag].session == former { operations[tag].session = later }
    }

    mutating func release(_ owner: Int) {
        for index in sessions.indices where sessions[index].owner == owner { sessions[index].isReleased = true }
    }

    mutating func absorb(_ notice: Notice, _ owner: Int) -> [Finding] {
        if case .failed(let failed) = notice, failed.error.reason == .notConnected { return refuse(failed) }
        guard let index = sessions.firstIndex(where: { $0.owner == owner && !$0.isOver }) else {
            return [Finding(rule: .callbackOrder, detail: "handle \(owner), which has no session, heard \(notice)")]
        }
        sessions[index].hasNews = true
        switch notice {
        case .connected: return connect(index)
        case .read(let bytes, let tag): return finish(read: tag, with: bytes, index)
        case .readPartial(let count, let tag), .wrotePartial(let count, let tag): return report(count, of: tag, index)
        case .wrote(let tag): return finish(write: tag, index)
        case .failed(let failed): return fail(failed, index)
        case .timedOut(let asking): return ask(asking, index)
        case .closedReadStream: return endOfStream(index)
        case .peerClosed, .writable: return requireConnected(index, "\(notice)")
        case .disconnecting(let unread): return disconnecting(index, unread)
        case .disconnected: return disconnect(index)
        }
    }

    /// What is left when all is over.
    mutating func finish() -> [Finding] {
        var findings: [Finding] = []
        for session in sessions where !session.isOver && !session.isReleased {
            findings.append(Finding(rule: .neverDisconnected, detail: "\(name(session))"))
        }
        let released = Set(sessions.filter(\.isReleased).map(\.id))
        for (tag, operation) in operations.enumerated() where !operation.hasEnded {
            // Nobody can be told when the handle is gone.
            if let session = operation.session, released.contains(session) { continue }
            findings.append(Finding(rule: .neverCompleted, detail: "\(name(tag))"))
        }
        return findings
    }

    // MARK: Sessions

    private mutating func connect(_ index: Int) -> [Finding] {
        defer { sessions[index].isConnected = true }
        guard sessions[index].isConnected else { return [] }
        return [Finding(rule: .callbackOrder, detail: "\(name(sessions[index])): didConnect twice, or of accepted")]
    }

    private mutating func endOfStream(_ index: Int) -> [Finding] {
        defer { sessions[index].hasToldEnd = true }
        guard !sessions[index].hasToldEnd else {
            return [Finding(rule: .callbackOrder, detail: "\(name(sessions[index])): the end of stream told twice")]
        }
        return requireConnected(index, "the end of stream")
    }

    private mutating func disconnecting(_ index: Int, _ unread: [UInt8]) -> [Finding] {
        sessions[index].read += unread
        defer { sessions[index].hasToldUnread = true }
        guard sessions[index].hasToldUnread else { return [] }
        return [Finding(rule: .callbackOrder, detail: "\(name(sessions[index])): willDisconnect twice")]
    }

    private mutating func disconnect(_ index: Int) -> [Finding] {
        sessions[index].isOver = true
        return []
    }

    func requireConnected(_ index: Int, _ what: @autoclosure () -> String) -> [Finding] {
        if sessions[index].isConnected, !sessions[index].hasToldUnread { return [] }
        return [Finding(rule: .callbackOrder, detail: "\(name(sessions[index])): \(what()) at the wrong time")]
    }

    // MARK: Words

    func name(_ session: Session) -> String {
        "session \(session.id?.description ?? "?") of handle \(session.owner)"
    }

    func name(_ tag: Int) -> String {
        guard operations.indices.contains(tag) else { return "unknown operation \(tag)" }
        let operation = operations[tag]
        let kind = operation.read.map { "read \($0.kind)" } ?? "write of \(operation.bytes.count)"
        return "\(kind), tag \(tag), session \(operation.session?.description ?? "none")"
    }
}
