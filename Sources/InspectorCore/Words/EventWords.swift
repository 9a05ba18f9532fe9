import SocketCore

/// Events in words, from the rows of `EventCatalogue`.
package enum EventWords {
    /// Returns the numbers of an event in words. The address of an attempt is included while its session is listed.
    /// `answer` is the key that answers a question.
    package static func detail(
        _ event: SocketEvent, of socket: SocketSnapshot? = nil, answer: @autoclosure () -> String
    ) -> String {
        if socket?.ends != nil, let words = CapturedWords.detail(event) { return words }
        if isEndOfStream(event, of: socket) { return "\(CloseWords.peerClosed): no more data" }
        return choose(from: EventCatalogue[event.kind].detail, event, socket) { place in
            place == .answer ? answer() : nil
        }
    }

    /// Returns the label, and whether the user should look at it.
    package static func label(_ event: SocketEvent, of socket: SocketSnapshot?) -> (text: String, isWarning: Bool) {
        let row = EventCatalogue[event.kind]
        return isEndOfStream(event, of: socket) ? ("read ended", false) : (row.label, row.isWarning)
    }

    /// Whether a read of whatever arrives ended because the peer has sent everything, which is not a failure.
    private static func isEndOfStream(_ event: SocketEvent, of socket: SocketSnapshot?) -> Bool {
        guard event.kind == .readFailed, event.first == 0, event.second == 0, let socket,
            let closed = socket.activity.peerClosed, closed <= event.time
        else { return false }
        return socket.closed.map { $0.error?.reason == .closedByPeer } ?? true
    }

    /// Returns the sentence in Traffic. `isAsking` is set if the event's operation still waits for a verdict, given by
    /// `answer`.
    package static func sentence(
        _ event: SocketEvent, of socket: SocketSnapshot?, isAsking: Bool, answer: String
    ) -> String {
        if socket?.ends != nil, let words = CapturedWords.detail(event) { return words }
        let row = EventCatalogue[event.kind]
        return choose(from: row.sentence ?? [], event, socket) { place in
            switch place {
            case .label: row.label
            case .detail: detail(event, of: socket, answer: answer)
            case .pendingAnswer: isAsking ? answer : nil
            case .answer: answer
            default: nil
            }
        }
    }

    /// Returns the first phrase that applies, with its placeholders filled, or an empty string if none does. `other`
    /// fills the placeholders that neither the event nor its session can.
    private static func choose(
        from phrases: [EventPhrase], _ event: SocketEvent, _ socket: SocketSnapshot?,
        _ other: (EventPhrase.Place) -> String?
    ) -> String {
        for phrase in phrases {
            if let words = fill(phrase, event, socket, other) { return words }
        }
        return ""
    }

    private static func fill(
        _ phrase: EventPhrase, _ event: SocketEvent, _ socket: SocketSnapshot?,
        _ other: (EventPhrase.Place) -> String?
    ) -> String? {
        var words = ""
        for part in phrase.parts {
            switch part {
            case .text(let text): words += text
            case .place(let place):
                guard let text = text(place, event, socket) ?? other(place), !text.isEmpty else { return nil }
                words += text
            case .condition(.firstIs(let number)): if event.first != number { return nil }
            case .condition(.roleIs(let role)): if socket?.role != role { return nil }
            }
        }
        return words
    }

    private static func text(_ place: EventPhrase.Place, _ event: SocketEvent, _ socket: SocketSnapshot?) -> String? {
        switch place {
        case .first: EventCatalogue[event.kind].first.words(event.first, of: socket)
        case .second: EventCatalogue[event.kind].second.words(event.second, of: socket)
        case .positiveFirst: event.first > 0 ? text(.first, event, socket) : nil
        case .positiveSecond: event.second > 0 ? text(.second, event, socket) : nil
        case .local: socket?.local?.description
        case .peer: socket?.peerText
        case .ending: socket?.ending
        case .label, .detail, .answer, .pendingAnswer: nil
        }
    }
}

extension EventNumber {
    /// Returns the number in words, or `nil` if it is meaningless on the screen.
    fileprivate func words(_ number: Int, of socket: SocketSnapshot?) -> String? {
        switch self {
        case .bytes, .total: String(number)
        case .size: Format.size(number)
        case .count(_, let one, let many): "\(number) \(number == 1 ? one : many)"
        case .milliseconds: Format.duration(.milliseconds(number))
        case .microseconds: Format.duration(.microseconds(number))
        case .timeout: number < 0 ? "none" : Format.duration(.milliseconds(number))
        case .errno: ErrnoWords.name(Int32(truncatingIfNeeded: number))
        case .alert: TLSFailure.alertName(UInt8(truncatingIfNeeded: number))
        case .attempt: Self.address(number, of: socket)?.description ?? "address \(number + 1)"
        case .session: "#\(number)"
        case .rule: String(number)
        case .offset: number < 0 ? nil : String(number)
        case .choice(let choices): choices.indices.contains(number) ? choices[number].words : nil
        case .unused, .operation, .verifyCode: nil
        }
    }

    /// Returns the address of an attempt, while its session is listed.
    static func address(_ index: Int, of socket: SocketSnapshot?) -> SocketAddress? {
        let attempts = socket?.connect?.attempts ?? []
        return attempts.indices.contains(index) ? attempts[index].address : nil
    }
}

/// Errno values in few words, with Linux's numbers.
package enum ErrnoWords {
    private static let names: [Int32: String] = [
        2: "no such file", 13: "permission denied", 24: "too many open files", 32: "broken pipe",
        90: "message too long",
        98: "address in use", 99: "address not available", 101: "network unreachable", 103: "aborted",
        4: "interrupted", 11: "would block", 512: "interrupted", 513: "interrupted", 514: "interrupted",
        516: "interrupted",
        104: "reset by peer", 110: "timed out", 111: "refused", 115: "in progress", 113: "no route to host",
    ]

    /// Returns the short name, or `errno 5` if there is none.
    package static func name(_ errno: Int32) -> String { known(errno) ?? "errno \(errno)" }

    package static func known(_ errno: Int32) -> String? { names[errno] }
}
