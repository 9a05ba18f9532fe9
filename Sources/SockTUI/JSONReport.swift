import FoundationEssentials
import Glibc
import InspectorCore
import SocketCore

/// One snapshot as JSON on stdout, without a terminal.
struct JSONReport {
    let inspected: any Inspected

    /// How long sockets are given to come about, at least and at most.
    private static let moment = Duration.milliseconds(500)
    private static let limit = Duration.seconds(10)

    /// Opens what was asked for and prints a snapshot as soon as every connect has ended, but not before a moment has
    /// passed: 0, or 1 when something was refused.
    func run(_ opening: [Effect]) -> Int32 {
        let inbox = Inbox()
        let runner = EffectRunner(inspected: inspected, inbox: inbox)
        opening.forEach(runner.perform)
        let begin = ContinuousClock.now
        while true {
            runner.requestSnapshot(SnapshotRequest(kernel: .all, eventsFrom: 0))
            let messages = wait(for: inbox)
            for case .refused(let sentence) in messages { return Program.complain(sentence, status: 1) }
            let passed = ContinuousClock.now - begin
            let snapshots = messages.compactMap { if case .snapshot(let snapshot) = $0 { snapshot } else { nil } }
            if let last = snapshots.last, passed > Self.moment, isSettled(last) || passed > Self.limit {
                guard Output.write(text(last) + "\n", to: STDOUT_FILENO) else { return 1 }
                return complaint(last).map { Program.complain($0, status: 1) } ?? 0
            }
            if passed > Self.limit + .seconds(5) { return Program.complain("the engine does not answer", status: 1) }
        }
    }

    /// Why a connect that was asked for did not come about; the demo's refusals are part of it.
    private func complaint(_ snapshot: EngineSnapshot) -> String? {
        let failed = snapshot.sockets.first { $0.role == .client && $0.connected == nil && $0.closed?.error != nil }
        guard let failed, !snapshot.sockets.contains(where: { $0.name == Demo.echoName }) else { return nil }
        return failed.closed?.error?.description
    }

    private func wait(for inbox: Inbox) -> [Message] {
        var pipe = pollfd(fd: inbox.readEnd, events: Int16(POLLIN), revents: 0)
        poll(nil, 0, 20)
        poll(&pipe, 1, 1000)
        _ = inbox.takeSignals()
        return inbox.take()
    }

    private func isSettled(_ snapshot: EngineSnapshot) -> Bool {
        snapshot.sockets.allSatisfy { $0.phase != .resolving && $0.phase != .connecting }
    }

    private func text(_ snapshot: EngineSnapshot) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let bytes = try? encoder.encode(snapshot) else { return "{}" }
        return String(decoding: bytes, as: UTF8.self)
    }
}
