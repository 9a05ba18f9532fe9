import SocketCore

/// Words about sockets. None of them is sanitized yet.
extension SocketSnapshot {
    /// Whether it has not ended.
    package var isLive: Bool { phase != .closed }

    /// The WebSocket that it is itself, not one that a relay observes. The user sends messages on it instead of bytes.
    package var ownWebSocket: WebSocketPicture? { webSocket?.observation == nil ? webSocket : nil }

    /// Whether the user sends WebSocket messages on it, because it is our own WebSocket or one that a relay forwards.
    package var takesMessages: Bool { ownWebSocket != nil || linked != nil && passingWebSocket != nil }

    /// Whether it is the leg of a relay's client. The client of a program that is run is connected after its target, so
    /// the numbers tell only for datagrams.
    package var isClientLeg: Bool { linked.map { role == .accepted || role != .client && id < $0 } ?? false }

    /// A WebSocket of other programs whose frames are forwarded here.
    package var passingWebSocket: WebSocketPicture? {
        webSocket?.observation != nil && webSocket?.traffic != nil ? webSocket : nil
    }

    /// The bytes per second that the client of a relay sends. `outRate` is what it gets. An association sends what it
    /// receives from a client.
    package var inRate: Double? { datagrams?.client == nil ? receiveRate : sendRate }
    package var outRate: Double? { datagrams?.client == nil ? sendRate : receiveRate }

    /// Whether bytes can be written to it.
    package var acceptsWrites: Bool {
        guard role != .listener, !isWriteShut, !flags.contains(.forbidReadsWrites) else { return false }
        switch phase {
        case .resolving, .connecting, .connected, .open: return true
        case .listening, .lingering, .closed: return false
        }
    }

    /// Whether a read can be queued on it.
    package var acceptsReads: Bool {
        guard role != .listener, !flags.contains(.forbidReadsWrites) else { return false }
        switch phase {
        case .resolving, .connecting, .connected, .open: return true
        case .listening, .lingering, .closed: return false
        }
    }

    /// The state in TCP's own terms, from the kernel if it was asked, and otherwise from the engine.
    package var stateWord: String {
        // To the kernel, a half-closed Unix-domain socket is still ESTAB.
        if knownState == nil, peer?.family.isIP != false, let state = kernel?.state, !state.isEmpty { return state }
        return (knownState ?? engineState).rawValue
    }

    /// The state if the kernel has no better one.
    private var knownState: StateWord? {
        switch phase {
        case .closed: .closed
        case .resolving: .resolving
        case .open: .unconnected
        case .connecting, .listening, .connected, .lingering: nil
        }
    }

    /// The state known to the engine. The FIN of a Unix-domain socket needs no acknowledgment.
    private var engineState: StateWord {
        let finSent = peer?.family.isIP == false ? StateWord.finWait2 : .finWait
        switch phase {
        case .resolving, .connecting: return .synSent
        case .listening: return .listen
        case .lingering: return finSent
        case .connected, .open, .closed: break
        }
        if flags.contains(.socketHasReadEOF) { return isWriteShut ? .lastAck : .closeWait }
        return isWriteShut ? finSent : .established
    }

    /// `>` if it connected, `<` if it was accepted, `=` if it listens, `~` if it exchanges datagrams.
    package var roleMark: String {
        switch role {
        case .client: ">"
        case .accepted: "<"
        case .listener: "="
        case .datagram: "~"
        }
    }

    /// The other end as the user knows it: the requested target, or the client's address. For a listener, its own
    /// address.
    package var peerText: String {
        switch role {
        case .client: return target.isEmpty ? peer?.description ?? "-" : target
        case .accepted:
            guard let peer else { return "-" }
            return peer == .unnamed ? "unix: (unnamed)" : peer.description
        // The name that the kernel gives to an unnamed Unix-domain socket means nothing to the user.
        case .datagram where peer != nil || local?.port == nil:
            return target.isEmpty ? peer?.description ?? "-" : target
        case .listener, .datagram:
            guard let local else { return target.isEmpty ? "-" : target }
            guard let port = local.port, local.host == "0.0.0.0" else {
                return local.description
            }
            return "*:\(port)"
        }
    }

    /// How it ended, in one sentence, or `nil` if it is live.
    package var ending: String? {
        if ends != nil { return closed.map(CapturedWords.ending) }
        return closed.map {
            (WebSocketWords.ending(self) ?? CloseWords.sentence($0)) + (lossWords.map { "; " + $0 } ?? "")
        }
    }

    /// `lost 15M`: bytes for this leg of a relay that could not be delivered, or `nil` if there are none.
    package var lossWords: String? {
        relay.flatMap { $0.lostBytes > 0 ? "lost \(Format.size($0.lostBytes))" : nil }
    }

    /// Returns how it ended in few words, for a row of the list.
    package func shortEnding(timeout: TimeoutNote?) -> String? {
        shortCause(timeout: timeout).map { $0 + (lossWords.map { ", " + $0 } ?? "") }
    }

    private func shortCause(timeout: TimeoutNote?) -> String? {
        guard let closed else { return nil }
        if ends != nil { return CapturedWords.ending(closed) }
        guard let facts = webSocket, let report = facts.report else {
            return CloseWords.short(closed, timeout: timeout)
        }
        guard facts.observation == nil else { return WebSocketWords.passedShort(facts, report) }
        return "\(report.origin == .local ? "we" : "peer") closed \(report.failure?.closeCode ?? report.code)"
    }

    /// The number of unread bytes, in the kernel and read ahead here.
    package var unreadBytes: Int {
        role == .listener ? 0 : (kernel?.receiveQueue ?? 0) + prebuffered
    }

    /// The read or write that waits for the user's verdict, the read first.
    package var asking: OperationSnapshot? {
        if reading.current?.isAsking == true { return reading.current }
        return writing.current?.isAsking == true ? writing.current : nil
    }
}

/// The values of the STATE column: the kernel's TCP states as written by `ss`, and states that only the engine knows.
package enum StateWord: String, Equatable, Sendable, CaseIterable {
    case established = "ESTAB"
    case synSent = "SYN-SENT"
    case synReceived = "SYN-RECV"
    case finWait1 = "FIN-WAIT-1"
    case finWait2 = "FIN-WAIT-2"
    /// FIN was sent, and the kernel was not asked whether it was acknowledged.
    case finWait = "FIN-WAIT"
    case timeWait = "TIME-WAIT"
    case closed
    case closeWait = "CLOSE-WAIT"
    case lastAck = "LAST-ACK"
    case listen = "LISTEN"
    case closing = "CLOSING"
    case resolving = "RESOLVING"
    /// A datagram socket without a peer.
    case unconnected = "UNCONN"
    case unknown = "UNKNOWN"
}

/// How a session ended, in few words and in a sentence.
package enum CloseWords {
    /// The close modes in the order of the menu. `nil` is a half-close.
    package static let order: [CloseMode?] = [.now, .afterWriting, .afterReading, .afterBoth, nil, .reset]

    /// The end of the peer's stream, in every place that shows it.
    package static let peerClosed = "peer closed its side (FIN)"

    /// Returns the words for a row of the list: `peer closed its side (FIN)`, `locally`, `refused`, `timeout 30s t5`.
    package static func short(_ record: CloseRecord, timeout: TimeoutNote?) -> String {
        guard let error = record.error else { return (record.mode ?? .now).words.short }
        switch error.reason {
        case .closedByPeer: return peerClosed
        case .readTimeout, .writeTimeout:
            guard let timeout else { return "timeout" }
            return "timeout \(Format.duration(timeout.elapsed)) t\(timeout.tag)"
        case .connectTimeout: return "connect timeout"
        case .idleTimeout: return "idle timeout"
        case .readMaxedOut: return "read limit reached"
        case .disconnected: return (record.mode ?? .now).words.short
        case .system(let errno): return ErrnoWords.known(errno) ?? error.detail
        case .resolver: return error.detail.isEmpty ? "unknown host" : error.detail
        case .tls(let failure): return TLSWords.short(failure)
        case .badConfiguration, .badParameter, .notConnected, .cancelled, .sendTimeout, .webSocket, .other:
            return error.detail
        }
    }

    /// Returns the full story in one sentence, for the traffic pane and the detail.
    package static func sentence(_ record: CloseRecord) -> String {
        var text = cause(record)
        var lost: [String] = []
        if record.readsLost > 0 { lost.append("\(Format.count(record.readsLost, "read")) unfinished") }
        if record.writesLost > 0 { lost.append("\(Format.count(record.writesLost, "write")) unfinished") }
        if record.unreadBytes > 0 { lost.append("\(Format.size(record.unreadBytes)) never read") }
        if !lost.isEmpty { text += "; " + lost.joined(separator: ", ") }
        return text
    }

    private static func cause(_ record: CloseRecord) -> String {
        if let error = record.error {
            switch error.reason {
            case .closedByPeer: return peerClosed
            case .disconnected: return (record.mode ?? .now).words.sentence
            case .system, .resolver, .readTimeout, .writeTimeout, .connectTimeout, .idleTimeout, .readMaxedOut,
                .badConfiguration, .badParameter, .notConnected, .cancelled, .sendTimeout, .tls, .webSocket,
                .other:
                return error.detail.isEmpty ? short(record, timeout: nil) : error.detail
            }
        }
        return (record.mode ?? .now).words.sentence
    }
}

/// The words for one way to close.
package struct CloseModeWords: Equatable, Sendable {
    /// The argument of `close`.
    package var typed: String
    /// The letter in the menu. `label` is the text there.
    package var key: Character
    package var label: String
    /// How it ended, for a row of the list. `sentence` is the longer form.
    package var short: String
    package var sentence: String
}

extension CloseMode {
    package var words: CloseModeWords {
        switch self {
        case .now:
            CloseModeWords(
                typed: "now", key: "n", label: "now", short: "locally", sentence: "locally")
        case .afterReading:
            CloseModeWords(
                typed: "after-reads", key: "r", label: "after the queued reads",
                short: "locally", sentence: "locally, after the last read")
        case .afterWriting:
            CloseModeWords(
                typed: "after-writes", key: "w", label: "after the queued writes",
                short: "locally", sentence: "locally, after the last write")
        case .afterBoth:
            CloseModeWords(
                typed: "after-both", key: "b", label: "after both",
                short: "locally", sentence: "locally, after the last read and write")
        case .reset:
            CloseModeWords(
                typed: "reset", key: "t", label: "reset: RST, drop what is queued",
                short: "reset locally", sentence: "locally, with RST")
        }
    }
}

/// The last timeout of a session, from its event.
package struct TimeoutNote: Equatable, Sendable {
    package var elapsed: Duration
    package var tag: Int

    package init(elapsed: Duration, tag: Int) {
        self.elapsed = elapsed
        self.tag = tag
    }
}
