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
    /// TLS with those who connect; nil: none.
    package var listenTLS: TLSSettings?
    /// TLS with the target; nil: none.
    package var targetTLS: TLSSettings?
    /// Whether datagrams are relayed, and not streams.
    package var isDatagrams = false

    package init(listen: Endpoint, target: Target, timeout: Duration? = nil) {
        self.listen = listen
        self.target = target
        self.timeout = timeout
    }

    /// For the list: `relay to host:80`, `SOCKS 5 proxy`. A proxy that asks for client certificates says so.
    package var name: String {
        switch target {
        case .endpoint: "relay to \(targetAddress)"
        case .proxy(let kind):
            kind.listenerName + (listenTLS?.clientCertificate == .required ? " (client certificates)" : "")
        }
    }

    /// As it is typed: `relay :9000 host:80`.
    package var text: String {
        switch target {
        case .endpoint: "relay \(listenAddress) \(targetAddress)"
        case .proxy(let kind): "relay --\(kind == .http ? "http-proxy" : "socks5") \(listenAddress)"
        }
    }

    private var listenAddress: String {
        isDatagrams
            ? OpenTarget.datagrams(listen).description
            : OpenTarget.stream(listen, isSecure: listenTLS != nil).description
    }

    private var targetAddress: String {
        guard case .endpoint(let endpoint) = target else { return "" }
        return isDatagrams
            ? OpenTarget.datagrams(endpoint).description
            : OpenTarget.stream(endpoint, isSecure: targetTLS != nil).description
    }
}

extension RelayRequest {
    /// Reads where to listen and where to go; each may begin with `tls://`, and `choices` say how then.
    package static func parse(
        _ listen: String, to target: String, _ choices: TLSChoices
    ) throws(EndpointError) -> RelayRequest {
        if OpenTarget.Scheme(of: listen) == .udp { return try parseDatagrams(listen, to: target, choices) }
        if OpenTarget.Scheme(of: target) == .udp {
            throw EndpointError(text: target, problem: "datagrams come from udp:// too, as in udp://:5353 \(target)")
        }
        let target = try OpenTarget.parseStream(target, listens: false)
        return try parse(listen, .endpoint(target.endpoint), choices, securesTarget: target.isSecure)
    }

    /// Reads where to receive datagrams and where to pass them on, with `udp://` before that or without.
    private static func parseDatagrams(
        _ listen: String, to target: String, _ choices: TLSChoices
    ) throws(EndpointError) -> RelayRequest {
        let hasScheme = OpenTarget.Scheme(of: target) != nil
        let parsed = try OpenTarget.parse(hasScheme ? target : OpenTarget.Scheme.udp.rawValue + target)
        guard case .datagrams(let listener, nil) = try OpenTarget.parse(listen, listens: true), !listener.isMulticast
        else { throw EndpointError(text: listen, problem: "a relay receives at a port of this host, as udp://:5353") }
        guard case .datagrams(let endpoint, nil) = parsed, endpoint.host != nil, !endpoint.isMulticast else {
            throw EndpointError(text: target, problem: "datagrams go on to host:port, as in udp://:5353 127.0.0.1:53")
        }
        guard choices.isEmpty else {
            throw EndpointError(text: listen, problem: "options of TLS go with tls://, and not with datagrams")
        }
        var request = RelayRequest(listen: listener, target: .endpoint(endpoint.toSend))
        request.isDatagrams = true
        return request
    }

    /// Reads where a proxy listens, which may begin with `tls://` too.
    package static func parse(
        _ listen: String, by kind: ProxyKind, _ choices: TLSChoices
    ) throws(EndpointError) -> RelayRequest {
        try parse(listen, .proxy(kind), choices, securesTarget: false)
    }

    private static func parse(
        _ listen: String, _ target: Target, _ choices: TLSChoices, securesTarget: Bool
    ) throws(EndpointError) -> RelayRequest {
        let listener = try OpenTarget.parseStream(listen, listens: true)
        var request = RelayRequest(listen: listener.endpoint, target: target)
        if !listener.isSecure, !securesTarget, !choices.isEmpty {
            throw EndpointError(text: listen, problem: "options of TLS go with tls://, here or at the target")
        }
        let (server, client) = choices.sides(listens: listener.isSecure, connects: securesTarget)
        if let client, case .endpoint(let endpoint) = target {
            request.targetTLS = client.client(hasName: endpoint.namesHost)
        }
        do throws(TLSChoices.Problem) {
            request.listenTLS = try server?.server()
        } catch {
            throw EndpointError(text: listen, problem: error.message)
        }
        return request
    }
}

extension ProxyKind {
    /// What the listener of a proxy for everybody is called.
    package var listenerName: String {
        switch self {
        case .socks5: "SOCKS 5 proxy"
        case .http: "HTTP proxy"
        }
    }
}
