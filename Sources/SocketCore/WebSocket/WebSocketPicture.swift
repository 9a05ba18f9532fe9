/// The stage of a WebSocket's life, from before its opening handshake to its end.
public enum WebSocketStage: String, Hashable, Sendable, CaseIterable {
    /// A client is connecting or setting up TLS.
    case connecting
    /// A client is waiting for the proxy's response to CONNECT.
    case tunnelling
    /// The handshake's request or response is awaited.
    case opening
    /// Messages can be exchanged.
    case open
    /// One side has sent a Close or broken the protocol.
    case closing
    /// The WebSocket never opened: the handshake failed, or the response was plain HTTP.
    case refused
    /// The WebSocket has ended.
    case closed
}

/// A snapshot of a WebSocket: its opening handshake and its traffic.
public struct WebSocketPicture: Equatable, Sendable {
    /// The side of the WebSocket.
    public var role: WebSocketRole
    /// The stage of its life.
    public var stage: WebSocketStage
    /// A client's URL, or the resource requested from a server.
    public var target: String
    /// The request as it was on the wire, or `nil` until it is complete.
    public var request: HTTPHead?
    /// The response as it was on the wire, or `nil` until it is complete.
    public var response: HTTPHead?
    /// The agreed subprotocol, or `nil` if there is none.
    public var subprotocol: String?
    /// The agreed extensions with their parameters.
    public var extensions: [String]
    /// Why the WebSocket did not open, as a sentence, or `nil` if it did or still can. For an observed WebSocket, also
    /// what is wrong with its handshake although it opened.
    public var problem: String?
    /// The bytes received of the awaited head.
    public var headBytes: Int
    /// When the opening handshake times out, or `nil` if it is complete or has no limit.
    public var openingDeadline: MonotonicTime?
    /// How long opening took, or `nil` if the WebSocket is not open yet. Includes connecting, except for an observed
    /// WebSocket.
    public var openedIn: Duration?
    /// The message bytes that the user has not taken yet.
    public var undeliveredBytes: Int
    /// The traffic, or `nil` if the WebSocket never opened.
    public var traffic: WebSocketSnapshot?
    /// How the WebSocket ended, or `nil` if it has not ended or never opened.
    public var report: WebSocketCloseReport?
    /// What was observed of a WebSocket between other parties, or `nil` for a WebSocket of this program.
    public var observation: WebSocketObservation? {
        get { observations.first }
        set { observations = newValue.map { [$0] } ?? [] }
    }
    /// At most one observation. An optional would take up its full size in every snapshot.
    private var observations: [WebSocketObservation] = []

    /// Creates the snapshot of a new WebSocket.
    public init(role: WebSocketRole, stage: WebSocketStage, target: String) {
        self.role = role
        self.stage = stage
        self.target = target
        extensions = []
        headBytes = 0
        undeliveredBytes = 0
    }
}
