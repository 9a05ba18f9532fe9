import FuzzSupport
import SocketCore

/// What a server makes of a stranger's request.
struct ServerCheck {
    enum Outcome: Equatable {
        case waiting
        /// The request, and how many bytes belong to it.
        case request(WebSocketRequest, Int)
        case refused(HTTPResponse, String)
    }

    var bytes: [UInt8]
    var limit: Int

    func run(piece: Int) {
        let whole = outcome(piece: .max)
        let cut = outcome(piece: piece)
        require(whole == cut, "\(whole) became \(cut) when it came in pieces of \(piece)")
        switch (ReferenceHead.read(bytes, limit: limit), whole) {
        case (.unfinished, .waiting): break
        case (.broken, .refused(let answer, _)): check(answer)
        case (.head(let head), .request(let request, let taken)):
            require(taken == head.length, "\(taken) bytes belong to the request, \(head.length) do")
            check(request, head)
        case (.head(let head), .refused(let answer, _)):
            require(!head.startLine.isRequestLine, "\(head.startLine) was refused")
            check(answer)
        case (let expected, let outcome): fatalError("\(outcome) where it is \(expected)")
        }
    }

    private func outcome(piece: Int) -> Outcome {
        var handshake = ServerHandshake(headLimit: limit)
        var given = 0
        for part in Pieces(rest: bytes[...], size: piece) {
            switch handshake.receive(part.span.bytes) {
            case .wait: require(handshake.count <= limit, "\(handshake.count) bytes are held")
            case .request(let request, let taken): return .request(request, given + taken)
            case .refused(let answer, let problem): return .refused(answer, problem)
            }
            given += part.count
        }
        return .waiting
    }

    private func check(_ request: WebSocketRequest, _ head: ReferenceHead) {
        require(head.startLine.isRequestLine, "\(head.startLine) is no request line")
        let isPlain =
            head.startLine.hasPrefix("GET ") && head.startLine.hasSuffix(" HTTP/1.1") && head.values("host").count == 1
            && head.values("sec-websocket-version") == ["13"] && head.values("sec-websocket-key").count == 1
            && isKey(head.values("sec-websocket-key")[0]) && head.values("transfer-encoding").isEmpty
            && head.values("content-length").allSatisfy { $0 == "0" }
        guard let refusal = request.refusal else {
            require(isPlain, "\(head) was accepted")
            require(
                !head.values("upgrade").isEmpty && !head.values("connection").isEmpty, "\(head) was accepted")
            return checkAnswer(to: request)
        }
        check(refusal)
        let mustDo =
            isPlain && head.names("websocket", in: "upgrade") && head.names("upgrade", in: "connection")
            && head.values("sec-websocket-protocol").isEmpty
            && !(head.values("upgrade") + head.values("connection")).contains { $0.contains("\"") }
        require(!mustDo, "\(head) was refused: \(String(decoding: refusal.body, as: UTF8.self))")
    }

    /// 16 bytes in base64.
    private func isKey(_ text: String) -> Bool {
        let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        return text.count == 24 && text.hasSuffix("==") && text.dropLast(2).allSatisfy { digits.contains($0) }
    }

    /// An answer is a head that is read as it was meant.
    private func check(_ answer: HTTPResponse) {
        require((400...499).contains(answer.status), "it answers \(answer.status)")
        require(answer.fault == nil, "\(answer.fault ?? "")")
        guard case .head(let head) = ReferenceHead.read(answer.bytes(), limit: .max) else {
            fatalError("\(answer) is no head")
        }
        require(head.startLine.hasPrefix("HTTP/1.1 \(answer.status) "), head.startLine)
        require(head.values("content-length") == ["\(answer.body.count)"], "\(head)")
    }

    /// What our server says, our client takes, with the same agreement.
    private func checkAnswer(to request: WebSocketRequest) {
        let subprotocol = request.subprotocols.first
        let deflate = PerMessageDeflateParameters().answer(to: request.extensions.joined(separator: ", "))
        let answer = request.answer(
            accept: Spelling.accept, subprotocol: subprotocol, extensions: deflate?.header)
        var opening = WebSocketOpening()
        opening.subprotocols = subprotocol.map { [$0] } ?? []
        var client = ClientCheck.handshake(opening, limit: 1 << 20, offers: true)
        guard case .open(let agreement, let agreed, let taken) = client.receive(answer.bytes.span.bytes) else {
            fatalError("our client does not take \(answer)")
        }
        require(taken == answer.bytes.count, "\(taken) of \(answer.bytes.count) bytes")
        require(agreement.subprotocol == subprotocol, "\(agreement)")
        require(agreed == deflate?.agreed, "\(String(describing: agreed)) is not \(String(describing: deflate))")
        for bits in [agreed?.serverMaxWindowBits, agreed?.clientMaxWindowBits] {
            require((9...15).contains(bits ?? 15), "\(bits ?? 0) bits")
        }
    }
}

extension String {
    /// `METHOD TARGET HTTP/digit.digit`, as far as the server looks.
    fileprivate var isRequestLine: Bool {
        let words = split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, !words[0].isEmpty, !words[1].isEmpty else { return false }
        let isToken = words[0].utf8.allSatisfy { byte in
            let character = Character(Unicode.Scalar(byte))
            return byte < 128 && (character.isLetter || character.isNumber || "!#$%&'*+-.^_`|~".contains(character))
        }
        let isTarget = words[1].utf8.allSatisfy { $0 > 32 && $0 < 127 }
        return isToken && isTarget && words[2].hasPrefix("HTTP/") && words[2].utf8.count == 8
    }
}
