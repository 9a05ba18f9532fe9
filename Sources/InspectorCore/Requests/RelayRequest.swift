import SocketCore
import SocketWorkshop

/// A relay that the user requested: where to listen, and the target of each connection.
package struct RelayRequest: Equatable, Sendable {
    /// The target of a connection.
    package enum Target: Equatable, Sendable {
        /// A fixed address.
        case endpoint(Endpoint)
        /// The address that its client requests from the proxy.
        case proxy(ProxyKind)
    }

    package var listen: Endpoint
    package var target: Target
    /// The time limit for connecting to a target, or `nil` for the system's.
    package var timeout: Duration?
    /// TLS with the clients, or `nil` for none.
    package var listenTLS: TLSSettings?
    /// TLS with the target, or `nil` for none.
    package var targetTLS: TLSSettings?
    /// Whether datagrams are relayed instead of streams.
    package var isDatagrams = false

    package init(listen: Endpoint, target: Target, timeout: Duration? = nil) {
        self.listen = listen
        self.target = target
        self.timeout = timeout
    }

    /// The name in the list: `relay to host:80`, `SOCKS 5 proxy`. It says so if a proxy requests client certificates.
    package var name: String {
        switch target {
        case .endpoint: "relay to \(targetAddress)"
        case .proxy(let kind):
            kind.listenerName + (listenTLS?.clientCertificate == .required ? " (client certificates)" : "")
        }
    }

    /// The request as typed: `relay :9000 host:80`.
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
    /// Parses the listening address and the target. Each may start with `tls://`, for which `choices` has the options.
    package static func parse(
        _ listen: String, to target: String, _ choices: TLSChoices
    ) throws(EndpointError) -> RelayRequest {
        if OpenTarget.Scheme(of: listen) == .udp { return try parseDatagrams(listen, to: target, choices) }
        if OpenTarget.Scheme(of: target) == .udp {
            throw EndpointError(
                text: target, problem: "to relay datagrams, listen on udp://, as in udp://:5353 \(target)")
        }
        let target = try OpenTarget.parseStream(target, listens: false)
        return try parse(listen, .endpoint(target.endpoint), choices, securesTarget: target.isSecure)
    }

    /// Parses the address to receive datagrams on and the target, with or without `udp://`.
    private static func parseDatagrams(
        _ listen: String, to target: String, _ choices: TLSChoices
    ) throws(EndpointError) -> RelayRequest {
        let hasScheme = OpenTarget.Scheme(of: target) != nil
        let parsed = try OpenTarget.parse(hasScheme ? target : OpenTarget.Scheme.udp.rawValue + target)
        guard case .datagrams(let listener, nil) = try OpenTarget.parse(listen, listens: true), !listener.isMulticast
        else { throw EndpointError(text: listen, problem: "a relay listens on a port of this host, as in udp://:5353") }
        guard case .datagrams(let endpoint, nil) = parsed, endpoint.host != nil, !endpoint.isMulticast else {
            throw EndpointError(
                text: target, problem: "datagrams need a host:port target, as in udp://:5353 127.0.0.1:53")
        }
        guard choices.isEmpty else {
            throw EndpointError(text: listen, problem: "TLS options need tls://, and a stream")
        }
        var request = RelayRequest(listen: listener, target: .endpoint(endpoint.toSend))
        request.isDatagrams = true
        return request
    }

    /// Parses a proxy's listening address, which may start with `tls://` too.
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
            throw EndpointError(text: listen, problem: "TLS options need tls://, here or at the target")
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
