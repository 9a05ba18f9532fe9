import SocketCore

/// What a person can open: a stream, a WebSocket, or a socket for datagrams.
package enum OpenTarget: Hashable, Sendable, CustomStringConvertible {
    case stream(Endpoint)
    case datagram(DatagramTarget)
    case webSocket(WebSocketTarget)

    /// In the form that `parse` reads.
    package var description: String {
        switch self {
        case .stream(let endpoint): endpoint.description
        case .datagram(let target): target.description
        case .webSocket(let target): target.description
        }
    }

    /// Where a stream goes, be it a WebSocket's too; nil for datagrams.
    package var endpoint: Endpoint? {
        switch self {
        case .stream(let endpoint): endpoint
        case .webSocket(let target): target.endpoint
        case .datagram: nil
        }
    }

    /// Whether the address itself says that TLS comes first.
    package var isSecure: Bool { if case .webSocket(let target) = self { target.isSecure } else { false } }

    /// Reads what `Endpoint.parse` and `DatagramTarget.parse` read.
    package static func parse(_ text: String, allowsPortZero: Bool = false) throws(EndpointError) -> OpenTarget {
        if DatagramTarget.isMeant(by: text) {
            return .datagram(try DatagramTarget.parse(text, allowsPortZero: allowsPortZero))
        }
        if WebSocketTarget.isMeant(by: text) {
            return .webSocket(try WebSocketTarget.parse(text, listens: allowsPortZero))
        }
        do throws(EndpointError) {
            let endpoint = try Endpoint.parse(text, allowsPortZero: allowsPortZero)
            return .stream(allowsPortZero ? endpoint : endpoint.toConnect)
        } catch {
            throw error.naming("tls://", "ws://", "wss://", "ws+unix:", "wss+unix:", "udp://", "unixgram:")
        }
    }

    /// The forms in which an address is written, for help and hints.
    package static let forms = "host:port, [::1]:port, :port, unix:/path, unix:@name, udp://host:port, ws://host/path"
}

extension Endpoint {
    /// The endpoint with this host in place of an empty one, which only a listener can use.
    package var toConnect: Endpoint {
        guard case .tcp("", let port) = self else { return self }
        return .tcp(host: "localhost", port: port)
    }
}
