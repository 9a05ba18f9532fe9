import InspectorCore
import SocketKit
import SocketWorkshop

/// Replays one recorded client to a server, and compares the answers as they arrive.
package final class ReplayPlayer {
    private let plan: ReplayPlan
    private let request: ReplayRequest
    private let engine = SocketEngine()
    private var matcher: AnswerMatcher
    private var result = ReplayResult()
    /// How the server ended its stream, or `nil` if it has not.
    private var ended: AnswerEnding?
    private let start = ContinuousClock.now
    private var drawn = ContinuousClock.now

    /// The silence that ends a hole, or shows that nothing follows, if only silence can.
    private static let quiet = Duration.milliseconds(300)

    package init(_ plan: ReplayPlan, _ pattern: AnswerPattern, _ request: ReplayRequest) {
        (self.plan, self.request) = (plan, request)
        matcher = AnswerMatcher(pattern, allowsMore: !plan.isWhole)
    }

    package func play() async -> ReplayResult {
        do throws(SocketError) {
            let connection = try await PlayedConnection(request, on: engine)
            await play(on: connection)
            connection.close()
        } catch {
            result.problem = "\(request.address): \(error.detail)"
        }
        (result.received, result.extra) = (matcher.count, matcher.extra)
        result.took = .now - start
        return result
    }

    private func play(on connection: PlayedConnection) async {
        for (index, step) in plan.steps.enumerated() {
            guard await wait(for: step, connection) else { return }
            await pause(request.pace.pause(step.pause), connection)
            guard matcher.difference == nil else { return differ() }
            // A server that has ended can't answer. That is a difference, unless it had also ended in the recording.
            if let ended, !step.isAfterEnd { return end(ended) }
            switch step.action {
            case .send(let bytes):
                connection.write(bytes)
                (result.writes, result.sent) = (result.writes + 1, result.sent + bytes.count)
            case .finish: connection.finish()
            case .reset:
                connection.reset()
                result.step = index + 1
                return
            }
            result.step = index + 1
            draw()
        }
        await waitForRest(connection)
    }

    /// Waits for the answers that preceded this step in the recording. Returns `false` if something differs.
    private func wait(for step: ReplayPlan.Step, _ connection: PlayedConnection) async -> Bool {
        let deadline = ContinuousClock.now + step.wait + request.patience
        while matcher.difference == nil {
            let progress = step.isAfterEnd && ended == nil ? .notYet : matcher.progress(to: step.after)
            if progress == .reached { return true }
            if ended != nil { break }
            let left = deadline - .now
            guard left > .zero else { break }
            let came = await read(connection, for: progress == .whenQuiet ? min(left, Self.quiet) : left)
            if !came, progress == .whenQuiet { return true }
        }
        if step.isAfterEnd, ended == nil, matcher.difference == nil, matcher.progress(to: step.after) == .reached {
            end(.open)
        } else {
            matcher.finish()
            differ()
        }
        return false
    }

    /// Waits for that time, and compares what arrives meanwhile.
    private func pause(_ time: Duration, _ connection: PlayedConnection) async {
        let end = ContinuousClock.now + time
        while end - .now > .milliseconds(1), matcher.difference == nil {
            guard ended == nil else {
                try? await Task.sleep(until: end)
                return
            }
            _ = await read(connection, for: end - .now)
        }
    }

    /// Waits for the answers after the last step, and for the end.
    private func waitForRest(_ connection: PlayedConnection) async {
        let deadline = ContinuousClock.now + plan.lastWait + request.patience
        while matcher.difference == nil, ended == nil {
            var left = deadline - .now
            let isOver = matcher.isComplete && plan.ending == nil
            if isOver { left = min(left, Self.quiet) }
            guard left > .zero else { break }
            let came = await read(connection, for: left)
            if isOver, !came || matcher.extra > 0 { break }
        }
        matcher.finish()
        guard matcher.difference == nil else { return differ() }
        if let expected = plan.ending, expected != ended ?? .open { end(ended ?? .open) }
    }

    /// Reads and compares the next bytes. Returns `false` if nothing arrived in time.
    private func read(_ connection: PlayedConnection, for time: Duration) async -> Bool {
        switch await connection.read(for: time) {
        case .bytes(let bytes):
            matcher.absorb(bytes)
            draw()
            return true
        case .ended(let ending):
            ended = ending
            return true
        case .nothing: return false
        }
    }

    private func differ() {
        result.difference = matcher.difference
        if let ended, ended != .closed || plan.ending != .closed, result.difference?.kind == .missing { end(ended) }
    }

    private func end(_ received: AnswerEnding) {
        result.ending = .init(expected: plan.ending ?? .open, received: received)
    }

    /// Shows the progress, at most ten times a second.
    private func draw() {
        guard ContinuousClock.now - drawn > .milliseconds(100) else { return }
        drawn = .now
        StandardStream.error.rewriteLine(
            "step \(result.step ?? 0) of \(plan.steps.count), \(matcher.count) of \(plan.answer.count) bytes of answers"
        )
    }
}
