import SocketCore

/// WebSockets in words.
package enum WebSocketWords {
    /// What the parser waits for, and how much of that is there; the whole is nil where it is not known.
    package struct Progress: Hashable {
        package var what: String
        package var done = 0
        package var total: Int?
    }

    /// What comes in now: of the opening handshake, then of the frame at hand.
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
            guard let passing = facts.observation else { return Progress(what: "nothing: what comes is discarded") }
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
        case .tunnelling: "asks the proxy"
        case .opening: "handshake"
        case .open: "open"
        case .closing: "closing"
        case .refused: "refused"
        case .closed: "closed"
        }
    }

    /// How many bytes of messages one byte on the wire carried: `3.9:1`; `-` where nothing was compressed.
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

    /// Who said Close first.
    package static func origin(_ origin: WebSocketCloseReport.Origin) -> String {
        switch origin {
        case .local: "we"
        case .peer: "the peer"
        }
    }

    /// Codes that a person need not look at: an end as it should be, or without a code (RFC 6455, 7.4.1).
    package static func isOrderly(_ frame: WebSocketCloseFrame?) -> Bool {
        guard let code = frame?.code else { return frame != nil }
        return code == .normal || code == .goingAway
    }

    /// For a column of the list: how far it has come, or its code at the end.
    package static func column(_ facts: WebSocketPicture) -> String {
        switch facts.stage {
        case .connecting, .tunnelling, .opening: "opening"
        case .open: "open"
        case .refused: "refused"
        case .closing, .closed:
            closeCode(facts).map { "\($0.rawValue)" } ?? (facts.stage == .closed ? "closed" : "closing")
        }
    }

    /// The code of the end that others gave it, or of what the peer said.
    private static func closeCode(_ facts: WebSocketPicture) -> WebSocketCloseCode? {
        if facts.observation != nil, let said = firstClose(facts) { return said.code ?? .noStatus }
        return facts.report?.code ?? facts.traffic?.closeReceived?.code
    }

    /// What can follow `ws:` in a filter, besides the code of a Close: whether it is a WebSocket at all, how far it
    /// has come, whether its messages may be compressed.
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

    /// The code of a Close that a word names; nil: it names none.
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

    /// Who ended it and how, as its Closes say; nil: it never was open.
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

    /// What a head says in its list of that name; `-` where it says nothing.
    package static func list(_ name: String, _ head: HTTPHead?) -> String {
        let values = head?.list(of: name) ?? []
        return values.isEmpty ? "-" : values.joined(separator: ", ")
    }
}
