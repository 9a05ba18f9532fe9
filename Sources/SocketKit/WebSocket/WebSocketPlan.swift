import SocketCore

/// A client's validated URL and configuration.
struct WebSocketPlan: Sendable {
    var url: WebSocketURL
    var configuration: WebSocketConfiguration
    /// The TLS context, or `nil` without TLS.
    var tls: TLSContext?

    /// Throws `badParameter` if a setting is invalid, with a sentence that names it. Reads files.
    init(_ url: WebSocketURL, _ configuration: WebSocketConfiguration) throws(SocketError) {
        self.url = url
        self.configuration = configuration
        if let fault = url.fault ?? configuration.fault { throw .refused("connect", fault) }
        if configuration.proxy != nil, url.host == nil {
            throw .refused("connect", "proxy: does not reach a Unix-domain socket")
        }
        guard url.isSecure else { return }
        var settings = configuration.tls ?? .client()
        guard settings.role == .client else { throw .refused("connect", "tls.role: must be client") }
        settings.serverName = settings.serverName ?? url.host
        settings.applicationProtocols = ["http/1.1"]
        let context = try TLSContexts.context(for: settings)
        _ = try TLSLayer.make(context, host: nil, address: url.description)
        tls = context
    }

    /// The endpoint to connect to.
    var endpoint: Endpoint {
        configuration.proxy.map { .host($0.host, port: $0.port) } ?? url.endpoint
    }

    /// The handshake with the proxy, or `nil` without one.
    var tunnel: TunnelHandshake? {
        guard let proxy = configuration.proxy, case .host(let host, let port) = url.endpoint else { return nil }
        return TunnelHandshake(
            host: host, port: port, credentials: proxy.credentials, headLimit: configuration.headLimit)
    }

    /// A new handshake with a random key.
    var handshake: ClientHandshake {
        let key = Base64.text(Digests.random(16))
        return ClientHandshake(
            url, configuration.opening, key: key, expectedAccept: Digests.webSocketAccept(for: key),
            headLimit: configuration.headLimit, compression: configuration.compression)
    }
}
