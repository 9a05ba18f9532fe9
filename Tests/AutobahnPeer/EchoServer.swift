import SocketKit

/// What the suite wants of a server: it sends back every message, by delegates.
final class EchoServer: WebSocketDelegate, WebSocketListenerDelegate {
    private let listener: WebSocketListener

    init(engine: SocketEngine, tls: TLSSettings?) throws(SocketError) {
        listener = WebSocketListener(engine: engine)
        listener.delegate = self
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0), tls: tls)
    }

    var port: UInt16 { listener.localAddress?.port ?? 0 }

    func listener(
        _ listener: WebSocketListener, didAccept webSocket: WebSocket, agreement: WebSocketAgreement
    ) {
        webSocket.delegate = self
        // It keeps itself until its end.
        webSocket.userData = webSocket
    }

    func webSocket(_ webSocket: WebSocket, didReceive message: WebSocketMessage) { webSocket.write(message) }

    func webSocket(_ webSocket: WebSocket, didClose report: WebSocketCloseReport?, error: SocketError?) {
        webSocket.userData = nil
    }
}
