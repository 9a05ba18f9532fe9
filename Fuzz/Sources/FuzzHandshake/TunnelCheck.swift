import FuzzSupport
import SocketCore

/// What a client makes of a proxy's answer.
struct TunnelCheck {
    enum Outcome: Equatable {
        case waiting
        case open(Int)
        case again(isNew: Bool, request: [UInt8])
        case refused(HandshakeRefusal)
        case broken(String)
    }

    var bytes: [UInt8]
    var limit: Int
    var knowsWho: Bool

    func run(piece: Int) {
        let whole = outcome(piece: .max)
        let cut = outcome(piece: piece)
        require(whole == cut, "\(whole) became \(cut) when it came in pieces of \(piece)")
        switch (ReferenceHead.read(bytes, limit: limit), whole) {
        case (.unfinished, .broken), (.broken, .broken), (.head, .broken): break
        case (.head(let head), .open(let taken)):
            require(taken == head.length, "\(taken) bytes belong to the answer, \(head.length) do")
            require(head.startLine.dropFirst(8).hasPrefix(" 2"), "\(head)")
        case (.head(let head), .again(_, let request)):
            require(knowsWho && head.startLine.dropFirst(8).hasPrefix(" 407"), "\(head)")
            guard case .head(let second) = ReferenceHead.read(request, limit: .max) else { fatalError("\(request)") }
            require(second.values("proxy-authorization").count == 1, "\(second)")
        case (.head(let head), .refused(let refusal)):
            require(!(200...299).contains(refusal.status) && refusal.body.count <= 4_096, "\(refusal)")
            require(bytes[head.length...].starts(with: refusal.body), "\(refusal.body) is not what came")
        case (let expected, let outcome): fatalError("\(outcome) where it is \(expected)")
        }
    }

    /// All comes, and then the end.
    private func outcome(piece: Int) -> Outcome {
        var handshake = TunnelHandshake(
            host: "a", port: 80, credentials: knowsWho ? HTTPCredentials(user: "a", password: "b") : nil,
            headLimit: limit)
        var given = 0
        for part in Pieces(rest: bytes[...], size: piece) {
            let step = handshake.receive(part.span.bytes)
            if let outcome = Self.outcome(step, handshake, behind: given) { return outcome }
            given += part.count
        }
        let step = handshake.receiveEnd()
        return Self.outcome(step, handshake, behind: given) ?? .waiting
    }

    private static func outcome(
        _ step: TunnelHandshake.Step, _ handshake: TunnelHandshake, behind given: Int
    ) -> Outcome? {
        switch step {
        case .wait: nil
        case .open(let taken): .open(given + taken)
        case .again(let isNew): .again(isNew: isNew, request: handshake.request)
        case .refused(let refusal): .refused(refusal)
        case .broken(let problem): .broken(problem)
        }
    }
}
