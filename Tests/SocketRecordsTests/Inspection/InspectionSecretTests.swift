import Testing

import SocketRecords

@testable import SocketCore

@Suite("What only viewers with the right to payload are told")
struct InspectionSecretTests {
    @Test("without the right to payload nothing is told of what either side of a WebSocket said")
    func webSocketSecrets() throws {
        let secret = "SECRET"
        var webSocket = WebSocketPicture(role: .client, stage: .closed, target: "ws://h/p?token=\(secret)")
        webSocket.request = HTTPHead(
            startLine: "GET /p?token=\(secret) HTTP/1.1",
            fields: [
                HTTPField("Host", "h"), HTTPField("X-Api-Key", secret), HTTPField("Sec-WebSocket-Protocol", secret),
            ])
        webSocket.response = HTTPHead(startLine: "HTTP/1.1 403 \(secret)", fields: [HTTPField("Location", secret)])
        webSocket.subprotocol = secret
        webSocket.problem = "the server answered HTTP/1.1 403 \(secret)"
        var progress = WebSocketSnapshot(role: .client)
        progress.closeReceived = WebSocketCloseFrame(code: .normal, reason: secret)
        progress.closeSent = WebSocketCloseFrame(code: .normal, reason: secret)
        webSocket.traffic = progress
        webSocket.report = WebSocketCloseReport(
            sent: progress.closeSent, received: progress.closeReceived, failure: nil, origin: .peer, wasClean: true,
            unsentBytes: 0, began: .zero, ended: .zero)
        var told = SocketSnapshot(id: SocketID(1), role: .client, phase: .closed, target: "", opened: .zero)
        told.target = webSocket.target
        told.webSocket = webSocket
        let refusal = HandshakeRefusal(status: 403, head: HTTPHead(startLine: secret))
        told.closed = CloseRecord(
            time: .zero,
            error: SocketError(
                .webSocket(.refused(refusal)), operation: "handshake", detail: "\(told.target): answered \(secret)"))
        for showsPayload in [false, true] {
            var board = InspectionBoard(showsPayload: showsPayload)
            var publication = EngineSnapshot(engine: "", time: .zero, wallNanoseconds: 0)
            publication.sockets = [told]
            publication.changes = SnapshotChanges()
            publication.changes?.oldestClosed = told.id
            board.absorb(publication)
            var viewer = InspectionBoard.Progress()
            var writer = WireWriter()
            _ = board.update(&viewer, to: &writer)
            let text = String(decoding: writer.bytes, as: UTF8.self)
            #expect(text.contains(secret) == showsPayload)
            // What the protocol itself needs is told.
            #expect(text.contains("403") && text.contains("Host"))
        }
    }
}
