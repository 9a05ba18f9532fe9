import SocketKit

/// What must hold when nothing is ready, nothing is due and no work waits: whatever could go on would hang for ever.
enum QuietRules {
    static func check(_ snapshot: EngineSnapshot, _ stage: Stage, wakeTime: MonotonicTime?) {
        for socket in snapshot.sockets where socket.phase == .connected {
            guard let state = descriptorState(socket, stage) else { continue }
            checkReading(socket, state, stage)
            checkWriting(socket, state, stage)
        }
        checkTimer(snapshot, stage, wakeTime)
    }

    private struct DescriptorState {
        var unread: Int
        var isOver: Bool
        var room: Int
    }

    private static func descriptorState(_ socket: SocketSnapshot, _ stage: Stage) -> DescriptorState? {
        stage.kernel.network.withLock { network in
            guard let number = socket.descriptor, case .stream(let link, let end) = network[number]?.role else {
                return nil
            }
            let connection = network.links[link]
            return DescriptorState(
                unread: connection.directions[1 - end].unread,
                isOver: connection.directions[1 - end].isEndDelivered || connection.ends[end].isReset,
                room: connection.ends[end].isReset ? .max : connection.directions[end].room)
        }
    }

    private static func checkReading(_ socket: SocketSnapshot, _ state: DescriptorState, _ stage: Stage) {
        guard !socket.isReadingPaused, !socket.flags.contains(.readsPaused) else { return }
        if let read = socket.reading.current {
            stage.findings.require(
                state.unread == 0, .hanging, "\(socket.id): \(state.unread) bytes wait, and so does read \(read.tag)")
        }
        let isDraining = socket.flags.contains(.disconnectAfterWrites) && socket.writing.current != nil
        guard state.isOver, state.unread == 0, socket.prebuffered == 0, !isDraining else { return }
        stage.findings.require(
            socket.flags.contains(.readStreamClosed), .hanging, "\(socket.id): the stream is over, and nobody looks")
    }

    private static func checkWriting(_ socket: SocketSnapshot, _ state: DescriptorState, _ stage: Stage) {
        let flags = socket.flags
        if let write = socket.writing.current, !flags.contains(.writesPaused) {
            stage.findings.require(
                state.room == 0, .hanging, "\(socket.id): write \(write.tag) waits with room for \(state.room)")
        }
        guard flags.contains(.forbidReadsWrites) else { return }
        let hasReads =
            flags.contains(.disconnectAfterReads) && (socket.reading.current != nil || socket.prebuffered > 0)
        let hasWrites = flags.contains(.disconnectAfterWrites) && socket.writing.current != nil
        stage.findings.require(hasReads || hasWrites, .hanging, "\(socket.id): drained, and not closed")
    }

    /// The timer is set for the earliest deadline, or before it.
    private static func checkTimer(_ snapshot: EngineSnapshot, _ stage: Stage, _ wakeTime: MonotonicTime?) {
        // While lingering, only the end of that counts.
        let deadlines = snapshot.sockets.filter { $0.phase == .connected }.flatMap { socket in
            [socket.reading.current?.deadline, socket.writing.current?.deadline].compactMap { $0 }
        }
        guard let earliest = deadlines.min() else { return }
        stage.findings.require(
            wakeTime.map { $0 <= earliest } ?? false, .hanging,
            "a deadline at \(earliest.nanoseconds), the timer at \(wakeTime.map { "\($0.nanoseconds)" } ?? "never")")
    }
}
