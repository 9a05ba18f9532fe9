import SocketCore

/// A WebSocket as a person asks for it: a URL to connect to, or the same with a host that may be missing to listen at.
package enum WebSocketTarget: Hashable, Sendable {
    case client(WebSocketURL)
    /// `resource`: what clients must ask for; `/`: anything.
    case server(Endpoint, resource: String, isSecure: Bool)

    /// Whether such an address is meant, be it right or wrong.
    package static func isMeant(by text: String) -> Bool {
        let lowered = text.lowercased()
        return ["ws://", "wss://", "ws+unix:", "wss+unix:"].contains { lowered.hasPrefix($0) }
    }

    /// Whether TLS comes first.
    package var isSecure: Bool {
        switch self {
        case .client(let url): url.isSecure
        case .server(_, _, let isSecure): isSecure
        }
    }

    /// What is connected to, or listened at.
    package var endpoint: Endpoint {
        switch self {
        case .client(let url): url.endpoint
        case .server(let endpoint, _, _): endpoint
        }
    }

    /// Reads `ws://host:port/path`, or, to listen, `ws://:port/path` too.
    package static func parse(_ text: String, listens: Bool) throws(EndpointError) -> WebSocketTarget {
        guard listens else { return .client(try WebSocketURL.parse(text)) }
        let lowered = text.lowercased()
        let isSecure = lowered.hasPrefix("wss")
        guard !lowered.hasPrefix("ws+unix:"), !lowered.hasPrefix("wss+unix:") else {
            let url = try WebSocketURL.parse(text)
            return .server(url.endpoint, resource: url.resource, isSecure: isSecure)
        }
        let rest = text.dropFirst(isSecure ? 6 : 5)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let endpoint: Endpoint
        do throws(EndpointError) {
            endpoint = try Endpoint.parse(String(rest[..<end]), allowsPortZero: true)
        } catch {
            throw EndpointError(text: text, problem: error.problem)
        }
        // What may stand for every host here is no host in a URL.
        let resource = try WebSocketURL.parse("ws://localhost\(rest[end...])").resource
        return .server(endpoint, resource: resource, isSecure: isSecure)
    }
}

extension WebSocketTarget: CustomStringConvertible {
    /// In the form that `parse` reads.
    package var description: String {
        switch self {
        case .client(let url): return url.description
        case .server(let endpoint, let resource, let isSecure):
            let scheme = isSecure ? "wss" : "ws"
            return switch endpoint {
            case .tcp: "\(scheme)://\(endpoint)\(resource)"
            case .unix(let path): "\(scheme)+unix:\(path):\(resource)"
            case .abstract(let name): "\(scheme)+unix:@\(name):\(resource)"
            }
        }
    }
}

/// What a person says about a WebSocket beside its address.
package struct WebSocketChoices: Hashable, Sendable {
    /// Protocols to offer, or to choose from, the best first.
    package var subprotocols: [String] = []
    /// Fields to add to a client's request.
    package var fields: [HTTPField] = []
    /// Whether messages may be compressed.
    package var compresses = true

    package init() {}

    /// Whether nothing was said.
    package var isEmpty: Bool { self == WebSocketChoices() }
}
