import InspectorCore
import SocketKit
import SocketTestSupport
import Testing

@testable import SockTUI

/// What is shown of an earlier instant, in a file or in the run itself, is what was drawn then, cell by cell.
@Suite("Earlier instants look as they did", .timeLimit(.minutes(10)), .serialized)
struct SameScreenTests {
    /// Watches a run, goes back in it, and opens its recording.
    private static func check(
        _ play: (WatchedRun) throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let folder = try TemporaryFolder()
        let run = try WatchedRun(in: folder)
        try play(run)
        try run.expectSame("kept", sourceLocation: sourceLocation, run.bodies)
        try run.returnToPresent()
        #expect(run.model.shown?.moment?.shown == nil, sourceLocation: sourceLocation)
        try #require(run.sources.stopRecording() != nil)
        let opened = try OpenedRun(run.path)
        try run.expectSame("opened", seed: 2, sourceLocation: sourceLocation, opened.bodies)
        run.sources.close()
    }

    @Test("the demo")
    func demo() throws {
        try Self.check { run in
            run.perform(.startDemo)
            try run.look(least: 30) { $0.sockets.count > 8 }
        }
    }

    @Test("a relayed redis conversation", .enabled(if: Peer.isUsable("redis-server", "redis-cli")))
    func redis() throws {
        let redis = try Peer.redis()
        try Self.check { run in
            let port = try Peer.freePort()
            run.type("relay 127.0.0.1:\(port) 127.0.0.1:\(redis.port)")
            try run.look(least: 3) { $0.sockets.contains { $0.role == .listener } }
            for value in 1...3 {
                _ = try ChildProcess.run(["redis-cli", "-p", "\(port)", "SET", "key", "value \(value)"])
                try run.look(least: 4) { $0.sockets.count { $0.linked != nil } == 2 * value }
            }
        }
    }

    @Test("WebSockets with compression through a relay")
    func webSockets() throws {
        let served = WebSocketRecorder()
        let engine = SocketEngine()
        let listener = WebSocketListener(engine: engine, delegate: served)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let told = WebSocketRecorder()
        let client = WebSocket(engine: engine, delegate: told)
        try Self.check { run in
            let port = try Peer.freePort()
            run.type("relay 127.0.0.1:\(port) 127.0.0.1:\(listener.localAddress?.port ?? 0)")
            try run.look(least: 1) { $0.sockets.contains { $0.role == .listener } }
            try client.connect(to: "ws://127.0.0.1:\(port)/room")
            try run.look(least: 3) { _ in client.readyState == .open && served.webSockets.count == 1 }
            for _ in 0..<3 {
                client.write(String(repeating: "compressed ", count: 50))
                served.webSockets[0].write("short")
                try run.look(least: 3) { _ in true }
            }
            client.close()
            try run.look(least: 3) { _ in client.readyState == .closed }
        }
    }

    @Test("TLS", .enabled(if: Certificates.problem == nil))
    func secure() throws {
        let reception = try TLSReception(.testServer()) { socket in
            socket.read(ReadRequest(.available(limit: nil), isStanding: true))
            socket.write(Array("welcome\r\n".utf8))
        }
        try Self.check { run in
            var request = OpenRequest(.tcp(host: "localhost", port: reception.port))
            request.tls = .testClient("localhost")
            run.perform(.connect(request))
            try run.look(least: 3) { $0.sockets.contains { $0.received > 0 } }
            run.type("send hello")
            try run.look(least: 6) { _ in reception.serverSide.received == Array("hello".utf8) }
            run.type("close now")
            try run.look(least: 3) { $0.sockets.allSatisfy { $0.phase == .closed } }
        }
    }

    @Test("Unix-domain sockets")
    func unix() throws {
        let folder = try TemporaryFolder()
        let served = Recorder()
        let reception = try Reception(
            .unix(path: folder.path + "/s"), accepting: Recorder(onAccept: { [served] in $0.delegate = served }))
        try Self.check { run in
            run.type("connect unix:\(folder.path)/s")
            try run.look(least: 3) { _ in reception.accepting.sockets.count == 1 }
            run.type("send hello")
            run.type("read 100")
            reception.accepting.sockets[0].write(Array("partial".utf8))
            try run.look { $0.sockets.contains { $0.received == 7 } }
        }
    }

    @Test("datagrams")
    func datagrams() throws {
        try Self.check { run in
            let port = try Peer.freePort()
            run.type("listen udp://127.0.0.1:\(port)")
            run.type("connect udp://127.0.0.1:\(port)")
            try run.look(least: 3) { $0.sockets.count == 2 }
            for number in 1...3 {
                run.type("select 2")
                run.type("send beat \(number)")
                try run.look(least: 4) { $0.sockets.contains { $0.datagrams?.counters.received == UInt64(number) } }
            }
        }
    }
}
