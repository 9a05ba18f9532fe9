import FuzzSupport
import SocketCore

/// What a client makes of a stranger's answer.
struct ClientCheck {
    enum Outcome: Equatable {
        case waiting
        /// What was agreed on, and how many bytes belong to the answer.
        case open(WebSocketAgreement, PerMessageDeflateParameters?, Int)
        case failed(ClientHandshake.Failure)
    }

    var bytes: [UInt8]
    var limit: Int
    /// Whether a subprotocol and compression are offered.
    var offers: Bool

    static func handshake(_ opening: WebSocketOpening, limit: Int, offers: Bool) -> ClientHandshake {
        guard let url = try? WebSocketURL.parse("ws://a/") else { fatalError("a URL that is none") }
        return ClientHandshake(
            url, opening, key: Spelling.key, expectedAccept: Spelling.accept, headLimit: limit,
            compression: offers ? PerMessageDeflateParameters() : nil)
    }

    func run(piece: Int) {
        let whole = outcome(piece: .max)
        let cut = outcome(piece: piece)
        require(whole == cut, "\(whole) became \(cut) when it came in pieces of \(piece)")
        switch (ReferenceHead.read(bytes, limit: limit), whole) {
        case (.unfinished, .failed(.broken(_, nil))), (.broken, .failed(.broken(_, nil))): break
        case (.head(let head), .open(let agreement, _, let taken)): check(agreement, taken, head)
        case (.head(let head), .failed(.refused(let refusal))): check(refusal, head)
        case (.head(let head), .failed(.broken)): require(!isRight(head), "\(head) was not taken")
        case (let expected, let outcome): fatalError("\(outcome) where it is \(expected)")
        }
    }

    /// All comes, and then the end.
    private func outcome(piece: Int) -> Outcome {
        var opening = WebSocketOpening()
        if offers { opening.subprotocols = ["chat"] }
        var handshake = Self.handshake(opening, limit: limit, offers: offers)
        var given = 0
        for part in Pieces(rest: bytes[...], size: piece) {
            if let outcome = Self.outcome(handshake.receive(part.span.bytes), behind: given) { return outcome }
            given += part.count
        }
        return Self.outcome(handshake.receiveEnd(), behind: given) ?? .waiting
    }

    private static func outcome(_ step: ClientHandshake.Step, behind given: Int) -> Outcome? {
        switch step {
        case .wait: nil
        case .open(let agreement, let compression, let taken): .open(agreement, compression, given + taken)
        case .failed(let failure): .failed(failure)
        }
    }

    private func check(_ agreement: WebSocketAgreement, _ taken: Int, _ head: ReferenceHead) {
        require(taken == head.length, "\(taken) bytes belong to the answer, \(head.length) do")
        require(head.startLine.hasPrefix("HTTP/1.") && head.startLine.dropFirst(8).hasPrefix(" 101"), "\(head)")
        require(!head.startLine.hasPrefix("HTTP/1.0"), "\(head)")
        require(head.values("sec-websocket-accept") == [Spelling.accept], "\(head)")
        require(!head.values("upgrade").isEmpty && !head.values("connection").isEmpty, "\(head)")
        require(agreement.subprotocol == nil || offers && agreement.subprotocol == "chat", "\(agreement)")
        require(head.values("sec-websocket-protocol").count <= 1, "\(head)")
        require(agreement.extensions.isEmpty || offers, "\(agreement)")
    }

    /// Whether it is an answer that must do.
    private func isRight(_ head: ReferenceHead) -> Bool {
        head.startLine.hasPrefix("HTTP/1.1 101 ") && head.values("upgrade").map { $0.lowercased() } == ["websocket"]
            && head.values("connection").map { $0.lowercased() } == ["upgrade"]
            && head.values("sec-websocket-accept") == [Spelling.accept]
            && head.values("sec-websocket-protocol").isEmpty && head.values("sec-websocket-extensions").isEmpty
    }

    private func check(_ refusal: HandshakeRefusal, _ head: ReferenceHead) {
        require(refusal.status != 101 && (100...599).contains(refusal.status), "\(refusal.status)")
        require(head.startLine.contains("\(refusal.status)"), "\(head)")
        require(refusal.body.count <= 4_096, "\(refusal.body.count) bytes are kept")
        require(bytes[head.length...].starts(with: refusal.body), "\(refusal.body) is not what came")
    }
}
