import InspectorCore
import SocketKit

/// Opens WebSockets for the user, and retains their handles until they close.
package final class WebSocketKeeper: WebSocketDelegate, WebSocketListenerDelegate, Sendable {
    private struct Kept {
        var sockets: [ObjectIdentifier: WebSocket] = [:]
        /// The session of each handle. A handle forgets its own before it reports its end.
        var names: [ObjectIdentifier: SocketID] = [:]
        var listeners: [ObjectIdentifier: WebSocketListener] = [:]
    }

    private let kept = Lock(Kept())
    private let received: ReceivedBytes?

    package init(_ received: ReceivedBytes? = nil) { self.received = received }

    /// Connects. Call it on the engine's queue. `settings` configures TLS for `wss`.
    package func connect(
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

    /// Listens. Call it on the engine's queue. Requests for a path other than `resource` get status 404, unless it is
    /// `/`.
    package func listen(
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
        // The user may be stepping through the peer in a debugger. The engine still limits unfinished messages.
        configuration.settings.messageTimeout = nil
        if !request.webSocket.compresses { configuration.compression = nil }
        return configuration
    }

    /// Returns the WebSocket of that session, or `nil` if there is none or it has ended.
    package func webSocket(_ id: SocketID) -> WebSocket? {
        kept.withLock { Array($0.sockets.values) }.first { $0.session == id }
    }

    package func stopListeners() {
        for listener in kept.withLock({ Array($0.listeners.values) }) { listener.stop() }
    }

    private func keep(_ socket: WebSocket) {
        kept.withLock {
            $0.sockets[ObjectIdentifier(socket)] = socket
            $0.names[ObjectIdentifier(socket)] = socket.session
        }
    }

    package func listener(_ listener: WebSocketListener, didAccept webSocket: WebSocket, agreement: WebSocketAgreement)
    {
        webSocket.delegate = self
        keep(webSocket)
    }

    package func listener(_ listener: WebSocketListener, didStop error: SocketError?) {
        _ = kept.withLock { $0.listeners.removeValue(forKey: ObjectIdentifier(listener)) }
    }

    package func webSocket(_ webSocket: WebSocket, didReceive trust: TLSTrust) -> TrustVerdict { .later }

    package func webSocket(_ webSocket: WebSocket, didReceive message: WebSocketMessage) {
        guard let received else { return }
        if let id = kept.withLock({ $0.names[ObjectIdentifier(webSocket)] }) { received.add(message.bytes, from: id) }
    }

    package func webSocket(_ webSocket: WebSocket, didClose report: WebSocketCloseReport?, error: SocketError?) {
        kept.withLock {
            $0.sockets[ObjectIdentifier(webSocket)] = nil
            $0.names[ObjectIdentifier(webSocket)] = nil
        }
    }
}
