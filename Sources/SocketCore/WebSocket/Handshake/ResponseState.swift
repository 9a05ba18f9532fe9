/// How much of the response to a handshake has arrived: its head, and the beginning of a refusal's body.
enum ResponseState: Sendable {
    case head(HTTPHeadParser)
    case body(HandshakeRefusal, HTTPBodyPrefix)
    case over

    /// Receives bytes of the head, or returns `nil` if it was complete before. The response is over unless the caller
    /// goes on to its body.
    mutating func receiveHead(_ bytes: RawSpan) -> HTTPHeadParser.Step? {
        guard case .head(var parser) = self else { return nil }
        self = .over
        let step = parser.receive(bytes)
        if step == .wait { self = .head(parser) }
        return step
    }
}
