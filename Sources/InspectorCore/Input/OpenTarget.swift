import SocketCore

/// What a user can open: a stream, a WebSocket or a datagram socket.
package enum OpenTarget: Equatable, Sendable {
    /// A stream, with or without TLS.
    case stream(Endpoint, isSecure: Bool = false)
    /// A WebSocket. For a listener, the host may be empty, and clients must request this resource. `/` allows any.
    case webSocket(WebSocketURL)
    /// Datagrams. For a multicast group, the interface to join or to send on, by its name or one of its addresses, or
    /// `nil` for the system's choice.
    case datagrams(Endpoint, interface: String? = nil)

    /// The address that it connects to, or listens on.
    package var endpoint: Endpoint {
        switch self {
        case .stream(let endpoint, _), .datagrams(let endpoint, _): endpoint
        case .webSocket(let url): url.endpoint
        }
    }

    /// Whether it starts with TLS.
    package var isSecure: Bool {
        switch self {
        case .stream(_, let isSecure): isSecure
        case .webSocket(let url): url.isSecure
        case .datagrams: false
        }
    }

    /// The target shown for its session, which shows separately whether it starts with TLS.
    package var sessionTarget: String {
        if case .stream(let endpoint, _) = self { endpoint.description } else { description }
    }

    /// The forms of an address, for help and hints.
    package static let forms = "host:port, [::1]:port, :port, unix:/path, unix:@name, udp://host:port, ws://host/path"
}

extension OpenTarget: CustomStringConvertible {
    /// The target in the form that `parse` reads.
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
    /// The schemes of an address, in addition to `tcp://` and `unix:`, and what they open.
    package enum Scheme: String, CaseIterable {
        case tls = "tls://"
        case ws = "ws://"
        case wss = "wss://"
        case wsUnix = "ws+unix:"
        case wssUnix = "wss+unix:"
        case udp = "udp://"
        case unixgram = "unixgram:"

        /// Returns the scheme at the start of a text, ignoring case and the validity of the rest, or `nil` if there is
        /// none.
        package init?(of text: String) {
            let lowered = text.lowercased()
            guard let scheme = Self.allCases.first(where: { lowered.hasPrefix($0.rawValue) }) else { return nil }
            self = scheme
        }

        /// Whether it exchanges messages instead of a stream of bytes.
        package var hasMessages: Bool { self != .tls }

        /// Whether it starts with TLS.
        package var isSecure: Bool { self == .tls || rawValue.hasPrefix("wss") }

        /// Whether it is a WebSocket.
        package var isWebSocket: Bool { rawValue.hasPrefix("ws") }

        /// Returns the text after the scheme.
        package func rest(of text: String) -> String { String(text.dropFirst(rawValue.count)) }
    }
}
