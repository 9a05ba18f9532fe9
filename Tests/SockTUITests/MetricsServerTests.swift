import InspectorCore
import SocketKit
import SocketTestSupport
import Testing

@testable import InspectorShell
@testable import SockTUI

/// The server of `host --metrics`, and the command line that starts it.
@Suite("The server of metrics", .timeLimit(.minutes(10)))
struct MetricsServerTests {
    private static func get(_ port: UInt16, _ engine: SocketEngine, _ head: String) async throws -> String {
        let socket = try await AsyncSocket.connect(to: .tcp(host: "127.0.0.1", port: port), on: engine)
        try await socket.send(Array("\(head)\r\n\r\n".utf8))
        var bytes: [UInt8] = []
        for try await chunk in socket.chunks() { bytes += chunk }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("it answers what was shown last, to one after another, also while others ask nothing or too much")
    func serving() async throws {
        let server = try MetricsServer(on: .tcp(host: "127.0.0.1", port: 0), patience: .milliseconds(200))
        let port = try #require(server.addresses.first?.port)
        let engine = SocketEngine()
        let task = Task { try await server.serve() }
        server.show("socktui_looks_total 1\n")
        #expect(try await Self.get(port, engine, "GET /metrics HTTP/1.1").hasSuffix("\r\n\r\nsocktui_looks_total 1\n"))
        var silent: [AsyncSocket] = []
        for _ in 1...20 {
            silent.append(try await .connect(to: .tcp(host: "127.0.0.1", port: port), on: engine))
        }
        let long = try await AsyncSocket.connect(to: .tcp(host: "127.0.0.1", port: port), on: engine)
        try? await long.send([UInt8](repeating: 0x61, count: 20_000))
        server.show("socktui_looks_total 2\n")
        #expect(try await Self.get(port, engine, "GET /metrics HTTP/1.1").hasSuffix("\r\n\r\nsocktui_looks_total 2\n"))
        #expect(try await Self.get(port, engine, "DELETE /metrics HTTP/1.1").hasPrefix("HTTP/1.1 405 "))
        // Those that asked nothing were closed.
        for socket in silent { await #expect(throws: Never.self) { for try await _ in socket.chunks() {} } }
        task.cancel()
        try await task.value
    }

    @Test(
        "a hundred at once that say nothing, drip, send garbage or read nothing are ended, and others have their turn")
    func hostile() async throws {
        let server = try MetricsServer(on: .tcp(host: "127.0.0.1", port: 0), patience: .milliseconds(20))
        let port = try #require(server.addresses.first?.port)
        let engine = SocketEngine()
        let task = Task { try await server.serve() }
        // More than the buffers of a connection hold.
        server.show(String(repeating: "socktui_looks_total 1\n", count: 400_000))
        let openings: [[UInt8]] = [
            [], Array("G".utf8), [0, 0xFF, 13, 10, 13, 10, 0x80], Array(repeating: 0x61, count: 20_000),
            Array("GET /metrics HTTP/1.1\r\n\r\n".utf8),
        ]
        var clients: [AsyncSocket] = []
        for number in 0..<100 {
            let client = try await AsyncSocket.connect(to: .tcp(host: "127.0.0.1", port: port), on: engine)
            try? await client.send(openings[number % openings.count])
            clients.append(client)
        }
        // One byte more for each that drips, whenever another had its turn.
        var turns = 0
        repeat {
            for number in stride(from: 1, to: 100, by: openings.count) { try? await clients[number].send([0x45]) }
            #expect(try await Self.get(port, engine, "GET / HTTP/1.1").hasSuffix("see /metrics\n"))
            turns += 1
        } while turns < 100 && clients.indices.contains { $0 % openings.count == 1 && clients[$0].isConnected }
        #expect(turns < 100)
        for client in clients { do { for try await _ in client.chunks() {} } catch {} }
        #expect(try await Self.get(port, engine, "GET / HTTP/1.1").hasSuffix("see /metrics\n"))
        task.cancel()
        try await task.value
    }

    @Test("an address where another listens is refused with its name")
    func taken() throws {
        let server = try MetricsServer(on: .tcp(host: "127.0.0.1", port: 0))
        let port = try #require(server.addresses.first?.port)
        #expect(throws: SocketError.self) { try MetricsServer(on: .tcp(host: "127.0.0.1", port: port)) }
    }

    @Test("--metrics takes an address, or - with --once, and nothing that would choose or print otherwise")
    func commandLine() throws {
        #expect(
            try ArgumentParser.parse(["host", "--metrics", "127.0.0.1:9464"]).mode
                == .metrics(.tcp(host: "127.0.0.1", port: 9464)))
        #expect(try ArgumentParser.parse(["host", "--once", "--metrics", "-"]).mode == .metrics(nil))
        for (arguments, word) in [
            (["--metrics", "unix:/tmp/m"], "TCP"), (["--metrics", "-"], "--once"),
            (["--metrics", "nohost"], "--metrics"),
            (["--once", "--metrics", "127.0.0.1:1"], "--once"), (["--metrics", ":1", "--json"], "--json"),
            (["tcp", "--metrics", ":1"], "tcp"), (["--metrics", ":1", "--strict"], "--strict"),
            (["--metrics", ":1", "--peek"], "--peek"),
        ] {
            let error = #expect(throws: UsageError.self) { try ArgumentParser.parse(["host"] + arguments) }
            #expect(error?.description.contains(word) == true, "\(arguments): \(error?.description ?? "")")
        }
    }
}
