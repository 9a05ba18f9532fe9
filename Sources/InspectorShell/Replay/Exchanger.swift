import InspectorCore
import SocketKit
import SocketWorkshop

/// Makes the connections of a sweep, one per request.
package struct Exchanger: Sendable {
    package let request: ReplayRequest
    package let engine: SocketEngine
    /// The earlier exchanges of the session, replayed before the request.
    package let before: [RecordedExchange]

    /// The SO_RCVBUF of a connection whose answer is read slowly, small enough to slow the server down.
    private static let smallBuffer = 4_096
    /// The number of connect attempts. A backlog may be full for a moment.
    private static let attempts = 3

    /// Connects and replays the earlier exchanges. Returns `nil` if the server is unreachable or no longer answers as
    /// it did.
    package func connect(_ script: ExchangeScript) async -> PlayedConnection? {
        for attempt in 1...Self.attempts {
            if let connection = await tryToConnect(script) { return connection }
            if attempt < Self.attempts { try? await Task.sleep(for: .milliseconds(100)) }
        }
        return nil
    }

    @inline(never)
    private func tryToConnect(_ script: ExchangeScript) async -> PlayedConnection? {
        let buffer = script.slowReads == nil ? nil : Self.smallBuffer
        guard let connection = try? await PlayedConnection(request, on: engine, receiveBuffer: buffer) else {
            return nil
        }
        for exchange in before {
            if !exchange.request.isEmpty { connection.write(exchange.request) }
            guard await connection.skip(exchange.answer.count, within: request.patience) else {
                connection.close()
                return nil
            }
        }
        return connection
    }

    /// Returns the reason why no connection can be made.
    package func problem() async -> String {
        do throws(SocketError) {
            let connection = try await PlayedConnection(request, on: engine)
            connection.close()
            return "\(request.address): the earlier exchanges were not answered as recorded"
        } catch {
            return "\(request.address): \(error.detail)"
        }
    }

    /// Sends a request as scripted and waits for the answer. `pattern` is the expected answer, if known.
    package func outcome(of script: ExchangeScript, _ pattern: AnswerPattern?, _ wait: AnswerWait) async -> SweepOutcome
    {
        guard let connection = await connect(script) else {
            return SweepOutcome(answer: [], ending: .refused, isStalled: true)
        }
        let exchange = Exchange(connection, script, pattern, wait)
        let outcome = await exchange.run()
        if script.resetsAfter == nil { connection.close() } else { connection.reset() }
        return outcome
    }
}

/// One request and its answer.
private final class Exchange {
    private let connection: PlayedConnection
    private let script: ExchangeScript
    private let wait: AnswerWait
    private var matcher: AnswerMatcher?
    private var answer: [UInt8] = []
    private var state = AnswerWait.State()
    private var ended: AnswerEnding?
    private let start = ContinuousClock.now

    init(_ connection: PlayedConnection, _ script: ExchangeScript, _ pattern: AnswerPattern?, _ wait: AnswerWait) {
        (self.connection, self.script, self.wait) = (connection, script, wait)
        matcher = pattern.map { AnswerMatcher($0) }
    }

    func run() async -> SweepOutcome {
        for (index, write) in script.writes.enumerated() {
            if index > 0 { await pause(script.pause) }
            guard ended == nil else { break }
            connection.write(write)
            wrote()
        }
        if script.finishes {
            connection.finish()
            state.finished = .now - start
        }
        var isStalled = false
        while true {
            if let limit = script.resetsAfter, answer.count >= limit { break }
            state.now = .now - start
            let step = wait.step(state)
            if step == .finish {
                connection.finish()
                state.finished = state.now
            } else if case .read(let time) = step {
                await read(for: time)
            } else {
                let lacks = !state.isDecided && !wait.isFirst || answer.isEmpty || wait.expectsEnd
                isStalled = step == .late || ended == nil && lacks
                break
            }
        }
        // An end after our own FIN is not the server's choice, unless that is the test.
        let isOwn = state.finished == nil || script.finishes
        return SweepOutcome(answer: answer, ending: isOwn ? ended ?? .open : .open, isStalled: isStalled)
    }

    private func wrote() {
        state.latest = .now - start
        state.written = state.latest
    }

    private func pause(_ time: Duration) async {
        let end = ContinuousClock.now + time
        while ended == nil, case let left = end - .now, left > .zero { await read(for: left) }
    }

    private func read(for time: Duration) async {
        let pending = connection.pending
        switch await connection.read(limit: script.slowReads?.size ?? 1 << 16, for: time) {
        case .bytes(let bytes):
            answer += bytes
            matcher?.absorb(bytes)
            state.count = answer.count
            state.isDecided = matcher.map { $0.isComplete || $0.difference != nil } ?? false
            state.latest = .now - start
            if let slow = script.slowReads {
                let began = ContinuousClock.now
                try? await Task.sleep(for: slow.pause)
                state.rested += .now - began
            }
        case .ended(let ending):
            ended = ending
            state.hasEnded = true
        case .nothing:
            // The server reads a long request piece by piece.
            if connection.pending < pending { wrote() }
        }
    }
}
