import SocketKit

/// Tasks that secure, write and read; and what must hold of the bytes.
extension StreamTasks {
    func secure(_ index: Int) {
        let one = state.withLock { state in
            state.held[index].isSecuring = true
            return state.held[index]
        }
        let settings = one.end == 0 ? SimulatedIdentity.client : SimulatedIdentity.server
        guard let settings else { return }
        stage.awaits.start(.secure) { [self] _ in
            do throws(SocketError) {
                try await one.socket.secure(settings)
                state.withLock { $0.held[index].isOpen = true }
                return .value
            } catch {
                // Half a handshake is of no use, and neither is a socket whose task was cancelled before it began.
                state.withLock { $0.held[index].hasEnded = true }
                one.socket.disconnect()
                return Awaits.Outcome(error)
            }
        }
    }

    func write(_ index: Int) {
        let length = stage.chance.oneIn(6) ? stage.chance.within(200...3_000) : stage.chance.within(1...100)
        write(index, stage.chance.bytes(length))
    }

    private func write(_ index: Int, _ bytes: [UInt8]) {
        let one = state.withLock { $0.held[index] }
        stage.awaits.start(.write) { [self] _ in
            let piece = state.withLock { $0.lines[one.port]?.sent[one.end].add(bytes) } ?? 0
            do throws(SocketError) {
                try await one.socket.send(bytes)
                _ = state.withLock { $0.lines[one.port]?.completed[one.end].insert(piece) }
                return .value
            } catch {
                // Of a cancelled write all bytes go out, or none does.
                if error.reason == .cancelled, error.transferred == 0 {
                    state.withLock { $0.lines[one.port]?.sent[one.end].void(piece) }
                }
                return Awaits.Outcome(error)
            }
        }
    }

    /// Reads a few times; `isLast`: until the stream or the play ends. Available bytes are iterated at times, with bytes
    /// received ahead.
    func read(_ index: Int, isLast: Bool = false) {
        let one = state.withLock { state in
            state.held[index].isReading = true
            state.held[index].isDrained = isLast
            return state.held[index]
        }
        let kinds: [ReadRequest.Kind] = [
            .available(limit: nil), .length(stage.chance.within(1...200)), .delimiter([13, 10], limit: 4_096),
        ]
        let request = ReadRequest(isLast ? .available(limit: nil) : stage.chance.pick(kinds))
        let steps = isLast ? Int.max : stage.chance.oneIn(3) ? stage.chance.within(2...5) : 1
        let iterates = request.kind == kinds[0] && stage.chance.oneIn(2)
        let chunks = iterates ? one.socket.chunks(readAhead: stage.chance.pick([0, 1, 50, 65_536])) : nil
        stage.awaits.start(.read) { [self] _ in
            let outcome = await read(request, one, steps: steps, chunks)
            state.withLock { ($0.held[index].isReading, $0.held[index].isDrained) = (false, false) }
            return outcome
        }
    }

    private func read(
        _ request: ReadRequest, _ one: Held, steps: Int, _ chunks: SocketChunks?
    ) async -> Awaits.Outcome {
        var chunks = chunks?.makeAsyncIterator()
        for _ in 0..<steps {
            do throws(SocketError) {
                guard let bytes = try await next(request, one, &chunks) else { return .value }
                note(bytes, one)
            } catch {
                // After `cancelled` they are in the stream again.
                if error.reason != .cancelled, let bytes = error.received { note(bytes, one) }
                return Awaits.Outcome(error)
            }
        }
        return .value
    }

    private func next(
        _ request: ReadRequest, _ one: Held, _ chunks: inout SocketChunks.Iterator?
    ) async throws(SocketError) -> [UInt8]? {
        if chunks != nil { return try await chunks!.next(isolation: nil) }
        return try await one.socket.read(request)
    }

    private func note(_ bytes: [UInt8], _ one: Held) {
        var bytes = bytes
        if !bytes.isEmpty, stage.mutation.strikes(.losesASecuredByte) { bytes.removeFirst() }
        state.withLock { $0.lines[one.port]?.read[one.end] += bytes }
    }

    /// Waits for room, after more than there is room for.
    func waitForRoom(_ index: Int) {
        let socket = state.withLock { $0.held[index].socket }
        write(index, stage.chance.bytes(4_000))
        stage.awaits.start(.room) { _ in
            do throws(SocketError) {
                try await socket.waitUntilWritable()
                return .value
            } catch {
                return Awaits.Outcome(error)
            }
        }
    }

    // MARK: Rules

    func check(isOver: Bool) {
        let (lines, held, accepted) = state.withLock { ($0.lines, $0.held, $0.accepted) }
        for (port, line) in lines.sorted(by: { $0.key < $1.key }) {
            for end in 0..<2 {
                let sent = line.sent[end].valid.reduce([], +)
                let read = line.read[1 - end]
                stage.findings.require(
                    sent.starts(with: read), .bytesDiffer,
                    "tasks of port \(port) read \(read.count) bytes that are not the first of \(sent.count)")
                guard isOver, held.count(where: { $0.port == port && $0.isDrained && $0.socket.session != nil }) == 2
                else { continue }
                let pieces = line.sent[end].pieces
                let known = line.completed[end].reduce(0) { $0 + pieces[$1].count }
                stage.findings.require(
                    read.count >= known, .bytesDiffer, "tasks of port \(port) read \(read.count) of \(known) bytes")
            }
        }
        stage.findings.require(
            Set(accepted).count == accepted.count, .connectionsDiffer, "accepted twice: \(accepted)")
        guard isOver, stage.isFaultless else { return }
        let known = stage.kernel.network.withLock { $0.accepted[Self.port] ?? [] }
        stage.findings.require(
            Set(accepted) == Set(known), .connectionsDiffer, "tasks accepted \(accepted), the kernel \(known)")
    }
}
