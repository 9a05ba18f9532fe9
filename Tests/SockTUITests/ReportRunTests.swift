import Glibc
import InspectorCore
import SocketKit
import SocketRecords
import SocketTestSupport
import Testing

@testable import InspectorShell
@testable import SockTUI

/// A source that keeps what it is told to close.
private final class ClosingEngine: OpeningSource {
    private let asked = Lock<[SocketID]>([])
    var closed: [SocketID] { asked.withLock { $0 } }

    func perform(_ command: SocketCommand) {
        if case .close = command.action { asked.withLock { $0.append(command.socket) } }
    }
    func requestSnapshot(_ request: SnapshotRequest, then: @escaping @Sendable (EngineSnapshot?) -> Void) { then(nil) }
    func connect(_ request: OpenRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void) {}
}

/// An engine whose first snapshot was made before a connection was opened, and comes after the news of it.
private final class LateEngine: OpeningSource {
    private struct State {
        var opened: (@Sendable (Result<SocketID, SocketError>) -> Void)?
        var snapshots = 0
    }

    private let state = Lock(State())

    func requestSnapshot(_ request: SnapshotRequest, then: @escaping @Sendable (EngineSnapshot?) -> Void) {
        let (opened, isFirst) = state.withLock { state in
            state.snapshots += 1
            return (state.opened.take(), state.snapshots == 1)
        }
        var snapshot = EngineSnapshot(engine: "late", time: .zero, wallNanoseconds: 0)
        if !isFirst {
            var socket = SocketSnapshot(
                id: SocketID(1), role: .client, phase: .closed, target: "127.0.0.1:1", opened: .zero)
            socket.closed = CloseRecord(time: .zero, error: Self.refused)
            snapshot.sockets = [socket]
        }
        opened?(.success(SocketID(1)))
        then(snapshot)
    }

    private static let refused = SocketError(.system(errno: 111), operation: "connect", detail: "refused")

    func connect(_ request: OpenRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void) {
        state.withLock { $0.opened = then }
    }
    func perform(_ command: SocketCommand) {}
}

/// What these sources have no use for.
extension OpeningSource {
    func info(ordinal: Int) -> ProgramInfo { ProgramInfo(ordinal: ordinal, name: "late", process: 1, isOurs: true) }
    var isAwaited: Bool { false }
    var hasAnswered: Bool { true }
    func takeNotices() -> [String] { [] }
    func close() {}
    func write(_ request: WriteRequest, to id: SocketID) async throws(SocketError) {}
    func send(_ message: WebSocketMessage, to id: SocketID) async throws(SocketError) {}
    func stream(to id: SocketID) async throws(SocketError) -> WebSocketStream {
        throw SocketError(.other, operation: "stream", detail: "")
    }
    func setReplies(_ id: SocketID, _ rules: [ReplyRule], then: @escaping @Sendable (SocketError?) -> Void) {}
    func listen(_ request: OpenRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void) {}
    func startTLS(_ id: SocketID, _ settings: TLSSettings, then: @escaping @Sendable (SocketError?) -> Void) {}
    func relay(_ request: RelayRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void) {}
    func startDemo(then: @escaping @Sendable (SocketError?) -> Void) {}
}

@Suite("A run without a screen")
struct ReportRunTests {
    // In processes of their own, since a run handles signals.
    @Test("does not end before the socket that it opened is in a snapshot")
    func lateSnapshot() async {
        await #expect(processExitsWith: .exitCode(1)) { exit(status(isOnce: false)) }
        await #expect(processExitsWith: .exitCode(1)) { exit(status(isOnce: true)) }
    }

    @Test("fails if it cannot read what a program sends, and not if the program just ends")
    func unreadableUpdates() async {
        await #expect(processExitsWith: .exitCode(1)) { exit(try status(ofProgramThatSends: [9, 9, 9, 9, 9, 9, 9])) }
        await #expect(processExitsWith: .exitCode(0)) { exit(try status(ofProgramThatSends: [])) }
    }

    @Test("its connections are closed once each, whatever the next snapshot still lists")
    func closing() {
        let engine = ClosingEngine()
        let sources = SourceList(own: engine)
        var snapshot = EngineSnapshot(engine: "closing", time: .zero, wallNanoseconds: 0)
        snapshot.sockets = (1...3_000).map {
            SocketSnapshot(id: SocketID($0), role: .accepted, phase: .connected, target: "", opened: .zero)
        }
        var closing = SourceList.Closing()
        #expect(closing.step(snapshot, sources) == 3_000)
        for index in snapshot.sockets.indices.dropLast() { snapshot.sockets[index].phase = .closed }
        #expect(closing.step(snapshot, sources) == 1)
        #expect(engine.closed == (1...3_000).map { SocketID($0) })
    }
}

/// The status of a run that is attached to a program, which greets it, sends these bytes and ends.
private func status(ofProgramThatSends bytes: [UInt8]) throws -> Int32 {
    let folder = try TemporaryFolder()
    let path = folder.path + "/program.sock"
    var hello = InspectionHello()
    (hello.program, hello.process) = ("other", Int(getpid()))
    let sent = InspectionFrame.hello(hello).bytes + bytes
    let program = Recorder(onAccept: { viewer in
        viewer.write(sent)
        viewer.disconnect(.afterWriting)
    })
    let listener = SocketListener(engine: SocketEngine(), delegate: program)
    defer { withExtendedLifetime((folder, listener)) {} }
    try listener.listen(on: .unix(path: path))
    let run = ReportRun(.json, isOnce: false, lints: LintSettings(), sources: SourceList(), inbox: try Inbox())
    let ending = run.run([.attach(path)])
    return if case .status(let status) = ending { status } else { 2 }
}

private func status(isOnce: Bool) -> Int32 {
    guard let inbox = try? Inbox() else { return 3 }
    let run = ReportRun(
        .text, isOnce: isOnce, lints: LintSettings(), sources: SourceList(own: LateEngine()), inbox: inbox)
    let ending = run.run([.connect(OpenRequest(.tcp(host: "127.0.0.1", port: 1)))])
    return if case .status(let status) = ending { status } else { 2 }
}
