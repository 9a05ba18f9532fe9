import SocketCore

/// The settings of a WebSocket. A change takes effect at the next connect, or as `WebSocketListener.configuration`
/// says. Accepted WebSockets inherit those of their listener.
public struct WebSocketConfiguration: Sendable {
    /// The settings of the underlying stream socket. `allowsHalfOpen` is set automatically, for the closing handshake.
    public var socket = SocketConfiguration()
    /// The settings of the open WebSocket: limits, keepalive, the closing handshake's timeout, watermarks, and whether
    /// messages are delivered whole or in chunks.
    public var settings = WebSocketSettings()
    /// The message compression (RFC 7692) to use if both sides want it, or `nil` for none.
    public var compression: PerMessageDeflateParameters? = PerMessageDeflateParameters()
    /// How long opening can take: for a client from `connect` on, including name resolution, proxy and TLS, and for a
    /// server from the accepted connection on. `nil` means no limit, which lets a silent peer hold a descriptor
    /// forever.
    public var openTimeout: Duration? = .seconds(10)
    /// The longest head of a request or a response, in bytes.
    public var headLimit = 16_384

    // MARK: Client

    /// The parts of the request other than the URL.
    public var opening = WebSocketOpening()
    /// The TLS settings for `wss`, or `nil` for the system's authorities with the host's name checked. ALPN offers only
    /// `http/1.1`, because the handshake is HTTP/1.1.
    public var tls: TLSSettings?
    /// The HTTP proxy to connect through (RFC 9110, 9.3.6: CONNECT), or `nil` for none. Environment variables aren't
    /// read.
    public var proxy: WebSocketProxy?

    // MARK: Server

    /// The supported subprotocols. The first one the client offers that is among them is chosen. A client that offers
    /// none of them gets none.
    public var subprotocols: [String] = []
    /// The origins that can connect, as browsers send them in `Origin` (`https://example.org`), or `nil` for all.
    /// Others get status 403. Requests without an `Origin`, which aren't a browser's, pass. Browsers don't stop pages
    /// of other sites from connecting, so a server that trusts cookies must (RFC 6455, 10.2).
    public var allowedOrigins: Set<String>?
    /// Called for every complete request on the engine's queue, where it must not block. It can answer with plain HTTP,
    /// such as a refusal or a page for a health check, or let the upgrade continue with extra fields. If `nil`, every
    /// request must be for a WebSocket.
    public var answer: (@Sendable (WebSocketRequest) -> WebSocketAnswer)?

    /// Creates the default configuration.
    public init() {}
}

/// The answer to a request that a WebSocket server received.
public enum WebSocketAnswer: Sendable {
    /// Continues the handshake if the request is for a WebSocket, and adds these fields to the response, such as
    /// `Set-Cookie`. A field that the handshake writes itself turns the response into status 500.
    case upgrade(fields: [HTTPField] = [])
    /// Sends this response and closes the connection.
    case http(HTTPResponse)
}

/// An HTTP proxy that supports tunnels.
public struct WebSocketProxy: Hashable, Sendable {
    /// The proxy's name or address.
    public var host: String
    /// The proxy's port.
    public var port: UInt16
    /// The login to send if the proxy answers 407. It is sent once, and only for the Basic scheme.
    public var credentials: HTTPCredentials?

    /// Creates a proxy.
    public init(host: String, port: UInt16, credentials: HTTPCredentials? = nil) {
        self.host = host
        self.port = port
        self.credentials = credentials
    }
}

extension WebSocketConfiguration {
    /// The problem that makes these settings unusable, or `nil` if there is none.
    var fault: String? {
        if let openTimeout, openTimeout <= .zero {
            return "openTimeout \(openTimeout): must be more than zero; nil means none"
        }
        if headLimit < 256 { return "headLimit \(headLimit): must be at least 256 bytes" }
        if let fault = proxy?.credentials?.fault { return "proxy: \(fault)" }
        if let tls, tls.applicationProtocols.contains(where: { $0 != "http/1.1" }) {
            return "tls.applicationProtocols: a WebSocket's handshake uses HTTP/1.1; leave it empty"
        }
        return opening.fault
    }

    /// The settings of the underlying stream socket.
    var stream: SocketConfiguration {
        var stream = socket
        stream.allowsHalfOpen = true
        return stream
    }
}
