import SocketTestSupport
import Testing

/// Strict: a case that is NON-STRICT or UNIMPLEMENTED fails as one that is FAILED does.
@Suite("Autobahn", .serialized, .timeLimit(.minutes(60)))
struct AutobahnTests {
    static let available = ConditionTrait.enabled(if: Autobahn.problem == nil, "\(Autobahn.problem ?? "")")
    static let full = ConditionTrait.enabled(if: Autobahn.isFull, "only with --full")

    @Test(available) func clientCore() throws { try testClient(Autobahn.core) }
    @Test(available) func serverCore() throws { try testServer(Autobahn.core) }
    @Test(available) func clientSecure() throws { try testClient(Autobahn.secure) }
    @Test(available) func serverSecure() throws { try testServer(Autobahn.secure) }
    @Test(available) func clientPerformance() throws { try testClient(Autobahn.performance) }
    @Test(available) func serverPerformance() throws { try testServer(Autobahn.performance) }
    @Test(available) func clientCompression() throws { try testClient(Autobahn.compressionSample) }
    @Test(available) func serverCompression() throws { try testServer(Autobahn.compressionSample) }
    @Test(available, full) func clientSecureCore() throws { try testClient(Autobahn.secureCore) }
    @Test(available, full) func serverSecureCore() throws { try testServer(Autobahn.secureCore) }
    @Test(available, full) func clientAllCompression() throws { try testClient(Autobahn.compression) }
    @Test(available, full) func serverAllCompression() throws { try testServer(Autobahn.compression) }

    private func testClient(_ part: Autobahn.Part) throws {
        let folder = try TemporaryFolder()
        try expect(part, "client", try Autobahn.testClient(part, folder))
    }

    private func testServer(_ part: Autobahn.Part) throws {
        let folder = try TemporaryFolder()
        try expect(part, "server", try Autobahn.testServer(part, folder))
    }

    private func expect(_ part: Autobahn.Part, _ role: String, _ outcome: ChildProcess.Outcome) throws {
        #expect(outcome.status == 0, "\(outcome.output) \(outcome.errors)")
        #expect(outcome.output.contains("'OK': \(part.count - part.informational)"), "\(outcome.output)")
        print("Autobahn, \(role), \(part.name): \(outcome.output.prefix { $0 != "\n" })")
    }
}
