import Glibc
import InspectorCore
import InspectorScreen
import SocketKit
import SocketTestSupport
import Synchronization
import Testing

@testable import InspectorShell
@testable import SockTUI

/// An engine that answers when it is told to, and remembers what it was asked.
private final class SlowEngine: OpeningSource {
    struct Asked {
        var snapshots = 0
        var waiting: [@Sendable (EngineSnapshot?) -> Void] = []
        var commands: [SocketCommand] = []
        var opened: [OpenRequest] = []
    }

    let asked = Mutex(Asked())

    func requestSnapshot(_ request: SnapshotRequest, then: @escaping @Sendable (EngineSnapshot?) -> Void) {
        asked.withLock {
            $0.snapshots += 1
            $0.waiting.append(then)
        }
    }

    func perform(_ command: SocketCommand) { asked.withLock { $0.commands.append(command) } }

    func connect(_ request: OpenRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void) {
        asked.withLock { $0.opened.append(request) }
        then(.success(SocketID(7)))
    }

    func listen(_ request: OpenRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void) {
        then(.failure(SocketError(.badParameter, operation: "listen", detail: "no such address here")))
    }

    func close() {}
    func info(ordinal: Int) -> ProgramInfo { ProgramInfo(ordinal: ordinal, name: "slow", process: 1, isOurs: true) }
    var isAwaited: Bool { false }
    var hasAnswered: Bool { true }
    func takeNotices() -> [String] { [] }
    func write(_ request: WriteRequest, to id: SocketID) async throws(SocketError) {}
    func send(_ message: WebSocketMessage, to id: SocketID) async throws(SocketError) {}
    func stream(to id: SocketID) async throws(SocketError) -> WebSocketStream {
        throw SocketError(.other, operation: "send", detail: "")
    }
    func setReplies(_ id: SocketID, _ rules: [ReplyRule], then: @escaping @Sendable (SocketError?) -> Void) {}
    func relay(_ request: RelayRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void) {}

    func startTLS(_ id: SocketID, _ settings: TLSSettings, then: @escaping @Sendable (SocketError?) -> Void) {}
    func startDemo(then: @escaping @Sendable (SocketError?) -> Void) { then(nil) }

    func answer() {
        let waiting = asked.withLock { asked in
            defer { asked.waiting = [] }
            return asked.waiting
        }
        for then in waiting { then(EngineSnapshot(engine: "slow", time: .zero, wallNanoseconds: 0)) }
    }
}

@Suite("The run loop")
final class RunLoopTests {
    private let engine = SlowEngine()
    private let inbox: Inbox

    init() throws { inbox = try Inbox() }

    /// What waits for an answer holds on to the engine that owes it.
    deinit { engine.answer() }

    private func loop() -> RunLoop {
        let model = Model(options: Model.Options(ascii: true, version: "test"))
        let runner = EffectRunner(sources: SourceList(own: engine), inbox: inbox)
        return RunLoop(model: model, screen: ScriptScreen(Size(80, 24)), runner: runner)
    }

    @Test("an engine that does not answer is asked once, and keys are answered all the same")
    func silentEngine() {
        let loop = loop()
        loop.start([])
        for _ in 0..<5 { loop.pass() }
        #expect(engine.asked.withLock { $0.snapshots } == 1)
        loop.handle([.key(.control("c"))])
        #expect(loop.ending == .quit)
    }

    @Test("snapshots are asked for again and again, at most about ten times a second")
    func rate() {
        let loop = loop()
        loop.start([])
        let begin = ContinuousClock.now
        var count: Int { engine.asked.withLock { $0.snapshots } }
        let isRepeated = eventually {
            loop.pass()
            engine.answer()
            return count >= 10
        }
        let tenths = (ContinuousClock.now - begin).inSeconds * 10
        #expect(isRepeated && Double(count) <= tenths + 3)
    }

    @Test("a signal ends the loop as that signal, the first one counts")
    func signals() {
        let loop = loop()
        loop.start([])
        var bytes = [UInt8(SIGTERM), UInt8(SIGHUP)]
        write(inbox.writeEnd, &bytes, 2)
        #expect(loop.run() == .signal(SIGTERM))
    }

    @Test("what was asked for on the command line is opened, and refusals come back as sentences")
    func opening() {
        let endpoint = Endpoint.tcp(host: "h", port: 1)
        let loop = loop()
        loop.start([.connect(OpenRequest(endpoint)), .listen(OpenRequest(endpoint))])
        #expect(engine.asked.withLock { $0.opened } == [OpenRequest(endpoint)])
        #expect(loop.canvas.text.contains("h:1: no such address here"))
    }

    @Test("a message from another thread wakes the loop at once")
    func wake() {
        let loop = loop()
        loop.start([])
        loop.pass()
        var entry = pollfd(fd: inbox.readEnd, events: Int16(POLLIN), revents: 0)
        #expect(poll(&entry, 1, 0) == 0)
        engine.answer()
        #expect(poll(&entry, 1, 0) == 1, "what a pass waits for")
        loop.pass()
        #expect(inbox.take().isEmpty && poll(&entry, 1, 0) == 0)
    }

    @Test("many messages, one byte in the pipe")
    func coalescing() {
        for _ in 0..<100 { inbox.post(.refused("")) }
        var byte = [UInt8](repeating: 1, count: 200)
        #expect(read(inbox.readEnd, &byte, 200) == 1)
        #expect(inbox.take().count == 100)
        inbox.post(.refused(""))
        #expect(inbox.takeSignals().isEmpty)
    }
}

@Suite("The engine as a source")
struct EngineSourceTests {
    @Test("connects and listens; what it opened is in the next snapshot; refusals say why")
    func opens() throws {
        let engine = EngineSource()
        let answers = Mutex<[Result<SocketID, SocketError>]>([])
        func count() -> Int { answers.withLock { $0.count } }
        engine.listen(OpenRequest(.tcp(host: "127.0.0.1", port: 0))) { @Sendable answer in
            answers.withLock { $0.append(answer) }
        }
        engine.listen(OpenRequest(.tcp(host: "no numeric host", port: 0))) { @Sendable answer in
            answers.withLock { $0.append(answer) }
        }
        try #require(eventually { count() == 2 })
        let (first, second) = answers.withLock { ($0[0], $0[1]) }
        let listener = try first.get()
        #expect(throws: SocketError.self) { try second.get() }
        let port = try #require(try snapshot(of: engine).sockets.first { $0.id == listener }?.local?.port)
        engine.connect(OpenRequest(.tcp(host: "127.0.0.1", port: port))) { @Sendable answer in
            answers.withLock { $0.append(answer) }
        }
        let connected = try eventually {
            try snapshot(of: engine).sockets.filter { $0.phase == .connected && $0.reading.current != nil }.count == 2
        }
        #expect(connected, "both ends live, each with its standing read")
    }

    private func snapshot(of engine: EngineSource) throws -> EngineSnapshot {
        let box = Mutex<EngineSnapshot?>(nil)
        engine.requestSnapshot(SnapshotRequest()) { @Sendable snapshot in box.withLock { $0 = snapshot } }
        try #require(eventually { box.withLock { $0 != nil } })
        return try #require(box.withLock { $0 })
    }
}
