import SocketCore

/// What a person can open: a stream, a WebSocket, or a socket for datagrams.
package enum OpenTarget: Hashable, Sendable {
    /// A stream; whether TLS comes first.
    case stream(Endpoint, isSecure: Bool = false)
    /// A WebSocket. For a listener, the host may be empty, and the resource is what clients must ask for; `/`: anything.
    case webSocket(WebSocketURL)
    /// Datagrams. For a multicast group, the interface to join or to send on, by its name or one of its addresses;
    /// `nil`: the system's choice.
    case datagrams(Endpoint, interface: String? = nil)

    /// Where it goes, or listens.
    package var endpoint: Endpoint {
        switch self {
        case .stream(let endpoint, _), .datagrams(let endpoint, _): endpoint
        case .webSocket(let url): url.endpoint
        }
    }

    /// Whether TLS comes first.
    package var isSecure: Bool {
        switch self {
        case .stream(_, let isSecure): isSecure
        case .webSocket(let url): url.isSecure
        case .datagrams: false
        }
    }

    /// The target of its session, which says in a place of its own whether TLS comes first.
    package var sessionTarget: String {
        if case .stream(let endpoint, _) = self { endpoint.description } else { description }
    }

    /// The forms in which an address is written, for help and hints.
    package static let forms = "host:port, [::1]:port, :port, unix:/path, unix:@name, udp://host:port, ws://host/path"
}

extension OpenTarget: CustomStringConvertible {
    /// In the form that `parse` reads.
    package var description: String {
        switch self {
        case .stream(let endpoint, let isSecure): (isSecure ? Scheme.tls.rawValue : "") + endpoint.description
        case .webSocket(let url): url.description
        case .datagrams(let endpoint, let interface):
            endpoint.datagramText + (interface.map { "?interface=\($0)" } ?? "")
        }
    }
}

extension OpenTarget {
    /// How an address can begin, beside `tcp://` and `unix:`, and what is opened then.
    package enum Scheme: String, CaseIterable {
        case tls = "tls://"
        case ws = "ws://"
        case wss = "wss://"
        case wsUnix = "ws+unix:"
        case wssUnix = "wss+unix:"
        case udp = "udp://"
        case unixgram = "unixgram:"

        /// The scheme that a text begins with, letters of either case, be what follows right or wrong; `nil`: none of these.
        package init?(of text: String) {
            let lowered = text.lowercased()
            guard let scheme = Self.allCases.first(where: { lowered.hasPrefix($0.rawValue) }) else { return nil }
            self = scheme
        }

        /// Whether messages pass rather than a stream of bytes.
        package var hasMessages: Bool { self != .tls }

        /// Whether TLS comes first.
        package var isSecure: Bool { self == .tls || rawValue.hasPrefix("wss") }

        /// Whether a WebSocket is meant.
        package var isWebSocket: Bool { rawValue.hasPrefix("ws") }

        /// What follows it.
        package func rest(of text: String) -> String { String(text.dropFirst(rawValue.count)) }
    }
}
