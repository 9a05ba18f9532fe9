import Glibc
import InspectorCore
import InspectorScreen
import SocketKit
import SocketTestSupport
import Testing

@testable import InspectorShell
@testable import SockTUI

/// A run that is recorded and kept to go back in, and every picture that its screen showed.
final class WatchedRun {
    let sources = SourceList(asks: false)
    let path: String
    private let inbox: Inbox
    private let runner: EffectRunner
    private(set) var model = WatchedRun.newModel()
    private(set) var drawn: [Drawn] = []
    private var first: MonotonicTime?

    init(in folder: TemporaryFolder) throws {
        path = folder.path + "/r.pcapng"
        inbox = try Inbox()
        runner = EffectRunner(sources: sources, inbox: inbox, findsPeers: true)
        var request = RecordingRequest()
        request.path = path
        try sources.startRecording(request, ofOwnEngine: true)
        try sources.keepHistory(.seconds(60))
    }

    fileprivate static func newModel() -> Model {
        var model = Model(options: Model.Options(ascii: false, version: "0"))
        _ = model.update(.resized(Size(80, 24)))
        return model
    }

    /// Does what a line asks for, as it is typed after `:`.
    func type(_ line: String) { model.update(.command(line)).forEach(runner.perform) }

    func perform(_ effect: Effect) { runner.perform(effect) }

    /// Asks for a snapshot and takes it, and all other messages.
    private func update() throws {
        runner.requestSnapshot(model.snapshotRequest)
        var isAnswered = false
        try #require(
            eventually {
                for message in inbox.take() {
                    if case .answer = message { isAnswered = true }
                    model.update(message).forEach(runner.perform)
                }
                return isAnswered
            }, "no snapshot")
    }

    /// Takes a snapshot and notes what is drawn of it. Each socket is selected in turn.
    func look() throws {
        let sockets = model.shown?.sockets ?? []
        if !sockets.isEmpty { type("select \(sockets[drawn.count / 2 % sockets.count].id.number)") }
        try update()
        guard let snapshot = model.shown else { return }
        let first = first ?? snapshot.time
        self.first = first
        // Before there is a socket the screen says what was asked for; its traffic is in the next snapshot.
        guard model.tab != .start, model.selected != nil, snapshot.trafficOf == model.list.selected else { return }
        drawn.append(
            Drawn(distance: snapshot.time - first, selected: model.list.selected, bodies: DrawnBodies(model)))
    }

    /// Looks ten times a second until it is so, and a few times more.
    func look(least: Int = 12, until condition: (EngineSnapshot) -> Bool) throws {
        var left = least
        var next = ContinuousClock.now
        try #require(
            eventually {
                guard ContinuousClock.now >= next else { return false }
                next = .now + .milliseconds(100)
                do { try look() } catch { return true }
                if let shown = model.shown, condition(shown) { left -= 1 }
                return left <= 0
            }, "\(model.notice?.text ?? "") \(model.shown?.sockets.map(\.summary) ?? [])")
    }

    /// Goes to an instant and shows it as it was drawn then.
    func bodies(at drawn: Drawn) throws -> DrawnBodies {
        type(drawn.command)
        if let id = drawn.selected {
            try update()
            type("select \(id.number)")
        }
        try update()
        return DrawnBodies(model)
    }

    /// Goes back to the present.
    func returnToPresent() throws {
        type("present")
        try update()
    }

    /// Compares what is shown of each instant, in any order, with what was drawn.
    func expectSame(
        _ how: String, seed: UInt64 = 1, sourceLocation: SourceLocation = #_sourceLocation,
        _ bodies: (Drawn) throws -> DrawnBodies
    ) throws {
        var random = SplitMix64(seed: seed)
        try #require(drawn.count > 10, sourceLocation: sourceLocation)
        var differences = 0
        for drawn in drawn.shuffled(using: &random) {
            guard let difference = drawn.bodies.difference(from: try bodies(drawn)) else { continue }
            differences += 1
            if differences < 4 {
                Issue.record(
                    "\(how), \(drawn.command), \(drawn.selected?.description ?? "-"): \(difference)",
                    sourceLocation: sourceLocation)
            }
        }
        #expect(differences == 0, "of \(drawn.count)", sourceLocation: sourceLocation)
    }
}

/// The file of a run, opened.
final class OpenedRun {
    private let sources = SourceList()
    private(set) var model = WatchedRun.newModel()

    init(_ path: String) throws {
        try sources.openFile(path)
        try #require(eventually { self.sources.hasAnswered })
        try update()
    }

    private func update() throws {
        let answer = Lock<EngineSnapshot?>(nil)
        sources.requestSnapshot(model.snapshotRequest) { @Sendable snapshot in answer.withLock { $0 = snapshot } }
        try #require(eventually { answer.withLock { $0 != nil } })
        if let news = sources.news() { _ = model.update(.answer(Answer(programs: news))) }
        if let snapshot = answer.withLock({ $0 }) { _ = model.update(.answer(Answer(snapshot))) }
    }

    func bodies(at drawn: Drawn) throws -> DrawnBodies {
        _ = model.update(.command(drawn.command))
        if let id = drawn.selected {
            try update()
            _ = model.update(.command("select \(id.number)"))
        }
        try update()
        return DrawnBodies(model)
    }
}

extension SocketSnapshot {
    fileprivate var summary: String { "\(id) \(role) \(phase) \(target) received \(received) sent \(sent)" }
}
