import InspectorCore
import SocketCore
import SocketRecords
import SocketTestSupport
import Testing

/// A captured connection is told by its two ends, since neither is local.
@Suite("Words of captured connections")
struct CapturedWordsTests {
    private static func opened(_ change: (inout SegmentScript) -> Void) throws -> OpenedCapture {
        var script = SegmentScript()
        script.handshake()
        change(&script)
        return try script.opened()
    }

    private static func words(_ change: (inout SegmentScript) -> Void) throws -> [String] {
        let socket = try #require(try opened(change).shown.sockets.first)
        let record = try #require(socket.closed)
        return [CapturedWords.reason(record).rawValue, socket.ending ?? ""]
    }

    @Test("how it ended is told by the end that closed first, with the text of a reset")
    func endings() throws {
        #expect(
            try Self.words { $0.close(client: 0, server: 0) } == ["client_close", "client closed first (FIN)"])
        #expect(
            try Self.words {
                $0.send(.server, .fin, at: 1, ack: 1)
                $0.send(.client, .fin, at: 1, ack: 2)
            } == ["server_close", "server closed first (FIN)"])
        #expect(try Self.words { $0.send(.client, .reset, at: 1) } == ["client_reset", "client reset (RST)"])
        #expect(
            try Self.words { $0.send(.server, .reset, at: 1, ack: 1, "go away") }
                == ["server_reset", "server reset (RST): go away"])
        #expect(
            try Self.words { $0.send(.client, .reset, at: 1, ack: 1, "enough") }
                == ["client_reset", "client reset (RST): enough"])
    }

    @Test("a FIN is of the client or of the server, never ours")
    func fins() throws {
        let shown = try Self.opened { $0.close(client: 0, server: 0) }.shown
        let words = shown.events.map { EventWords.detail($0, of: shown.sockets.first, answer: "") }
        #expect(words.contains("client closed its side (FIN)") && words.contains("server closed its side (FIN)"))
        #expect(!words.contains { $0.contains("we ") })
    }
}
