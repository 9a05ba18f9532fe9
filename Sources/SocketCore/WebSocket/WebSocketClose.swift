/// Why a WebSocket is closed, as a number (RFC 6455, 7.4; IANA's registry of WebSocket close codes).
public struct WebSocketCloseCode: RawRepresentable, Hashable, Sendable, Codable {
    /// The number.
    public let rawValue: UInt16

    /// Any number; whether it may be sent or accepted is another matter.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// 1000: done.
    public static let normal = WebSocketCloseCode(rawValue: 1000)
    /// 1001: this end goes away, such as a server that stops or a page that is left.
    public static let goingAway = WebSocketCloseCode(rawValue: 1001)
    /// 1002: the peer broke the protocol.
    public static let protocolError = WebSocketCloseCode(rawValue: 1002)
    /// 1003: the message was of a kind that this end does not take.
    public static let unsupportedData = WebSocketCloseCode(rawValue: 1003)
    /// 1005: a Close without a code came. Never on the wire.
    public static let noStatus = WebSocketCloseCode(rawValue: 1005)
    /// 1006: no Close came at all. Never on the wire.
    public static let abnormal = WebSocketCloseCode(rawValue: 1006)
    /// 1007: what was in a message was not what its type promises, such as text that is not UTF-8.
    public static let invalidPayload = WebSocketCloseCode(rawValue: 1007)
    /// 1008: against this end's policy.
    public static let policyViolation = WebSocketCloseCode(rawValue: 1008)
    /// 1009: longer than this end takes.
    public static let messageTooBig = WebSocketCloseCode(rawValue: 1009)
    /// 1010: the server did not agree to an extension that the client needs.
    public static let mandatoryExtension = WebSocketCloseCode(rawValue: 1010)
    /// 1011: this end is in trouble.
    public static let internalError = WebSocketCloseCode(rawValue: 1011)
    /// 1012: the service restarts.
    public static let serviceRestart = WebSocketCloseCode(rawValue: 1012)
    /// 1013: try again later.
    public static let tryAgainLater = WebSocketCloseCode(rawValue: 1013)
    /// 1014: a gateway got a bad answer.
    public static let badGateway = WebSocketCloseCode(rawValue: 1014)
    /// 1015: TLS failed. Never on the wire.
    public static let tlsFailure = WebSocketCloseCode(rawValue: 1015)

    /// Whether a Close that carries it is answered; any other is a protocol error (7.4.2): 1000 to 1003, 1007 to 1014,
    /// 3000 to 4999.
    public var isAcceptedFromPeer: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// Whether this end may put it into a Close. It is what a peer that keeps the rules accepts.
    public var isSendable: Bool { isAcceptedFromPeer }

    /// The registry's name; nil where it has none.
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

/// What one Close frame said (RFC 6455, 5.5.1).
public struct WebSocketCloseFrame: Hashable, Sendable, Codable {
    /// nil: the frame was empty.
    public var code: WebSocketCloseCode?
    /// UTF-8 of at most 123 bytes; empty without a code.
    public var reason: String

    /// Describes a Close.
    public init(code: WebSocketCloseCode?, reason: String = "") {
        self.code = code
        self.reason = reason
    }
}

/// How a WebSocket ended (RFC 6455, 7.1.4 to 7.1.6).
public struct WebSocketCloseReport: Hashable, Sendable, Codable {
    /// Which end said the first Close, or ended TCP without one.
    public enum Origin: String, Hashable, Sendable, Codable, CaseIterable {
        /// This one.
        case local
        /// The other one.
        case peer
    }

    /// What this end said; nil: its Close was never given to the transport.
    public var sent: WebSocketCloseFrame?
    /// What the peer said; nil: no Close came.
    public var received: WebSocketCloseFrame?
    /// What the peer, or this end's clock, did wrong; nil: nothing.
    public var failure: WebSocketFailure?
    /// Who began.
    public var origin: Origin
    /// Whether both ends said Close.
    public var wasClean: Bool
    /// Bytes of messages that were queued and did not all get to the transport.
    public var unsentBytes: Int
    /// When the closing began.
    public var began: MonotonicTime
    /// When the transport ended.
    public var ended: MonotonicTime

    /// The code of the connection's end: the peer's, 1005 when its Close had none, 1006 when none came (7.1.5).
    public var code: WebSocketCloseCode { received.map { $0.code ?? .noStatus } ?? .abnormal }

    /// Describes an end.
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
