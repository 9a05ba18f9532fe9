import Dispatch
import Glibc
import SocketKit
import Synchronization

// The snippets of the pages, except whole programs, which are in Programs. `SnippetTests` compares both with the pages, so
// a snippet that isn't here fails it. Statements that stand alone on a page are in a function here.

// MARK: GettingStarted

final class Client: AsyncSocketDelegate {
    let answer = Mutex("")

    func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {
        answer.withLock { $0 = String(decoding: bytes, as: UTF8.self) }
        socket.disconnect(.afterWriting)
    }

    func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {
        // `nil`: this side closed.
    }
}

func begin(_ client: Client, at endpoint: Endpoint, on engine: SocketEngine) throws -> AsyncSocket {
    let socket = AsyncSocket(engine: engine, delegate: client)
    try socket.connect(to: endpoint, timeout: .seconds(3))
    socket.write(Array("hello\r\n".utf8), tag: 1)
    socket.read(ReadRequest(.delimiter([13, 10], limit: 1_024), timeout: .seconds(2), tag: 2))
    return socket
}

// MARK: DelegatesAndIsolation

final class Counter: AsyncSocketDelegate {
    let bytes = Mutex(0)

    func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {
        self.bytes.withLock { $0 += bytes.count }
    }
}

@MainActor final class Window: AsyncSocketDelegate {
    var lines: [String] = []

    nonisolated func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {
        MainActor.assumeIsolated { lines.append(String(decoding: bytes, as: UTF8.self)) }
    }
}

actor Transcript {
    private(set) var bytes: [UInt8] = []

    func record(_ socket: AsyncSocket) async throws {
        for try await chunk in socket.chunks(timeout: .seconds(60)) { bytes += chunk }
    }
}

func serve(_ connections: SocketConnections, on engine: SocketEngine) async throws {
    for try await socket in connections {
        Task(executorPreference: engine) {
            for try await chunk in socket.chunks() { try await socket.send(chunk) }
        }
    }
}

// MARK: TimeoutsAndCancellation

func line(from socket: AsyncSocket, within limit: Duration) async throws -> [UInt8]? {
    do throws(SocketError) {
        return try await socket.read(ReadRequest(.delimiter([13, 10], limit: 1_024), timeout: limit))
    } catch {
        guard error.reason == .readTimeout, socket.session != nil else { throw error }
        return nil  // not whole yet; what has come stays for the next read
    }
}

func firstByte(of socket: AsyncSocket) async throws -> UInt8? {
    do throws(SocketError) {
        return try await socket.read(ReadRequest(.length(1))).first
    } catch {
        throw error.orCancellationError
    }
}

func run(_ engine: SocketEngine, until stop: @Sendable () async -> Void) async {
    await stop()
    await engine.shutdown(within: .seconds(10))
}

// MARK: SecuringConnections

func secureClient(_ endpoint: Endpoint, authority: String, on engine: SocketEngine) async throws -> AsyncSocket {
    var settings = TLSSettings.client(serverName: "localhost")
    settings.trust = .file(authority)
    return try await AsyncSocket.connect(to: endpoint, on: engine, timeout: .seconds(3), tls: settings)
}

func secureServer(_ identity: TLSSettings.Identity, on engine: SocketEngine) throws -> SocketListener {
    let listener = SocketListener(engine: engine)
    try listener.listen(on: .tcp(host: "localhost", port: 0), tls: .server(identity))
    return listener
}

func renew(_ identity: TLSSettings.Identity, of listener: SocketListener) throws {
    try listener.renewTLS(.server(identity))
}

// MARK: TestingWithSocketKit

func withServer<R>(_ body: (Endpoint) async throws -> R) async throws -> R {
    let engine = SocketEngine()
    let listener = SocketListener(engine: engine)
    let connections = listener.connections
    try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
    let serving = Task {
        for try await socket in connections {
            Task { for try await chunk in socket.chunks() { try await socket.send(chunk) } }
        }
    }
    defer { serving.cancel() }
    let result = try await body(.tcp(host: "127.0.0.1", port: listener.localAddress?.port ?? 0))
    await engine.shutdown(within: .seconds(5))
    return result
}

func events(of engine: SocketEngine, _ kind: SocketEvent.Kind) -> Int {
    engine.snapshot(SnapshotRequest(eventsFrom: 0)).events.count { $0.kind == kind }
}

func log(_ engine: SocketEngine, _ write: @escaping @Sendable (String) -> Void) -> SocketEventObservation {
    engine.observeEvents(on: DispatchQueue(label: "log")) { batch in
        if batch.lost > 0 { write("\(batch.lost) events lost") }
        for event in batch.events { write("\(event.socket) \(event.kind)") }
    }
}

// MARK: ComingFromOtherLibraries

func message(from socket: AsyncSocket) async throws -> [UInt8] {
    let header = try await socket.read(ReadRequest(.length(2), timeout: .seconds(5)))
    let length = Int(header[0]) << 8 | Int(header[1])
    guard length > 0 else { return [] }
    return try await socket.read(ReadRequest(.length(length), timeout: .seconds(5)))
}

final class Verdicts: AsyncSocketDelegate {
    func socket(_ socket: AsyncSocket, didTimeOut operation: TimedOutOperation) -> TimeoutVerdict {
        if case .write = operation.kind { .close } else { .failOperation }
    }
}

func echo(_ socket: AsyncSocket, silence: Duration) async throws {
    let verdicts = Verdicts()
    socket.delegate = verdicts
    do throws(SocketError) {
        for try await chunk in socket.chunks(timeout: silence) { socket.write(chunk, timeout: .seconds(10)) }
    } catch {
        guard error.reason == .readTimeout else { throw error }
        socket.write(Array("idle\r\n".utf8), timeout: .seconds(10))
    }
    try await socket.disconnectAndWait(.afterWriting)
    withExtendedLifetime(verdicts) {}
}

func waitForTermination() async {
    signal(SIGTERM, SIG_IGN)
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
    let source = DispatchSource.makeSignalSource(signal: SIGTERM)
    source.setEventHandler { @Sendable in continuation.yield() }
    source.resume()
    for await _ in signals { break }
    source.cancel()
}

final class SlowPeers: AsyncSocketDelegate {
    func socket(_ socket: AsyncSocket, didBecomeWritable isWritable: Bool) {
        if !isWritable { socket.disconnect(.reset) }
    }
}

func limit(_ listener: SocketListener) {
    listener.configuration.writeWatermarks = Watermarks(low: 0, high: 256 << 10)
}

func broadcast(_ line: [UInt8], to members: [AsyncSocket]) {
    for member in members { member.write(line, timeout: .seconds(10)) }
}

// MARK: docs/embedding.md

func lineWithin(_ engine: SocketEngine, _ endpoint: Endpoint) async throws {
    var configuration = SocketConfiguration()
    configuration.timeoutVerdict = .failOperation  // the default closes the connection
    let socket = try await AsyncSocket.connect(
        to: endpoint, on: engine, timeout: .seconds(3), configuration: configuration)
    try await socket.send(Array("hello\r\n".utf8))
    do {
        let line = ReadRequest(.delimiter([13, 10], limit: 1_024), timeout: .seconds(2))
        print(String(decoding: try await socket.read(line), as: UTF8.self))
    } catch {  // error is a SocketError
        guard error.reason == .readTimeout else { throw error }
        print("no answer yet; what has arrived stays in the stream for the next read")
    }
}

func chat(on engine: SocketEngine) async throws {
    let chat = try await WebSocket.connect(to: "wss://example.org/chat", on: engine)
    try await chat.send("hello")
    for try await message in chat.messages { print(message.text) }
}

// MARK: docs/recording.md

func record(_ engine: SocketEngine) throws {
    let recorder = try SocketRecorder(engine, to: "/var/tmp/session.pcapng")
    // ...
    recorder.stop()
}

func keep(_ engine: SocketEngine, requestNumber: Int) throws -> (SocketError) -> Void {
    let recorder = try SocketRecorder(engine, keeping: .seconds(30), bytes: 64 << 20)
    // ...
    func requestFailed(_ error: SocketError) {
        try? recorder.write(to: "/var/tmp/failure-\(requestNumber).pcapng")
    }
    return requestFailed
}

// MARK: README.md

/// A `main.swift`, whose classes and statements a function can have as well.
func echoServer() throws {
    final class Echo: SocketListenerDelegate {
        func listener(_ listener: SocketListener, didAccept socket: AsyncSocket) {
            Task { for try await line in socket.lines() { try await socket.send(line) } }
        }
    }
    let engine = SocketEngine()
    let echo = Echo()
    let listener = SocketListener(engine: engine, delegate: echo)
    listener.configuration.allowsHalfOpen = true  // a client's FIN ends reading, not our replies
    try listener.listen(on: .tcp(host: "localhost", port: 7000))
    dispatchMain()
}
