/// The server's side of the opening handshake, up to the request (RFC 6455, 4.2.1).
///
/// Pass it bytes until it returns something other than `wait`. The shell decides on the response, because the user's
/// hooks take part. `WebSocketRequest` reports why a request must be refused, and creates the response.
package struct ServerHandshake: Sendable {
    /// The result of the bytes so far.
    package enum Step: Equatable, Sendable {
        /// More bytes are needed.
        case wait
        /// The request is complete. `taken` of the last bytes belong to it. Frames follow it, never HTTP.
        case request(WebSocketRequest, taken: Int)
        /// The request is invalid. Send this response and close.
        case refused(HTTPResponse, problem: String)
    }

    private var parser: HTTPHeadParser

    package init(headLimit: Int = 16_384) {
        parser = HTTPHeadParser(limit: headLimit)
    }

    /// The number of bytes received of an incomplete head.
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
