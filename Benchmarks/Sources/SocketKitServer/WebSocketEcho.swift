import SocketKit

/// Sends back every message, by delegates on the engine's queue. Without compression.
final class WebSocketEcho: WebSocketListenerDelegate, WebSocketDelegate {
    private let listener: WebSocketListener
    /// Messages pass part by part, awaited.
    private let streams: Bool

    init(engine: SocketEngine, streams: Bool) {
        self.streams = streams
        var configuration = WebSocketConfiguration()
        configuration.compression = nil
        configuration.socket.options.backlog = 4_096
        configuration.socket.options.noDelay = true
        if streams {
            configuration.settings.delivery = .chunks
            configuration.settings.watermarks = Watermarks(low: 0, high: 64 << 10)
        }
        listener = WebSocketListener(engine: engine, configuration: configuration)
    }

    /// Listens on loopback; the port.
    func start(port: UInt16) throws(SocketError) -> UInt16 {
        listener.delegate = self
        try listener.listen(on: .tcp(host: "127.0.0.1", port: port))
        return listener.localAddress?.port ?? 0
    }

    func listener(
        _ listener: WebSocketListener, didAccept webSocket: WebSocket, agreement: WebSocketAgreement
    ) {
        if streams {
            Task { try await Self.stream(webSocket) }
            return
        }
        webSocket.delegate = self
        // It keeps itself until its end.
        webSocket.userData = webSocket
    }

    private static func stream(_ webSocket: WebSocket) async throws(SocketError) {
        var stream: WebSocketStream?
        for try await chunk in webSocket.chunks {
            let present = stream ?? webSocket.stream(chunk.type)
            stream = chunk.isFinal ? nil : present
            if chunk.isFinal { present.finish(chunk.bytes) } else { try await present.send(chunk.bytes) }
        }
    }

    func webSocket(_ webSocket: WebSocket, didReceive message: WebSocketMessage) {
        webSocket.write(message)
    }

    func webSocket(_ webSocket: WebSocket, didClose report: WebSocketCloseReport?, error: SocketError?) {
        webSocket.userData = nil
    }
}
