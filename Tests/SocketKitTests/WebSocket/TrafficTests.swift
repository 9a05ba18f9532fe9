import SocketKit
import SocketRecords
import SocketTestSupport
import Testing

/// What is kept of a WebSocket's traffic for a person to look at.
@Suite(.timeLimit(.minutes(10))) struct WebSocketTrafficTests {
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

    @Test func whatAViewerSendsIsMarkedAndToldOfIfItIsQueued() throws {
        let pair = try WebSocketPair(engine: Self.capturing)
        let folder = try TemporaryFolder()
        let inspection = try SocketInspection.serve(
            pair.engine, rights: .control, folder: folder.path, program: "chatd")
        let viewer = try InspectionClient(inspection.path)
        #expect(viewer.sees { _ in true })
        let id = try #require(pair.client.session)
        pair.client.write("own")
        viewer.send(InspectionFrame.command(.webSocket(id, .message(.text("theirs")))).bytes)
        viewer.send(InspectionFrame.command(.webSocket(id, .message(WebSocketMessage(.text, [0xFF])))).bytes)
        #expect(eventually { traffic(pair.client).filter { $0.webSocket?.kind == .text }.count == 3 })
        #expect(eventually { pair.serverSide.messages.count == 2 })
        for item in traffic(pair.client) where item.webSocket?.kind == .text {
            #expect(item.isInjected == (item.bytes != Array("own".utf8)), "\(item.bytes)")
        }
        let events = pair.engine.snapshot(SnapshotRequest(eventsFrom: 0)).events.filter { $0.kind == .injected }
        #expect(events.map(\.socket) == [id] && events.map(\.first) == [6], "one was refused")
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

    @Test func framesBehindTheHeadAreNotKeptWithIt() throws {
        let listener = try RawListener()
        let client = WebSocket(engine: Self.capturing)
        try client.connect(to: "ws://127.0.0.1:\(listener.port)")
        let peer = try listener.accept()
        let answer = RawListener.answer(to: peer.receiveHead())
        try peer.send(Array(answer.utf8) + RawPeer.frame(1, [0x61]))
        #expect(eventually { traffic(client).contains { $0.webSocket?.kind == .text } })
        let items = traffic(client).filter { $0.direction == .received }
        #expect(items.map(\.webSocket?.kind) == [nil, .text])
        #expect(items.first?.bytes.suffix(4) == [13, 10, 13, 10], "the head, and nothing of the frame")
        #expect(items.first?.done == items.first?.bytes.count)
        peer.end()
    }

    @Test func thePartsOfAStreamedMessageAreKeptWithTheirFrames() throws {
        let pair = try WebSocketPair(engine: Self.capturing)
        let stream = pair.client.stream(.text)
        stream.write(Array("one".utf8))
        stream.write(Array("two".utf8))
        stream.finish()
        #expect(eventually { pair.serverSide.messages == [.text("onetwo")] })
        #expect(eventually { traffic(pair.client).filter { $0.webSocket?.isPart == true }.count == 2 })
        let parts = traffic(pair.client).filter { $0.webSocket?.isPart == true }
        #expect(parts.map(\.bytes) == [Array("one".utf8), Array("two".utf8)])
        let frames = parts.map { $0.webSocket?.frames ?? [] }
        #expect(frames.map { $0.map(\.opcode) } == [[.text], [.continuation, .continuation]])
        #expect(frames.map { $0.map(\.isFinal) } == [[false], [false, true]], "the end is a frame of its own")
        #expect(eventually { traffic(pair.client).allSatisfy { $0.state != .inProgress } })
    }

    @Test func theCountersStayBehindTheClose() throws {
        let pair = try WebSocketPair(engine: Self.capturing)
        let id = try #require(pair.client.session)
        #expect(pair.server.agreement == pair.client.agreement, "both ends know what was agreed on")
        pair.client.write("one")
        pair.client.write("two")
        pair.client.close(.normal, reason: "done")
        #expect(eventually { pair.clientSide.endings == 1 })
        let closed = try #require(pair.engine.snapshot().sockets.first { $0.id == id })
        let facts = try #require(closed.webSocket)
        #expect(facts.traffic?.sent.messages == 2 && facts.traffic?.sent.messageBytes == 6)
        #expect(facts.traffic?.closeSent?.code == .normal && facts.report?.wasClean == true)
    }
}
