/// The server's side of the opening handshake, up to the request (RFC 6455, 4.2.1).
///
/// Feed it what comes until it says something else than `wait`. What is to be answered is the shell's to decide, since
/// the user's hooks have a say: `WebSocketRequest` says what speaks against a WebSocket, and makes the answer.
package struct ServerHandshake: Sendable {
    /// What has come of the bytes so far.
    package enum Step: Equatable, Sendable {
        /// Nothing yet.
        case wait
        /// The request is whole; `taken` of the bytes just given belong to it. What follows is frames, never HTTP.
        case request(WebSocketRequest, taken: Int)
        /// It is none; answer so and close.
        case refused(HTTPResponse, problem: String)
    }

    private var parser: HTTPHeadParser

    package init(headLimit: Int = 16_384) {
        parser = HTTPHeadParser(limit: headLimit)
    }

    /// How many bytes of an unfinished head have come.
    package var count: Int { parser.count }

    package mutating func receive(_ bytes: RawSpan) -> Step {
        switch parser.receive(bytes) {
        case .wait: return .wait
        case .failed(let fault):
            let answer = HTTPResponse(status: fault.isTooLong ? 431 : 400, text: fault.problem + "\n")
            return .refused(answer, problem: fault.problem)
        case .head(let head, let taken):
            guard let request = WebSocketRequest(head) else {
                let problem = "the request line is not METHOD TARGET HTTP/1.1"
                return .refused(WebSocketRequest.bad(problem), problem: problem)
            }
            return .request(request, taken: taken)
        }
    }
}
