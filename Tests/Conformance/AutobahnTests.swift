import SocketKit
import SocketTestSupport
import Testing

/// Strict: a case that is NON-STRICT or UNIMPLEMENTED fails as one that is FAILED does.
@Suite("Autobahn", .serialized, .timeLimit(.minutes(40)))
struct AutobahnTests {
    static let available = ConditionTrait.enabled(if: Autobahn.problem == nil, "\(Autobahn.problem ?? "")")
    static let full = ConditionTrait.enabled(if: Autobahn.isFull, "only with --full")

    @Test(available) func clientCore() async throws { try await testClient(Autobahn.core) }
    @Test(available) func serverCore() throws { try testServer(Autobahn.core) }
    @Test(available) func clientPerformance() async throws { try await testClient(Autobahn.performance) }
    @Test(available) func serverPerformance() throws { try testServer(Autobahn.performance) }
    @Test(available) func clientCompression() async throws { try await testClient(Autobahn.compressionSample) }
    @Test(available) func serverCompression() throws { try testServer(Autobahn.compressionSample) }
    @Test(available, full) func clientAllCompression() async throws { try await testClient(Autobahn.compression) }
    @Test(available, full) func serverAllCompression() throws { try testServer(Autobahn.compression) }

    private func testClient(_ part: Autobahn.Part) async throws {
        let folder = try TemporaryFolder()
        let (peer, port) = try Autobahn.server(part, folder)
        defer { peer.kill() }
        try await AutobahnClient(base: "ws://127.0.0.1:\(port)", engine: SocketEngine()).run()
        try expect(part, try Autobahn.verdict(part, folder))
    }

    private func testServer(_ part: Autobahn.Part) throws {
        let folder = try TemporaryFolder()
        let server = try AutobahnServer(engine: SocketEngine())
        let outcome = try Autobahn.testServer(part, at: "ws://127.0.0.1:\(server.port)", folder)
        try expect(part, outcome)
    }

    private func expect(_ part: Autobahn.Part, _ outcome: ChildProcess.Outcome) throws {
        #expect(outcome.status == 0, "\(outcome.output) \(outcome.errors)")
        #expect(outcome.output.contains("'OK': \(part.count - part.informational)"), "\(outcome.output)")
        print("Autobahn, \(part.name): \(outcome.output.prefix { $0 != "\n" })")
    }
}
