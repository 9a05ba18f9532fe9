/// A WebSocket close code (RFC 6455, 7.4; IANA's registry of WebSocket close codes).
public struct WebSocketCloseCode: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: UInt16

    /// Creates a close code from any number, whether or not it can be sent or accepted.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// 1000: normal closure.
    public static let normal = WebSocketCloseCode(rawValue: 1000)
    /// 1001: the endpoint is going away, such as a server that stops or a page that is left.
    public static let goingAway = WebSocketCloseCode(rawValue: 1001)
    /// 1002: the peer broke the protocol.
    public static let protocolError = WebSocketCloseCode(rawValue: 1002)
    /// 1003: the endpoint doesn't accept this type of message.
    public static let unsupportedData = WebSocketCloseCode(rawValue: 1003)
    /// 1005: the Close frame had no code. Never on the wire.
    public static let noStatus = WebSocketCloseCode(rawValue: 1005)
    /// 1006: no Close frame arrived. Never on the wire.
    public static let abnormal = WebSocketCloseCode(rawValue: 1006)
    /// 1007: a message's bytes don't match its type, such as text that is not UTF-8.
    public static let invalidPayload = WebSocketCloseCode(rawValue: 1007)
    /// 1008: the message violates the endpoint's policy.
    public static let policyViolation = WebSocketCloseCode(rawValue: 1008)
    /// 1009: the message is longer than the endpoint accepts.
    public static let messageTooBig = WebSocketCloseCode(rawValue: 1009)
    /// 1010: the server did not agree to an extension that the client requires.
    public static let mandatoryExtension = WebSocketCloseCode(rawValue: 1010)
    /// 1011: the endpoint failed for an internal reason.
    public static let internalError = WebSocketCloseCode(rawValue: 1011)
    /// 1012: the service is restarting.
    public static let serviceRestart = WebSocketCloseCode(rawValue: 1012)
    /// 1013: try again later.
    public static let tryAgainLater = WebSocketCloseCode(rawValue: 1013)
    /// 1014: a gateway received an invalid response.
    public static let badGateway = WebSocketCloseCode(rawValue: 1014)
    /// 1015: TLS failed. Never on the wire.
    public static let tlsFailure = WebSocketCloseCode(rawValue: 1015)

    /// Whether a Close with this code is answered: 1000 to 1003, 1007 to 1014, 3000 to 4999. Any other code is a
    /// protocol error (7.4.2).
    public var isAcceptedFromPeer: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// Whether this code can be sent in a Close. These are the codes that a conforming peer accepts.
    public var isSendable: Bool { isAcceptedFromPeer }

    /// The registry's name for this code, or `nil` if it has none.
    public var name: String? {
        switch rawValue {
        case 1000: "normal"
        case 1001: "going away"
        case 1002: "protocol error"
        case 1003: "unsupported data"
        case 1005: "no status"
        case 1006: "abnormal"
        case 1007: "invalid payload"
        case 1008: "policy violation"
        case 1009: "message too big"
        case 1010: "mandatory extension"
        case 1011: "internal error"
        case 1012: "service restart"
        case 1013: "try again later"
        case 1014: "bad gateway"
        case 1015: "TLS failure"
        default: nil
        }
    }
}

extension WebSocketCloseCode: CustomStringConvertible {
    /// `1000 normal`, or the bare number.
    public var description: String { name.map { "\(rawValue) \($0)" } ?? "\(rawValue)" }
}

/// The content of a Close frame (RFC 6455, 5.5.1).
public struct WebSocketCloseFrame: Hashable, Sendable {
    /// The close code, or `nil` if the frame was empty.
    public var code: WebSocketCloseCode?
    /// The reason, at most 123 bytes of UTF-8. Empty if there is no code.
    public var reason: String

    /// Creates the content of a Close frame.
    public init(code: WebSocketCloseCode?, reason: String = "") {
        self.code = code
        self.reason = reason
    }
}

/// How a WebSocket ended (RFC 6455, 7.1.4 to 7.1.6).
public struct WebSocketCloseReport: Hashable, Sendable {
    /// The side that sent the first Close, or ended TCP without one.
    public enum Origin: String, Hashable, Sendable, CaseIterable {
        /// The local side.
        case local
        /// The peer.
        case peer
    }

    /// The Close sent to the peer, or `nil` if none was given to the transport.
    public var sent: WebSocketCloseFrame?
    /// The Close received from the peer, or `nil` if none arrived.
    public var received: WebSocketCloseFrame?
    /// The peer's violation or the timeout that made the WebSocket fail, or `nil` if it did not fail.
    public var failure: WebSocketFailure?
    /// The side that started closing.
    public var origin: Origin
    /// Whether both sides sent a Close.
    public var wasClean: Bool
    /// The bytes of queued messages that were not completely given to the transport.
    public var unsentBytes: Int
    /// When closing started.
    public var began: MonotonicTime
    /// When the transport ended.
    public var ended: MonotonicTime

    /// The code the connection ended with: the peer's, 1005 if its Close had none, or 1006 if no Close arrived (7.1.5).
    public var code: WebSocketCloseCode { received.map { $0.code ?? .noStatus } ?? .abnormal }

    /// Creates a report.
    public init(
        sent: WebSocketCloseFrame?, received: WebSocketCloseFrame?, failure: WebSocketFailure?, origin: Origin,
        wasClean: Bool, unsentBytes: Int, began: MonotonicTime, ended: MonotonicTime
    ) {
        self.sent = sent
        self.received = received
        self.failure = failure
        self.origin = origin
        self.wasClean = wasClean
        self.unsentBytes = unsentBytes
        self.began = began
        self.ended = ended
    }
}
