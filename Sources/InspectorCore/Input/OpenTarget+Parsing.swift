import SocketCore

/// The text forms of what can be opened.
extension OpenTarget {
    /// Parses what `Endpoint.parse` accepts, with an optional scheme. A listener may omit the host, and request any
    /// free port.
    /// - Throws: an `EndpointError` that names the text and says what would be right.
    package static func parse(_ text: String, listens: Bool = false) throws(EndpointError) -> OpenTarget {
        switch Scheme(of: text) {
        case .udp: try udp(text, listens: listens)
        case .unixgram: try unixgram(text)
        case .ws, .wss, .wsUnix, .wssUnix:
            .webSocket(try listens ? webSocketListener(text) : WebSocketURL.parse(text))
        case .tls, nil: try stream(text, Scheme.allCases, listens: listens)
        }
    }

    /// Parses an address of a stream, with or without TLS.
    package static func parseStream(_ text: String, listens: Bool) throws(EndpointError) -> OpenTarget {
        try stream(text, [.tls], listens: listens)
    }

    private static func stream(
        _ text: String, _ known: [Scheme], listens: Bool
    ) throws(EndpointError) -> OpenTarget {
        let isSecure = Scheme(of: text) == .tls
        let rest = isSecure ? Scheme.tls.rest(of: text) : text
        if isSecure, Scheme(of: rest)?.hasMessages == true {
            throw EndpointError(text: text, problem: "TLS needs a stream, as in tls://host:port")
        }
        do throws(EndpointError) {
            let endpoint = try endpoint(rest, of: text, allowsPortZero: listens)
            return .stream(listens ? endpoint : endpoint.toSend, isSecure: isSecure)
        } catch {
            throw error.naming(known.map(\.rawValue))
        }
    }

    /// Parses an endpoint that is a part of `text`. Errors name the whole text.
    private static func endpoint(
        _ part: String, of text: String, allowsPortZero: Bool
    ) throws(EndpointError) -> Endpoint {
        do throws(EndpointError) {
            return try Endpoint.parse(part, allowsPortZero: allowsPortZero)
        } catch {
            // Without a scheme, an error's text differs only in its escaped control characters.
            throw EndpointError(text: part == text ? error.text : PrintableText.escaped(text), problem: error.problem)
        }
    }

    // MARK: Datagrams

    private static func unixgram(_ text: String) throws(EndpointError) -> OpenTarget {
        let rest = Scheme.unixgram.rest(of: text)
        if rest.hasPrefix("//") { throw EndpointError(text: text, problem: "write unixgram:/path or unixgram:@name") }
        return .datagrams(try endpoint("unix:\(rest)", of: text, allowsPortZero: false))
    }

    /// Parses `udp://host:port`, `udp://:port` or `udp://group:port?interface=name`.
    private static func udp(_ text: String, listens: Bool) throws(EndpointError) -> OpenTarget {
        func refuse(_ problem: String) -> EndpointError { EndpointError(text: text, problem: problem) }
        let parts = Scheme.udp.rest(of: text).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let address = String(parts.first ?? "")
        if address.contains("/") || address.lowercased().hasPrefix("unix:") {
            throw refuse("host:port must follow udp://")
        }
        if address.isEmpty { throw refuse("host:port must follow udp://, as in udp://127.0.0.1:53") }
        let endpoint = try endpoint(address, of: text, allowsPortZero: listens)
        guard parts.count == 2 else { return .datagrams(endpoint) }
        guard parts[1].hasPrefix("interface="), parts[1].count > 10, !parts[1].contains("&") else {
            throw refuse("only interface=NAME can follow the ?, as in ?interface=lo")
        }
        guard endpoint.isMulticast else {
            throw refuse("interface= needs a multicast group (224.0.0.0 to 239.255.255.255, or ff00::/8)")
        }
        return .datagrams(endpoint, interface: String(parts[1].dropFirst(10)))
    }

    // MARK: WebSockets

    /// Parses `ws://:port/path`, whose host may be missing, and everything that `WebSocketURL.parse` accepts.
    private static func webSocketListener(_ text: String) throws(EndpointError) -> WebSocketURL {
        guard let scheme = Scheme(of: text), scheme == .ws || scheme == .wss else {
            return try WebSocketURL.parse(text)
        }
        let rest = scheme.rest(of: text)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let endpoint = try endpoint(String(rest[..<end]), of: text, allowsPortZero: true)
        // A wildcard host is not valid in a URL.
        var url = try WebSocketURL.parse("ws://localhost\(rest[end...])")
        (url.isSecure, url.endpoint, url.authority) = (scheme.isSecure, endpoint, endpoint.bare)
        return url
    }
}
