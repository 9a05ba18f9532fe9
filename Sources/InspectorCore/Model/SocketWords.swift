import SocketCore

/// The words in which the screen speaks of a socket. None of them is sanitized yet.
extension SocketSnapshot {
    /// Whether it is not over.
    package var isLive: Bool { phase != .closed }

    /// The WebSocket that it is by itself: a person sends messages on it and not bytes.
    package var ownWebSocket: WebSocketPicture? { webSocket?.observation == nil ? webSocket : nil }

    /// The WebSocket of others whose frames pass here.
    package var passingWebSocket: WebSocketPicture? {
        webSocket?.observation != nil && webSocket?.traffic != nil ? webSocket : nil
    }

    /// Whether bytes may be written to it.
    package var acceptsWrites: Bool {
        guard role != .listener, !isWriteShut, !flags.contains(.forbidReadsWrites) else { return false }
        switch phase {
        case .resolving, .connecting, .connected, .open: return true
        case .listening, .lingering, .closed: return false
        }
    }

    /// Whether a read may be queued on it.
    package var acceptsReads: Bool {
        guard role != .listener, !flags.contains(.forbidReadsWrites) else { return false }
        switch phase {
        case .resolving, .connecting, .connected, .open: return true
        case .listening, .lingering, .closed: return false
        }
    }

    /// The state in TCP's own words, from the kernel where it was asked, else from what the engine knows.
    package var stateWord: String {
        switch phase {
        case .closed: return "closed"
        case .resolving: return "RESOLVING"
        // As ss says of a datagram socket without a peer.
        case .open: return "UNCONN"
        case .connecting, .listening, .connected, .lingering: break
        }
        // A half-closed Unix-domain socket is still ESTAB to the kernel, and its FIN needs no acknowledgement.
        let isUnix = peer?.isUnix ?? false
        if let state = kernel?.state, !state.isEmpty, !isUnix { return state }
        switch phase {
        case .resolving, .connecting: return "SYN-SENT"
        case .listening: return "LISTEN"
        case .lingering: return isUnix ? "FIN-WAIT-2" : "FIN-WAIT"
        case .connected, .open, .closed: break
        }
        let peerEnded = flags.contains(.socketHasReadEOF)
        if peerEnded { return isWriteShut ? "LAST-ACK" : "CLOSE-WAIT" }
        guard isWriteShut else { return "ESTAB" }
        return isUnix ? "FIN-WAIT-2" : "FIN-WAIT"
    }

    /// `>` it connected, `<` it was accepted, `=` it listens, `~` it exchanges datagrams.
    package var roleMark: String {
        switch role {
        case .client: ">"
        case .accepted: "<"
        case .listener: "="
        case .datagram: "~"
        }
    }

    /// The role in one word.
    package var roleWord: String {
        switch role {
        case .client: "client"
        case .accepted: "accepted"
        case .listener: "listener"
        case .datagram: "datagram"
        }
    }

    /// The other end as a person knows it: what was asked for, or who came. Of a listener its own address.
    package var peerText: String {
        switch role {
        case .client: return target.isEmpty ? peer?.description ?? "-" : target
        case .accepted:
            guard let peer else { return "-" }
            return peer == .unnamed ? "unix: (unnamed)" : peer.description
        // The name that the kernel gave to a Unix-domain socket without one says nothing to a person.
        case .datagram where peer != nil || local?.port == nil:
            return target.isEmpty ? peer?.description ?? "-" : target
        case .listener, .datagram:
            guard let local else { return target.isEmpty ? "-" : target }
            guard let port = local.port, let host = local.host, host == "0.0.0.0" || host == "::" else {
                return local.description
            }
            return "*:\(port)"
        }
    }

    /// How it ended, in one sentence; nil: it lives.
    package var ending: String? {
        closed.map { (WebSocketWords.ending(self) ?? CloseWords.sentence($0)) + (lossWords.map { "; " + $0 } ?? "") }
    }

    /// `lost 15M`: bytes for this leg of a relay that could not be delivered; `nil` if there are none.
    package var lossWords: String? {
        relay.flatMap { $0.lostBytes > 0 ? "lost \(Format.size($0.lostBytes))" : nil }
    }

    /// How it ended, in few words, for a row of the list.
    package func shortEnding(timeout: TimeoutNote?) -> String? {
        shortCause(timeout: timeout).map { $0 + (lossWords.map { ", " + $0 } ?? "") }
    }

    private func shortCause(timeout: TimeoutNote?) -> String? {
        guard let closed else { return nil }
        guard let facts = webSocket, let report = facts.report else {
            return CloseWords.short(closed, timeout: timeout)
        }
        guard facts.observation == nil else { return WebSocketWords.passedShort(facts, report) }
        return "\(report.origin == .local ? "we" : "peer") closed \(report.failure?.closeCode ?? report.code)"
    }

    /// Bytes that lie unread: in the kernel, and read ahead here.
    package var unreadBytes: Int {
        role == .listener ? 0 : (kernel?.receiveQueue ?? 0) + prebuffered
    }

    /// The read or write that waits for a person's answer, the read first.
    package var asking: OperationSnapshot? {
        if reading.current?.isAsking == true { return reading.current }
        return writing.current?.isAsking == true ? writing.current : nil
    }
}

extension OperationSnapshot.Kind {
    /// `length 4096`, `until CRLF`, `any`, `write`.
    package var words: String {
        switch self {
        case .read(let kind): kind.words
        case .write: "write"
        }
    }
}

extension ReadRequest.Kind {
    package var words: String {
        switch self {
        case .available: "any"
        case .length(let count): "length \(count)"
        case .delimiter(let terminator, _): "until \(Self.name(of: terminator))"
        case .frame(let prefix): "frame u\(prefix.width.rawValue * 8)"
        }
    }

    /// The most bytes it takes, where a limit was given.
    package var limit: Int? {
        switch self {
        case .available(let limit), .delimiter(_, let limit): limit
        case .frame(let prefix): prefix.limit
        case .length: nil
        }
    }

    /// `CRLF`, `LF`, `NUL`, or the bytes in quotes.
    package static func name(of terminator: [UInt8]) -> String {
        switch terminator {
        case [0x0D, 0x0A]: "CRLF"
        case [0x0D, 0x0A, 0x0D, 0x0A]: "CRLFCRLF"
        case [0x0A]: "LF"
        case [0x0D]: "CR"
        case [0x00]: "NUL"
        default: "\"\(EscapedText.show(terminator))\""
        }
    }
}

/// How a session ended, in few words and in a sentence.
package enum CloseWords {
    /// For a row of the list: `peer FIN`, `by us`, `refused`, `timeout 30s t5`.
    package static func short(_ record: CloseRecord, timeout: TimeoutNote?) -> String {
        guard let error = record.error else { return byUs(record.mode) }
        switch error.reason {
        case .closedByPeer: return "peer FIN"
        case .readTimeout, .writeTimeout:
            guard let timeout else { return "timeout" }
            return "timeout \(Format.duration(timeout.elapsed)) t\(timeout.tag)"
        case .connectTimeout: return "connect timeout"
        case .idleTimeout: return "idle timeout"
        case .readMaxedOut: return "read limit reached"
        case .disconnected: return byUs(record.mode)
        case .system(let errno): return ErrnoWords.known(errno) ?? error.detail
        case .resolver: return error.detail.isEmpty ? "unknown host" : error.detail
        case .tls(let failure): return TLSWords.short(failure)
        case .badConfiguration, .badParameter, .notConnected, .cancelled, .sendTimeout, .webSocket, .other:
            return error.detail
        }
    }

    private static func byUs(_ mode: CloseMode?) -> String {
        switch mode {
        case .none, .now, .afterReading, .afterWriting, .afterBoth: "by us"
        case .reset: "reset by us"
        }
    }

    /// For the talk and the detail: the whole story in one sentence.
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
            case .closedByPeer: return "the peer closed (FIN)"
            case .disconnected: return byUsSentence(record.mode)
            case .system, .resolver, .readTimeout, .writeTimeout, .connectTimeout, .idleTimeout, .readMaxedOut,
                .badConfiguration, .badParameter, .notConnected, .cancelled, .sendTimeout, .tls, .webSocket,
                .other:
                return error.detail.isEmpty ? short(record, timeout: nil) : error.detail
            }
        }
        return byUsSentence(record.mode)
    }

    private static func byUsSentence(_ mode: CloseMode?) -> String {
        switch mode {
        case .none, .now: "by us"
        case .afterReading: "by us, after the last read"
        case .afterWriting: "by us, after the last write"
        case .afterBoth: "by us, after the last read and write"
        case .reset: "by us, with RST"
        }
    }
}

/// The last timeout of a session, as its event told.
package struct TimeoutNote: Hashable, Sendable {
    package var elapsed: Duration
    package var tag: Int
}

extension EngineSnapshot {
    /// The session with this name. The list is in the order of ids, so this is a binary search; a list in another
    /// order is searched through.
    package func socket(_ id: SocketID) -> SocketSnapshot? {
        position(of: id).map { sockets[$0] }
    }

    /// Where in `sockets` the session stands.
    package func position(of id: SocketID) -> Int? {
        var low = 0
        var high = sockets.count
        while low < high {
            let middle = (low + high) / 2
            if sockets[middle].id < id {
                low = middle + 1
            } else {
                high = middle
            }
        }
        if low < sockets.count && sockets[low].id == id { return low }
        return sockets.firstIndex { $0.id == id }
    }
}
