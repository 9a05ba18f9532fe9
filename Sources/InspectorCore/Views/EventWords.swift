import SocketCore

/// Events in words.
package enum EventWords {
    /// The kind, as the events' screen names it.
    package static func name(_ kind: SocketEvent.Kind) -> String {
        switch kind {
        case .resolving: "resolving"
        case .resolved: "resolved"
        case .connectAttempt: "trying"
        case .connectRefused: "failed"
        case .connected: "connected"
        case .listening: "listening"
        case .accepted: "accepted"
        case .acceptFailed: "accept failed"
        case .turnedAway: "turned away"
        case .readQueued: "read queued"
        case .readPartial: "read partial"
        case .readDone: "read done"
        case .readFailed: "read failed"
        case .writeQueued: "write queued"
        case .writePartial: "write partial"
        case .writeDone: "write done"
        case .writeFailed: "write failed"
        case .readTimedOut: "read timeout"
        case .writeTimedOut: "write timeout"
        case .timeoutExtended: "extended"
        case .timeoutChanged: "timeout set"
        case .readingPaused: "paused"
        case .readingResumed: "resumed"
        case .readInterestOff: "reading off"
        case .readInterestOn: "reading on"
        case .writeBlocked: "sndbuf full"
        case .writeUnblocked: "sndbuf room"
        case .aboveHighMark: "above mark"
        case .belowLowMark: "below mark"
        case .peerClosed: "peer FIN"
        case .halfClosed: "half-closed"
        case .closeAsked: "close asked"
        case .movedAway: "moved away"
        case .movedHere: "moved here"
        case .tlsQueued: "TLS asked"
        case .tlsBegan: "TLS begins"
        case .trustAsked: "cert asked"
        case .trustAnswered: "cert judged"
        case .secured: "secure"
        case .alertReceived: "alert in"
        case .alertSent: "alert out"
        case .bound: "bound"
        case .datagramsReceived: "received"
        case .datagramSent: "sent"
        case .datagramFailed: "not sent"
        case .datagramsDropped: "dropped"
        case .datagramsTruncated: "cut off"
        case .datagramError: "error"
        case .groupJoined: "group joined"
        case .groupLeft: "group left"
        case .dissolved: "disconnected"
        case .closed: "closed"
        }
    }

    /// Whether it is about an operation, which has a tag.
    package static func hasTag(_ kind: SocketEvent.Kind) -> Bool {
        switch kind {
        case .readQueued, .readPartial, .readDone, .readFailed, .writeQueued, .writePartial, .writeDone, .writeFailed,
            .readTimedOut, .writeTimedOut, .timeoutExtended, .timeoutChanged, .datagramSent,
            .datagramFailed:
            true
        case .resolving, .resolved, .connectAttempt, .connectRefused, .connected, .listening, .accepted, .acceptFailed,
            .readingPaused, .readingResumed, .readInterestOff, .readInterestOn, .writeBlocked, .writeUnblocked,
            .peerClosed, .halfClosed, .closeAsked, .movedAway, .movedHere, .closed, .turnedAway, .aboveHighMark,
            .belowLowMark, .tlsQueued, .tlsBegan, .trustAsked, .trustAnswered, .secured, .alertReceived, .alertSent,
            .bound, .datagramsReceived, .datagramsDropped, .datagramsTruncated, .datagramError, .groupJoined,
            .groupLeft, .dissolved:
            false
        }
    }

    /// What the numbers of an event say; an address that was tried is named while its session is listed. `answer` is the
    /// key that answers a question.
    package static func detail(
        _ event: SocketEvent, of socket: SocketSnapshot? = nil, answer: @autoclosure () -> String
    ) -> String {
        switch event.kind {
        case .resolving: "asking the resolver"
        case .resolved: event.first == 1 ? "1 address" : "\(event.first) addresses"
        case .connectAttempt: attempt(event.first, of: socket)
        case .connectRefused:
            "\(attempt(event.first, of: socket)): \(ErrnoWords.name(Int32(truncatingIfNeeded: event.second)))"
        case .turnedAway: "a waiting connection was refused with RST"
        case .timeoutChanged:
            event.first < 0 ? "to none" : "to \(Format.duration(.milliseconds(event.first)))"
        case .aboveHighMark: "\(Format.size(event.first)) queued, more than the high mark"
        case .belowLowMark: "\(Format.size(event.first)) queued, at the low mark or below it"
        case .connected: socket.map { $0.role == .accepted ? "from \($0.peerText)" : "" } ?? ""
        case .listening: socket?.local.map { "on \($0)" } ?? ""
        case .readingPaused, .readingResumed: ""
        case .closed: socket?.ending ?? ""
        case .accepted, .movedAway: "as #\(event.first)"
        case .movedHere: "was #\(event.first) of another engine"
        case .acceptFailed: ErrnoWords.name(Int32(truncatingIfNeeded: event.first))
        case .readQueued: ""
        case .readPartial, .writePartial: "+\(event.first), \(event.second) so far"
        case .readDone, .writeDone, .writeQueued: "\(event.first) B"
        case .readFailed: event.second > 0 ? "\(event.first) of \(event.second) B" : "\(event.first) B so far"
        case .writeFailed: "\(event.first) of \(event.second) B"
        case .readTimedOut, .writeTimedOut:
            "after \(Format.duration(.milliseconds(event.second))), \(event.first) B so far"
        case .timeoutExtended: "by \(Format.duration(.milliseconds(event.first)))"
        case .readInterestOff: "bytes are there, no read takes them"
        case .readInterestOn: "a read takes bytes again"
        case .writeBlocked: "the kernel takes no more; \(Format.size(event.first)) pending here"
        case .writeUnblocked: "the kernel takes bytes again"
        case .peerClosed:
            switch event.first {
            case 1: "unread bytes lie before it"
            case 2: "reset, or closed on both sides; unread bytes lie before it"
            default: ""
            }
        case .halfClosed: event.first == 1 ? "what still comes is thrown away" : "we sent FIN and go on reading"
        case .closeAsked: mode(event.first)
        case .tlsQueued, .tlsBegan, .trustAsked, .trustAnswered, .secured, .alertReceived, .alertSent:
            TLSWords.detail(event, answer: answer())
        case .bound, .datagramsReceived, .datagramSent, .datagramFailed, .datagramsDropped, .datagramsTruncated,
            .datagramError, .groupJoined, .groupLeft, .dissolved:
            DatagramWords.detail(event, of: socket)
        }
    }

    private static func attempt(_ index: Int, of socket: SocketSnapshot?) -> String {
        let attempts = socket?.connect?.attempts ?? []
        return attempts.indices.contains(index) ? attempts[index].address.description : "address \(index + 1)"
    }

    private static func mode(_ index: Int) -> String {
        guard CloseMode.allCases.indices.contains(index) else { return "" }
        switch CloseMode.allCases[index] {
        case .now: return "at once"
        case .afterReading: return "after the queued reads"
        case .afterWriting: return "after the queued writes"
        case .afterBoth: return "after the queued reads and writes"
        case .reset: return "with RST"
        }
    }

    /// One sentence between the bytes of the talk; `isAsking`: its operation still waits for an answer, which the key
    /// `answer` gives.
    package static func note(
        _ event: SocketEvent, of socket: SocketSnapshot?, isAsking: Bool, answer: String
    ) -> String {
        let detail = detail(event, of: socket, answer: answer)
        switch event.kind {
        case .readTimedOut, .writeTimedOut:
            let text = "timed out after \(Format.duration(.milliseconds(event.second)))"
            return isAsking ? text + "; \(answer) answers: extend, fail it, close" : text
        case .timeoutExtended: return "extended \(detail)"
        case .timeoutChanged: return "timeout changed \(detail)"
        case .turnedAway, .aboveHighMark, .belowLowMark: return detail
        case .peerClosed where event.first == 2: return "the peer is gone: \(detail)"
        case .peerClosed: return detail.isEmpty ? "peer sent FIN" : "peer sent FIN; \(detail)"
        case .halfClosed: return event.first == 1 ? "we sent FIN; what still comes is thrown away" : detail
        case .closeAsked: return "close asked, \(detail)"
        case .readingPaused: return socket?.role == .listener ? "accepting is paused" : "reading paused by hand"
        case .readingResumed: return socket?.role == .listener ? "accepting goes on" : "reading resumed"
        case .accepted: return "accepted \(detail)"
        case .connectRefused: return "connect: \(detail)"
        case .tlsQueued, .tlsBegan, .trustAsked, .trustAnswered, .secured, .alertReceived, .alertSent:
            return TLSWords.note(event, answer: answer)
        case .resolving, .resolved, .connectAttempt, .connected, .listening, .acceptFailed, .readQueued, .readPartial,
            .readDone, .readFailed, .writeQueued, .writePartial, .writeDone, .writeFailed, .readInterestOff,
            .readInterestOn, .writeBlocked, .writeUnblocked, .movedAway, .movedHere, .bound, .datagramsReceived,
            .datagramSent, .datagramFailed, .datagramsDropped, .datagramsTruncated, .datagramError, .groupJoined,
            .groupLeft, .dissolved, .closed:
            return detail.isEmpty ? name(event.kind) : "\(name(event.kind)): \(detail)"
        }
    }

    /// Whether a person should look at it.
    package static func isWarning(_ kind: SocketEvent.Kind) -> Bool {
        switch kind {
        case .connectRefused, .acceptFailed, .readFailed, .writeFailed, .readTimedOut, .writeTimedOut, .trustAsked,
            .datagramFailed, .datagramsDropped, .datagramsTruncated, .datagramError:
            true
        case .resolving, .resolved, .connectAttempt, .connected, .listening, .accepted, .readQueued, .readPartial,
            .readDone, .writeQueued, .writePartial, .writeDone, .timeoutExtended, .readingPaused, .readingResumed,
            .readInterestOff, .readInterestOn, .writeBlocked, .writeUnblocked, .peerClosed, .halfClosed, .closeAsked,
            .movedAway, .movedHere, .closed, .timeoutChanged, .turnedAway, .aboveHighMark, .belowLowMark, .tlsQueued,
            .tlsBegan, .trustAnswered, .secured, .alertReceived, .alertSent, .bound, .datagramsReceived,
            .datagramSent, .groupJoined, .groupLeft, .dissolved:
            false
        }
    }
}

/// Errno values in few words; Linux's numbers.
package enum ErrnoWords {
    private static let names: [Int32: String] = [
        2: "no such file", 13: "permission denied", 24: "too many open files", 32: "broken pipe",
        90: "message too long",
        98: "address in use", 99: "address not available", 101: "network unreachable", 103: "aborted",
        104: "reset by peer", 110: "timed out", 111: "refused", 113: "no route to host",
    ]

    /// The short name; `errno 5` where there is none.
    package static func name(_ errno: Int32) -> String { known(errno) ?? "errno \(errno)" }

    package static func known(_ errno: Int32) -> String? { names[errno] }
}
