import SocketKit
import SocketTestSupport
import Testing

/// What is kept of a WebSocket's traffic for a person to look at.
@Suite(.timeLimit(.minutes(5))) struct WebSocketTrafficTests {
    private func traffic(_ socket: WebSocket) -> [TrafficItem] {
        guard let id = socket.session else { return [] }
        return socket.engine.snapshot(SnapshotRequest(traffic: id)).traffic?.items ?? []
    }

    private static var capturing: SocketEngine {
        var configuration = EngineConfiguration()
        configuration.capturesTraffic = true
        return SocketEngine(configuration)
    }

    @Test func messagesAndControlFramesAreKeptInPlaceOfTheirBytes() throws {
        let pair = try WebSocketPair(engine: Self.capturing)
        let text = String(repeating: "all work and no play ", count: 20)
        pair.client.write(text)
        pair.client.writePing([1, 2])
        #expect(eventually { traffic(pair.client).contains { $0.webSocket?.roundTrip != nil } })
        #expect(eventually { pair.serverSide.messages.count == 1 })
        let sent = traffic(pair.client)
        let heads = sent.filter { $0.webSocket == nil }
        #expect(heads.count == 2 && heads.allSatisfy { !$0.bytes.isEmpty }, "the two heads of the handshake")
        let message = try #require(sent.first { $0.webSocket?.kind == .text })
        #expect(message.bytes == Array(text.utf8) && message.direction == .sent)
        #expect(message.webSocket?.isCompressed == true && message.webSocket?.frameCount == 1)
        #expect((message.webSocket?.payloadBytes ?? .max) < text.utf8.count)
        #expect(message.webSocket?.frames.first?.maskKey != nil)
        #expect(message.state != .inProgress)
        #expect(sent.first { $0.webSocket?.kind == .ping }?.bytes == [1, 2])
        let received = traffic(pair.server)
        #expect(received.first { $0.webSocket?.kind == .text }?.bytes == Array(text.utf8))
        #expect(received.first { $0.webSocket?.kind == .pong }?.direction == .sent)
    }

    @Test func theFragmentsOfAMessageAreKeptWithIt() throws {
        let pair = try WebSocketPair(engine: Self.capturing)
        let id = try #require(pair.client.session)
        pair.engine.post(.webSocket(id, .fragments(.text, [Array("Hel".utf8), [], Array("lo".utf8)])))
        #expect(eventually { pair.serverSide.messages == [.text("Hello")] })
        #expect(eventually { traffic(pair.client).first { $0.webSocket?.kind == .text }?.webSocket?.frameCount == 3 })
        let frames = traffic(pair.server).first { $0.webSocket?.kind == .text }?.webSocket?.frames ?? []
        #expect(frames.map(\.opcode) == [.text, .continuation, .continuation])
        #expect(frames.map(\.isFinal) == [false, false, true])
    }
}
