import SocketKit

/// What must hold of every snapshot: it agrees with itself, with the kernel, and with what the delegates heard.
struct SnapshotRules: Sendable {
    let findings: Findings
    let ledger: Ledger
    let kernel: SimulatedKernel

    /// `isFresh`: nothing has happened since it was taken, so that it can be held against the kernel.
    func check(_ snapshot: EngineSnapshot, isFresh: Bool) {
        let ids = snapshot.sockets.map(\.id)
        let live = snapshot.sockets.filter { $0.phase != .closed }.count
        require(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 }, "sessions are not in order: \(ids)")
        require(snapshot.counters.opened - snapshot.counters.closed == UInt64(live), "\(snapshot.counters)")
        for socket in snapshot.sockets {
            checkFlags(socket)
            if socket.phase == .closed {
                let isEmpty = socket.reading.current == nil && socket.writing.current == nil
                require(isEmpty, "\(socket.id) is closed and has operations")
                checkDrain(socket)
            } else {
                checkQueue(socket.reading, isWriting: false, socket)
                checkQueue(socket.writing, isWriting: true, socket)
            }
            if isFresh { compare(socket) }
        }
    }

    private func require(_ holds: Bool, _ detail: @autoclosure () -> String) {
        findings.require(holds, .snapshotContradicts, detail())
    }

    /// What was to be drained before the close was drained.
    private func checkDrain(_ socket: SocketSnapshot) {
        guard let record = socket.closed, record.error == nil, ledger.hasToldAll(of: socket.id) else { return }
        let hasLostWrites = record.writesLost > 0 && [.afterWriting, .afterBoth].contains(record.mode)
        // Behind the peer's end no read can complete, so none is waited for.
        let waitsForReads = [.afterReading, .afterBoth].contains(record.mode) && !ledger.hasToldEnd(of: socket.id)
        let hasLostReads = record.readsLost > 0 && waitsForReads
        findings.require(
            !hasLostWrites && !hasLostReads, .notDrained,
            "\(socket.id): \(record.readsLost) reads and \(record.writesLost) writes were lost")
    }

    private func checkFlags(_ socket: SocketSnapshot) {
        let flags = socket.flags
        func require(_ holds: Bool, _ what: StaticString) {
            self.require(holds, "\(socket.id) \(socket.phase): \(what)")
        }
        let isUsable = socket.phase == .connected || socket.phase == .lingering
        require(flags.contains(.connected) == isUsable, "the flag Connected")
        require(flags.contains(.socketStarted) == (socket.phase != .closed), "the flag SocketStarted")
        require(
            socket.role == .datagram || (socket.descriptor != nil) == (isUsable || socket.phase == .listening),
            "the descriptor")
        require((socket.closed != nil) == (socket.phase == .closed), "the close record")
        require(flags.contains(.readsPaused) == (socket.reading.current?.isAsking ?? false), "the flag ReadsPaused")
        require(flags.contains(.writesPaused) == (socket.writing.current?.isAsking ?? false), "the flag WritesPaused")
        require(!flags.contains(.readStreamClosed) || flags.contains(.socketHasReadEOF), "the end of stream")
        require(socket.phase != .lingering || socket.isWriteShut, "lingering without FIN")
        let mayHaveBytes = isUsable || socket.role == .datagram || socket.phase == .closed
        require(mayHaveBytes || socket.received == 0 && socket.sent == 0, "bytes before connect")
    }

    private func checkQueue(_ queue: QueueSnapshot, isWriting: Bool, _ socket: SocketSnapshot) {
        func require(_ holds: Bool, _ what: StaticString) {
            self.require(holds, "\(socket.id) \(socket.phase), \(isWriting ? "writes" : "reads"): \(what)")
        }
        guard queue.current != nil || queue.pendingCount > 0 else {
            return require(queue.pendingBytes == 0, "bytes pending of nothing")
        }
        let operations = (queue.current.map { [$0] } ?? []) + queue.pending
        require(queue.pending.count == min(queue.pendingCount, QueueSnapshot.listingLimit), "how many wait")
        require(operations.allSatisfy { $0.done <= $0.total ?? .max }, "more done than there is to do")
        let waits = queue.pending.allSatisfy { $0.done == 0 && $0.started == nil && !$0.isAsking }
        require(waits, "one has begun too early")
        require(queue.current.map { $0.started != nil } ?? true, "one in hand has not begun")
        if queue.pendingCount <= QueueSnapshot.listingLimit {
            let missing = operations.reduce(0) { $0 + ($1.total ?? 0) - $1.done }
            require(queue.pendingBytes == (isWriting ? missing : 0), "the bytes pending")
        }
        if let known = ledger.unfinished(of: socket.id) {
            require(operations.count <= (isWriting ? known.writes : known.reads), "more operations than were asked for")
        }
    }

    // MARK: Bytes

    /// While it stands, a session has received and sent what its kernel gave and took.
    private func compareCounters(_ socket: SocketSnapshot) {
        let known = kernel.network.withLock { network -> (taken: Int, sent: Int)? in
            guard let number = socket.descriptor, case .stream(let link, let end) = network[number]?.role else {
                return nil
            }
            return (network.links[link].directions[1 - end].taken, network.links[link].directions[end].bytes.count)
        }
        guard let known else { return }
        findings.require(
            socket.received == UInt64(known.taken) && socket.sent == UInt64(known.sent), .bytesDiffer,
            "\(socket.id): received \(socket.received) of \(known.taken), sent \(socket.sent) of \(known.sent)")
    }

    /// Holds what a session read and wrote against what its connection carried.
    private func compare(_ socket: SocketSnapshot) {
        if socket.phase == .connected { compareCounters(socket) }
        guard ledger.hasNews(of: socket.id), let bytes = ledger.bytes(of: socket.id) else { return }
        let end = socket.role == .accepted ? 1 : 0
        let port = end == 0 ? socket.local?.port : socket.peer?.port
        // It stands, but the kernel did not say where.
        if port == nil, socket.connected != nil { return }
        let flow = kernel.network.withLock { network -> (sent: [UInt8], got: [UInt8])? in
            network.link(ofPort: port).map {
                (network.links[$0].directions[end].bytes, network.links[$0].directions[1 - end].bytes)
            }
        }
        guard let flow else {
            return findings.require(
                bytes.read.isEmpty && bytes.written.isEmpty, .bytesDiffer, "\(socket.id) was never connected")
        }
        findings.require(
            flow.got.starts(with: bytes.read), .bytesDiffer, "\(socket.id): \(bytes.read.count) bytes read")
        findings.require(
            flow.sent.starts(with: bytes.written), .bytesDiffer, "\(socket.id): \(bytes.written.count) bytes written")
        guard socket.phase == .closed, socket.sent > 0 else { return }
        findings.require(
            UInt64(flow.sent.count) == socket.sent && bytes.written.count <= flow.sent.count, .bytesDiffer,
            "\(socket.id): sent \(socket.sent), carried \(flow.sent.count), written \(bytes.written.count)")
    }
}
