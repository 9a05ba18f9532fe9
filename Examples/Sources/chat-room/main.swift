import Dispatch
import SocketKit
import Synchronization

/// A chat: each text goes to everybody else in the room, which is the path; `GET /` is answered by plain HTTP. `socktui
/// attach` looks on, and `socktui connect ws://127.0.0.1:7001/tea` joins in.
final class ChatRoom: WebSocketListenerDelegate, WebSocketDelegate {
    private let rooms = Mutex<[String: [WebSocket]]>([:])

    func listener(
        _ listener: WebSocketListener, didAccept webSocket: WebSocket, agreement: WebSocketAgreement
    ) {
        let room = room(agreement)
        webSocket.delegate = self
        let others = rooms.withLock { rooms in
            defer { rooms[room, default: []].append(webSocket) }
            return rooms[room]?.count ?? 0
        }
        webSocket.write("\(others) others are here")
    }

    func webSocket(_ webSocket: WebSocket, didReceive message: WebSocketMessage) {
        guard let agreement = webSocket.agreement else { return }
        let others = rooms.withLock { $0[room(agreement)] ?? [] }
        for other in others where other !== webSocket {
            // Whoever does not read what the others say is not waited for.
            if other.bufferedAmount < 1 << 20 { other.write(message) } else { other.close(.policyViolation) }
        }
    }

    func webSocket(_ webSocket: WebSocket, didClose report: WebSocketCloseReport?, error: SocketError?) {
        guard let agreement = webSocket.agreement else { return }
        rooms.withLock { $0[room(agreement)]?.removeAll { $0 === webSocket } }
    }

    private func room(_ agreement: WebSocketAgreement) -> String {
        agreement.request.startLine.split(separator: " ").dropFirst().first.map(String.init) ?? "/"
    }
}

let engine = SocketEngine()
try SocketInspection.serve(engine)
var configuration = WebSocketConfiguration()
configuration.settings.pingInterval = .seconds(20)
configuration.answer = { @Sendable request in
    request.path == "/" ? .http(HTTPResponse(status: 200, text: "a chat; each path is a room\n")) : .upgrade()
}
let chat = ChatRoom()
let listener = WebSocketListener(engine: engine, delegate: chat, configuration: configuration)
try listener.listen(on: Endpoint.parse(CommandLine.arguments.dropFirst().first ?? "127.0.0.1:7001"))
dispatchMain()
