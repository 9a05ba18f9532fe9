import Dispatch
import Glibc
import SocketKit
import Synchronization

// The code of the articles in SocketKit.docc. The soundness tests compare it with them, line by line.

// MARK: GettingStarted

func serve(on engine: SocketEngine, at endpoint: Endpoint) throws -> SocketListener {
    let listener = SocketListener(engine: engine)
    let connections = listener.connections
    try listener.listen(on: endpoint)
    Task {
        for try await socket in connections {
            Task {
                for try await line in socket.lines(limit: 1_024, timeout: .seconds(30)) {
                    try await socket.send(line)
                }
            }
        }
    }
    return listener
}

func ask(_ question: String, at endpoint: Endpoint, on engine: SocketEngine) async throws -> String {
    try await AsyncSocket.withConnection(to: endpoint, on: engine, timeout: .seconds(3)) { socket in
        try await socket.send(Array((question + "\r\n").utf8))
        let line = ReadRequest(.delimiter([13, 10], limit: 1_024), timeout: .seconds(2))
        return String(decoding: try await socket.read(line).dropLast(2), as: UTF8.self)
    }
}

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
