import InspectorCore
import SocketKit

/// The WebSockets of this program.
extension EngineSource {
    package func send(_ message: WebSocketMessage, to id: SocketID) async throws(SocketError) {
        try await webSocket(id).send(message)
    }

    package func stream(to id: SocketID) async throws(SocketError) -> WebSocketStream {
        try webSocket(id).stream(.binary)
    }

    private func webSocket(_ id: SocketID) throws(SocketError) -> WebSocket {
        if let webSocket = webSockets.webSocket(id) { return webSocket }
        throw SocketError(.notConnected, operation: "send", detail: "the WebSocket is closed")
    }

    /// Connects. Call it on the engine's queue.
    package func connect(_ request: OpenRequest, _ url: WebSocketURL) throws(SocketError) -> SocketID? {
        let settings = url.isSecure ? request.tls ?? TLSChoices().client(hasName: url.host != nil) : nil
        return try webSockets.connect(request, url, on: engine, tls: settings.map(judged))
    }

    /// Listens. Call it on the engine's queue.
    package func listen(_ request: OpenRequest, _ url: WebSocketURL) throws(SocketError) -> SocketID? {
        if url.isSecure, request.tls == nil {
            throw SocketError(.badParameter, operation: "listen", detail: "a TLS server needs a certificate")
        }
        return try webSockets.listen(request, on: url.endpoint, resource: url.resource, engine: engine)
    }
}
