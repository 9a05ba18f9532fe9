import SocketCore

/// How a WebSocket is set up. A change takes effect at the next connect or listen; accepted ones take over their
/// listener's.
public struct WebSocketConfiguration: Sendable {
    /// The stream socket beneath it. `allowsHalfOpen` is set by itself: the closing handshake needs it.
    public var socket = SocketConfiguration()
    /// How it behaves once it is open: limits, keepalive, the closing handshake's timeout, watermarks, and whether
    /// messages come whole or in chunks.
    public var settings = WebSocketSettings()
    /// How messages may be compressed (RFC 7692); it is agreed on where both sides want it. nil: never.
    public var compression: PerMessageDeflateParameters? = PerMessageDeflateParameters()
    /// How long it may take until it is open: of a client from `connect` on, name resolution, proxy and TLS included, of
    /// a server from the accepted connection on. nil: for ever, which lets a silent peer hold a descriptor for ever.
    public var openTimeout: Duration? = .seconds(10)
    /// The longest head of a request or an answer, in bytes.
    public var headLimit = 16_384

    // MARK: Of a client

    /// What is asked for beside the URL.
    public var opening = WebSocketOpening()
    /// TLS for `wss`; nil: the system's authorities, and the host's name checked. ALPN offers `http/1.1` alone, since
    /// the handshake is HTTP/1.1's.
    public var tls: TLSSettings?
    /// The HTTP proxy to go through (RFC 9110, 9.3.6: CONNECT); nil: none. No environment variable is looked at.
    public var proxy: WebSocketProxy?

    // MARK: Of a server

    /// Subprotocols that are spoken here. The first that the client offers and that is one of them is chosen; a client
    /// that offers none of them gets none.
    public var subprotocols: [String] = []
    /// Pages that may connect, as browsers name them in `Origin` (`https://example.org`); others get status 403. Requests
    /// without an `Origin`, which are not a browser's, pass. nil: all may. Browsers do not keep pages of other sites from
    /// connecting, so a server that trusts cookies has to (RFC 6455, 10.2).
    public var allowedOrigins: Set<String>?
    /// Called for every request that came whole, on the engine's queue, on which it must not block: it may answer with
    /// plain HTTP, be it a refusal or a page for a health check, or let the upgrade go on with fields of its own. nil:
    /// every request must be for a WebSocket.
    public var answer: (@Sendable (WebSocketRequest) -> WebSocketAnswer)?

    /// The defaults above.
    public init() {}
}

/// What becomes of a request that came to a WebSocket server.
public enum WebSocketAnswer: Sendable {
    /// The handshake goes on, if the request is one for a WebSocket; its answer has these fields too, such as
    /// `Set-Cookie`. A field that the handshake writes itself turns the answer into status 500.
    case upgrade(fields: [HTTPField] = [])
    /// This is answered, and the connection closes.
    case http(HTTPResponse)
}

/// An HTTP proxy that gives tunnels.
public struct WebSocketProxy: Hashable, Sendable {
    /// Its name or address.
    public var host: String
    /// Its port.
    public var port: UInt16
    /// Who is to be logged in when it answers 407; told once, and only for the Basic scheme.
    public var credentials: HTTPCredentials?

    /// Names a proxy.
    public init(host: String, port: UInt16, credentials: HTTPCredentials? = nil) {
        self.host = host
        self.port = port
        self.credentials = credentials
    }
}

extension WebSocketConfiguration {
    /// Why these settings can never work; nil when they can.
    var fault: String? {
        if let openTimeout, openTimeout <= .zero {
            return "openTimeout \(openTimeout): must be more than zero; nil means none"
        }
        if headLimit < 256 { return "headLimit \(headLimit): must be at least 256 bytes" }
        if let fault = proxy?.credentials?.fault { return "proxy: \(fault)" }
        if let tls, tls.applicationProtocols.contains(where: { $0 != "http/1.1" }) {
            return "tls.applicationProtocols: a WebSocket's handshake is HTTP/1.1's; leave it empty"
        }
        return opening.fault
    }

    /// The settings of the stream socket beneath.
    var stream: SocketConfiguration {
        var stream = socket
        stream.allowsHalfOpen = true
        return stream
    }
}
