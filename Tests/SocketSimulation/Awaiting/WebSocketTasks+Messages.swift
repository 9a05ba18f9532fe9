import SocketKit

/// Tasks that send, receive, ping, wait for room and close; and what must hold of the messages.
extension WebSocketTasks {
    func send(_ index: Int) {
        let length = stage.chance.oneIn(6) ? stage.chance.within(200...3_000) : stage.chance.within(0...60)
        send(index, stage.chance.bytes(length))
    }

    private func send(_ index: Int, _ bytes: [UInt8]) {
        let one = state.withLock { $0.held[index] }
        stage.awaits.start(.sendMessage) { [self] isCancelledEarly in
            let piece = state.withLock { $0.lines[one.port]?.sent[one.end].add(bytes) } ?? 0
            do throws(SocketError) {
                try await one.webSocket.send(.binary(bytes))
                _ = state.withLock { $0.lines[one.port]?.completed[one.end].insert(piece) }
                return .value
            } catch {
                // A message that was queued goes out, whoever is cancelled.
                state.withLock { state in
                    if isCancelledEarly { state.lines[one.port]?.sent[one.end].void(piece) }
                    if error.reason != .cancelled { state.lines[one.port]?.sent[one.end].doubt(piece) }
                }
                return Awaits.Outcome(error)
            }
        }
    }

    /// Receives one message; `isLast`: all that come.
    func receive(_ index: Int, isLast: Bool = false) {
        let one = state.withLock { state -> Held? in
            if state.held[index].isReceiving { return nil }
            (state.held[index].isReceiving, state.held[index].isDrained) = (true, isLast)
            return state.held[index]
        }
        guard let one else { return }
        stage.awaits.start(.receiveMessage) { [self] _ in
            let outcome = await receive(one, isLast: isLast)
            state.withLock { ($0.held[index].isReceiving, $0.held[index].isDrained) = (false, false) }
            return outcome
        }
    }

    private func receive(_ one: Held, isLast: Bool) async -> Awaits.Outcome {
        var messages = one.webSocket.messages.makeAsyncIterator()
        do throws(SocketError) {
            while let message = try await messages.next(isolation: nil) {
                note(message.bytes, one)
                guard isLast else { return .value }
            }
            return .value
        } catch {
            return Awaits.Outcome(error)
        }
    }

    private func note(_ bytes: [UInt8], _ one: Held) {
        if stage.mutation.strikes(.losesAMessage) { return }
        let count = stage.mutation.strikes(.doublesAMessage) ? 2 : 1
        state.withLock { state in
            for _ in 0..<count { state.lines[one.port]?.received[one.end].append(bytes) }
        }
    }

    func ping(_ index: Int) {
        let webSocket = state.withLock { $0.held[index].webSocket }
        let payload = stage.chance.oneIn(2) ? nil : stage.chance.bytes(stage.chance.below(4))
        start(.ping) { () throws(SocketError) in _ = try await webSocket.ping(payload) }
    }

    /// Waits for room, after more than there is room for.
    func waitForRoom(_ index: Int) {
        let webSocket = state.withLock { $0.held[index].webSocket }
        send(index, stage.chance.bytes(4_000))
        start(.webSocketRoom) { () throws(SocketError) in try await webSocket.waitUntilWritable() }
    }

    private func start(_ kind: Awaits.Kind, _ body: @escaping @Sendable () async throws(SocketError) -> Void) {
        stage.awaits.start(kind) { _ in
            do throws(SocketError) {
                try await body()
                return .value
            } catch {
                return Awaits.Outcome(error)
            }
        }
    }

    func finish(_ index: Int) {
        let webSocket = state.withLock { $0.held[index].webSocket }
        stage.awaits.start(.finish) { _ in
            let report = await webSocket.close()
            return report == nil && Task.isCancelled ? .cancelled : .value
        }
    }

    // MARK: Rules

    func check(isOver: Bool) {
        let (lines, held, accepted) = state.withLock { ($0.lines, $0.held, $0.accepted) }
        for (port, line) in lines.sorted(by: { $0.key < $1.key }) {
            for end in 0..<2 {
                let passed = matched(line.received[1 - end], with: line.sent[end], "port \(port), end \(1 - end)")
                let isHeld = held.count(where: { $0.port == port && $0.isDrained && $0.webSocket.session != nil }) == 2
                guard isOver, isHeld, let passed else { continue }
                let lost = line.completed[end].filter { $0 >= passed }.sorted()
                stage.findings.require(
                    lost.isEmpty, .messagesDiffer, "port \(port), end \(end): sent and never received: \(lost)")
            }
        }
        stage.findings.require(
            Set(accepted).count == accepted.count, .connectionsDiffer, "WebSockets accepted twice: \(accepted)")
        guard isOver, stage.isFaultless else { return }
        let missing = Set(held.filter { $0.end == 0 }.map(\.port)).subtracting(accepted)
        stage.findings.require(
            missing.isEmpty, .connectionsDiffer, "WebSockets open at one end, accepted by no task: \(missing.sorted())")
    }

    /// Finds the messages received in the order of those sent; how far it came, `nil` if one is not there. A message may
    /// be left out only if its task began nothing, or if it failed.
    private func matched(_ received: [[UInt8]], with sent: SentPieces<[UInt8]>, _ name: String) -> Int? {
        var next = 0
        for (index, message) in received.enumerated() {
            while next < sent.pieces.count, sent.isVoid(next) || sent.isUncertain(next) && sent.pieces[next] != message
            {
                next += 1
            }
            guard next < sent.pieces.count, sent.pieces[next] == message else {
                stage.findings.report(
                    .messagesDiffer, "\(name): message \(index) of \(message.count) bytes is not the next, \(next)")
                return nil
            }
            next += 1
        }
        return next
    }
}
