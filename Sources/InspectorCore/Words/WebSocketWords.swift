import SocketCore

/// WebSockets in words.
package enum WebSocketWords {
    /// What the parser waits for, and how much of it has arrived. The total is `nil` if it is not known.
    package struct Progress: Equatable {
        package var what: String
        package var done = 0
        package var total: Int?
    }

    /// Returns what is being received: first the opening handshake, then the current frame.
    package static func incoming(_ facts: WebSocketPicture) -> Progress {
        guard let traffic = facts.traffic else { return opening(facts) }
        switch traffic.awaiting {
        case .header(let done): return Progress(what: "frame header", done: done, total: 2)
        case .extendedLength(let done, let total):
            return Progress(what: "extended length", done: done, total: total)
        case .mask(let done): return Progress(what: "mask", done: done, total: 4)
        case .payload(let opcode, let done, let total):
            return Progress(what: "payload of \(name(opcode))", done: done, total: total)
        case .nothing:
            guard let passing = facts.observation else { return Progress(what: "nothing: input is discarded") }
            return Progress(
                what: passing.receivedFailure.map { "no more frames: \($0)" } ?? "nothing follows the Close")
        }
    }

    private static func opening(_ facts: WebSocketPicture) -> Progress {
        switch facts.stage {
        case .connecting: Progress(what: "the connection")
        case .tunnelling: Progress(what: "proxy response", done: facts.headBytes)
        case .opening:
            Progress(what: facts.role == .client ? "response head" : "request head", done: facts.headBytes)
        case .open, .closing, .refused, .closed: Progress(what: "nothing")
        }
    }

    /// `text`, `continuation`.
    package static func name(_ opcode: WebSocketOpcode) -> String { "\(opcode)" }

    package static func stage(_ stage: WebSocketStage) -> String {
        switch stage {
        case .connecting: "connecting"
        case .tunnelling: "asking the proxy"
        case .opening: "handshake"
        case .open: "open"
        case .closing: "closing"
        case .refused: "refused"
        case .closed: "closed"
        }
    }

    /// Returns how many message bytes one byte on the wire carried, `3.9:1`, or `-` if nothing was compressed.
    package static func ratio(_ counters: WebSocketCounters) -> String {
        guard counters.compressedMessages > 0 else { return "-" }
        return ratio(message: counters.messageBytes, wire: counters.payloadBytes)
    }

    package static func ratio(message: UInt64, wire: UInt64) -> String {
        guard wire > 0 else { return "-" }
        let ratio = Double(message) / Double(wire)
        guard ratio < 99.95 else { return "\(UInt64(min(ratio, 1e9) + 0.5)):1" }
        let tenths = Int(ratio * 10 + 0.5)
        return "\(tenths / 10).\(tenths % 10):1"
    }

    /// `1000 normal "bye"`, `no code`, `-`.
    package static func close(_ frame: WebSocketCloseFrame?) -> String {
        guard let frame else { return "-" }
        guard let code = frame.code else { return "no code" }
        return code.description + (frame.reason.isEmpty ? "" : " \"\(frame.reason)\"")
    }

    /// Returns which side sent Close first.
    package static func origin(_ origin: WebSocketCloseReport.Origin) -> String {
        switch origin {
        case .local: "we"
        case .peer: "the peer"
        }
    }

    /// Whether the code needs no attention: a normal end, or one without a code (RFC 6455, 7.4.1).
    package static func isOrderly(_ frame: WebSocketCloseFrame?) -> Bool {
        guard let code = frame?.code else { return frame != nil }
        return code == .normal || code == .goingAway
    }

    /// Returns the text for a column of the list: the stage, or the code of the Close.
    package static func column(_ facts: WebSocketPicture) -> String {
        switch facts.stage {
        case .connecting, .tunnelling, .opening: "opening"
        case .open: "open"
        case .refused: "refused"
        case .closing, .closed:
            closeCode(facts).map { "\($0.rawValue)" } ?? (facts.stage == .closed ? "closed" : "closing")
        }
    }

    /// Returns the code of the end of a forwarded WebSocket, or of the peer's Close.
    private static func closeCode(_ facts: WebSocketPicture) -> WebSocketCloseCode? {
        if facts.observation != nil, let said = firstClose(facts) { return said.code ?? .noStatus }
        return facts.report?.code ?? facts.traffic?.closeReceived?.code
    }

    /// The words that can follow `ws:` in a filter, in addition to the code of a Close: whether it is a WebSocket at
    /// all, the stage, whether its messages may be compressed.
    package static let filterWords =
        ["yes", "no"] + WebSocketStage.allCases.map(stageWord) + ["compressed"]

    /// Whether such a word, or its beginning, describes a connection.
    package static func matches(_ word: String, _ facts: WebSocketPicture?) -> Bool {
        guard let facts else { return "no".hasPrefix(word) }
        if let code = closeCode(word) {
            return [facts.traffic?.closeSent?.code, facts.traffic?.closeReceived?.code, facts.report?.code]
                .contains(code)
        }
        if "compressed".hasPrefix(word), !facts.extensions.isEmpty { return true }
        if "yes".hasPrefix(word) { return true }
        // "open" is a word, and the beginning of another.
        let stage = stageWord(facts.stage)
        return filterWords.contains(word) ? stage == word : stage.hasPrefix(word)
    }

    /// Returns the code of a Close named by a word, or `nil` if it names none.
    package static func closeCode(_ word: String) -> WebSocketCloseCode? {
        UInt16(word).flatMap { (1000...4999).contains($0) ? WebSocketCloseCode(rawValue: $0) : nil }
    }

    private static func stageWord(_ stage: WebSocketStage) -> String {
        switch stage {
        case .connecting, .tunnelling, .opening: "opening"
        case .open: "open"
        case .closing: "closing"
        case .refused: "refused"
        case .closed: "closed"
        }
    }

    /// Returns which side ended it and how, from its Closes, or `nil` if it was never open.
    package static func ending(_ socket: SocketSnapshot) -> String? {
        guard let facts = socket.webSocket, let report = facts.report, let record = socket.closed else { return nil }
        guard facts.observation == nil else { return passedEnding(facts, report, record) }
        switch report.failure {
        case .endedWithoutClose:
            let cause = record.error == nil ? "\(origin(report.origin)) ended it" : CloseWords.sentence(record)
            return "\(cause), without a Close (1006)"
        case .some(let failure):
            // The reason that was sent is the same sentence.
            let code = report.sent?.code.map { " with \($0)" } ?? ""
            return "we closed\(code): \(failure)"
        case nil: break
        }
        let said = report.origin == .local ? report.sent : report.received
        return "\(origin(report.origin)) closed with \(close(said))"
    }

    /// Returns how a WebSocket of this program failed, or `nil` if it didn't: the peer broke the protocol, ended it
    /// without a Close, or closed it with a code that reports a problem.
    package static func failure(_ socket: SocketSnapshot) -> String? {
        guard let facts = socket.webSocket, facts.observation == nil, let report = facts.report else { return nil }
        let isClosedBadly = report.origin == .peer && report.received != nil && !isOrderly(report.received)
        return report.failure != nil || isClosedBadly ? ending(socket) : nil
    }

    /// Returns the values of a head's list of that name, or `-` if it has none.
    package static func list(_ name: String, _ head: HTTPHead?) -> String {
        let values = head?.list(of: name) ?? []
        return values.isEmpty ? "-" : values.joined(separator: ", ")
    }
}
