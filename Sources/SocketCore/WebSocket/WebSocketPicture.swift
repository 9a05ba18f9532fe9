/// Where a WebSocket is, from before its opening handshake to its end.
public enum WebSocketStage: String, Hashable, Sendable, Codable, CaseIterable {
    /// Of a client: the connection, or TLS, is being set up.
    case connecting
    /// Of a client: the proxy's answer to CONNECT is awaited.
    case tunnelling
    /// The handshake's request or answer is awaited.
    case opening
    /// Messages pass.
    case open
    /// One side has said Close, or broke the protocol.
    case closing
    /// It never was open: the handshake came to nothing, or HTTP was answered.
    case refused
    /// It is over.
    case closed
}

/// A WebSocket at one instant: its opening handshake, and what came after that.
public struct WebSocketPicture: Hashable, Sendable, Codable {
    /// Which end it is.
    public var role: WebSocketRole
    /// Where it is.
    public var stage: WebSocketStage
    /// What a client asked for: its URL; of a server, the resource that it was asked for.
    public var target: String
    /// The request as it went over the wire; nil: not whole yet.
    public var request: HTTPHead?
    /// The answer as it went over the wire; nil: not whole yet.
    public var response: HTTPHead?
    /// The protocol above it; nil: none.
    public var subprotocol: String?
    /// The extensions agreed on, with their parameters.
    public var extensions: [String]
    /// Why it did not open, as a sentence; nil: it did, or may yet. Of one that is only looked at, also what is wrong with
    /// its handshake although it opened.
    public var problem: String?
    /// Bytes of the head that is awaited that have come.
    public var headBytes: Int
    /// Until when it must be open; nil: it is, or there is no limit.
    public var openingDeadline: MonotonicTime?
    /// How long it took to open, connecting included; nil: not open yet. Of one that is only looked at, connecting does not
    /// count.
    public var openedIn: Duration?
    /// Bytes of messages that the user has not taken yet.
    public var undeliveredBytes: Int
    /// What passes; nil: it is not open yet, or never was.
    public var traffic: WebSocketSnapshot?
    /// How it ended; nil: it has not, or never was open.
    public var report: WebSocketCloseReport?
    /// Of one that others speak, and that is only looked at; nil: it is this end's own.
    public var observation: WebSocketObservation? {
        get { observations.first }
        set { observations = newValue.map { [$0] } ?? [] }
    }
    /// None, or one: it would take up room in each picture otherwise.
    private var observations: [WebSocketObservation] = []

    /// Describes a WebSocket that has just begun.
    public init(role: WebSocketRole, stage: WebSocketStage, target: String) {
        self.role = role
        self.stage = stage
        self.target = target
        extensions = []
        headBytes = 0
        undeliveredBytes = 0
    }
}
