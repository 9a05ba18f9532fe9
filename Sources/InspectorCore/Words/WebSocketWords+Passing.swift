import SocketCore

/// Words about WebSockets of other programs that are only forwarded here.
extension WebSocketWords {
    /// Returns which side sent Close first: this end or its peer, or which of the two whose frames are forwarded.
    package static func origin(_ origin: WebSocketCloseReport.Origin, of facts: WebSocketPicture) -> String {
        facts.observation == nil ? self.origin(origin) : "the \(party(origin, facts))"
    }

    /// Returns the side that started to close, for use after "by".
    package static func starter(_ origin: WebSocketCloseReport.Origin, of facts: WebSocketPicture) -> String {
        facts.observation == nil && origin == .local ? "us" : self.origin(origin, of: facts)
    }

    /// Returns the role of that end of a connection.
    private static func party(_ origin: WebSocketCloseReport.Origin, _ facts: WebSocketPicture) -> String {
        (origin == .local) == (facts.role == .client) ? "client" : "server"
    }

    /// Returns what is wrong with the frames of either side.
    package static func breaches(_ facts: WebSocketPicture) -> [String] {
        let passing = facts.observation
        return [
            passing?.receivedFailure.map { "the \(party(.peer, facts)) broke the protocol: \($0)" },
            passing?.sentFailure.map { "the \(party(.local, facts)) broke the protocol: \($0)" },
        ].compactMap { $0 }
    }

    /// Returns the Close that was sent first, or `nil` if none was sent.
    static func firstClose(_ facts: WebSocketPicture) -> WebSocketCloseFrame? {
        guard let origin = facts.traffic?.closeOrigin else { return nil }
        return origin == .local ? facts.traffic?.closeSent : facts.traffic?.closeReceived
    }

    /// Returns how it ended.
    static func passedEnding(
        _ facts: WebSocketPicture, _ report: WebSocketCloseReport, _ record: CloseRecord
    ) -> String {
        let who = origin(report.origin, of: facts)
        var sentences = breaches(facts)
        if let said = firstClose(facts) {
            sentences.append("\(who) closed with \(close(said))\(report.wasClean ? "" : ", which was not answered")")
        } else if sentences.isEmpty {
            let isOrderly = record.error == nil || record.error?.reason == .closedByPeer
            sentences.append("\(isOrderly ? "\(who) ended it" : CloseWords.sentence(record)), without a Close (1006)")
        }
        return sentences.joined(separator: "; ")
    }

    /// Returns how it ended, for a row of the list.
    static func passedShort(_ facts: WebSocketPicture, _ report: WebSocketCloseReport) -> String {
        let code = firstClose(facts).map { $0.code ?? .noStatus } ?? report.failure?.closeCode ?? report.code
        return "\(party(report.origin, facts)) closed \(code)"
    }
}
