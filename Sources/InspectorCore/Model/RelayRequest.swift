import SocketCore

/// A relay that a person asked for: where to listen, and where to go for each connection that comes.
package struct RelayRequest: Hashable, Sendable {
    /// Where a connection goes.
    package enum Target: Hashable, Sendable {
        /// There.
        case endpoint(Endpoint)
        /// Where its client asks to go.
        case proxy(ProxyKind)
    }

    package var listen: Endpoint
    package var target: Target
    /// How long the connect to a target may take; nil: as long as the system tries.
    package var timeout: Duration?

    package init(listen: Endpoint, target: Target, timeout: Duration? = nil) {
        self.listen = listen
        self.target = target
        self.timeout = timeout
    }

    /// For the list: `relay to host:80`, `SOCKS 5 proxy`.
    package var name: String {
        switch target {
        case .endpoint(let endpoint): "relay to \(endpoint)"
        case .proxy(.socks5): "SOCKS 5 proxy"
        case .proxy(.http): "HTTP proxy"
        }
    }

    /// As it is typed: `relay :9000 host:80`.
    package var text: String {
        switch target {
        case .endpoint(let endpoint): "relay \(listen) \(endpoint)"
        case .proxy(let kind): "relay --\(kind == .http ? "http-proxy" : "socks5") \(listen)"
        }
    }
}
