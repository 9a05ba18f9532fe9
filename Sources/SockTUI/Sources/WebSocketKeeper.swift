import InspectorCore
import SocketKit

/// Opens WebSockets for a person, and keeps their handles until they are closed.
final class WebSocketKeeper: WebSocketDelegate, WebSocketListenerDelegate, Sendable {
    private struct Kept {
        var sockets: [ObjectIdentifier: WebSocket] = [:]
        /// Who each of them is; their handles forget it before they tell of their end.
        var names: [ObjectIdentifier: SocketID] = [:]
        var listeners: [ObjectIdentifier: WebSocketListener] = [:]
    }

    private let kept = Lock(Kept())
    private let received: ReceivedBytes?

    init(_ received: ReceivedBytes? = nil) { self.received = received }

    /// Connects; on the engine's queue. `settings`: TLS of `wss`.
    func connect(
        _ request: OpenRequest, _ url: WebSocketURL, on engine: SocketEngine, tls settings: TLSSettings?
    ) throws(SocketError) -> SocketID? {
        var configuration = Self.configuration(request)
        configuration.tls = settings
        let socket = WebSocket(engine: engine, delegate: self, configuration: configuration)
        try socket.connect(to: url)
        keep(socket)
        let greeting = request.greeting
        if !greeting.isEmpty { socket.write(WebSocketMessage(WebSocketMessage.type(of: greeting), greeting)) }
        return socket.session
    }

    /// Listens; on the engine's queue. A request for another path than `resource` gets status 404, unless that is `/`.
    func listen(
        _ request: OpenRequest, on endpoint: Endpoint, resource: String, engine: SocketEngine
    ) throws(SocketError) -> SocketID? {
        var configuration = Self.configuration(request)
        if resource != "/" {
            configuration.answer = { @Sendable asked in
                let isThere = Self.path(asked.resource) == Self.path(resource)
                return isThere
                    ? .upgrade() : .http(HTTPResponse(status: 404, text: "there is nothing at this path\n"))
            }
        }
        let listener = WebSocketListener(engine: engine, delegate: self, configuration: configuration)
        try listener.listen(on: endpoint, tls: request.tls)
        kept.withLock { $0.listeners[ObjectIdentifier(listener)] = listener }
        return listener.session
    }

    private static func path(_ resource: String) -> Substring { resource.prefix { $0 != "?" } }

    private static func configuration(_ request: OpenRequest) -> WebSocketConfiguration {
        var configuration = WebSocketConfiguration()
        if let timeout = request.timeout { configuration.openTimeout = timeout }
        configuration.opening.subprotocols = request.webSocket.subprotocols
        configuration.opening.fields = request.webSocket.fields
        configuration.subprotocols = request.webSocket.subprotocols
        // The peer may be a program that somebody steps through. The engine's limit on unfinished messages still holds.
        configuration.settings.messageTimeout = nil
        if !request.webSocket.compresses { configuration.compression = nil }
        return configuration
    }

    /// The WebSocket of that session; nil: there is none, or it is over.
    func webSocket(_ id: SocketID) -> WebSocket? {
        kept.withLock { Array($0.sockets.values) }.first { $0.session == id }
    }

    func stopListeners() {
        for listener in kept.withLock({ Array($0.listeners.values) }) { listener.stop() }
    }

    private func keep(_ socket: WebSocket) {
        kept.withLock {
            $0.sockets[ObjectIdentifier(socket)] = socket
            $0.names[ObjectIdentifier(socket)] = socket.session
        }
    }

    func listener(_ listener: WebSocketListener, didAccept webSocket: WebSocket, agreement: WebSocketAgreement) {
        webSocket.delegate = self
        keep(webSocket)
    }

    func listener(_ listener: WebSocketListener, didStop error: SocketError?) {
        _ = kept.withLock { $0.listeners.removeValue(forKey: ObjectIdentifier(listener)) }
    }

    func webSocket(_ webSocket: WebSocket, didReceive trust: TLSTrust) -> TrustVerdict { .later }

    func webSocket(_ webSocket: WebSocket, didReceive message: WebSocketMessage) {
        guard let received else { return }
        if let id = kept.withLock({ $0.names[ObjectIdentifier(webSocket)] }) { received.add(message.bytes, from: id) }
    }

    func webSocket(_ webSocket: WebSocket, didClose report: WebSocketCloseReport?, error: SocketError?) {
        kept.withLock {
            $0.sockets[ObjectIdentifier(webSocket)] = nil
            $0.names[ObjectIdentifier(webSocket)] = nil
        }
    }
}
