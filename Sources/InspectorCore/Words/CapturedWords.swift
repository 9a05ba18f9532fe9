import SocketCore

/// The words for a captured connection. Its client is `local`, its server is `peer`.
package enum CapturedWords {
    /// Returns `api.py[4711]+3`, or `nil` if the program is not known.
    package static func program(_ end: CapturedEnds.End?) -> String? {
        end.flatMap { $0.host.program == nil ? nil : $0.host.programText }
    }

    /// Returns what its received and its sent bytes are called: of a captured connection, by its ends.
    package static func ways(_ socket: SocketSnapshot) -> (in: String, out: String) {
        socket.ends == nil ? ("rx", "tx") : ("S>C", "C>S")
    }

    /// Returns how it ended, with the reason that a reset's text gives. The end that sent FIN first closed it.
    package static func ending(_ record: CloseRecord) -> String {
        let how =
            switch reason(record) {
            case .clientClose: "client closed first (FIN)"
            case .serverClose: "server closed first (FIN)"
            case .clientReset: "client reset (RST)"
            case .serverReset: "server reset (RST)"
            }
        guard let text = record.error?.detail, !text.isEmpty else { return how }
        return "\(how): \(text)"
    }

    /// Which end ended a captured connection, and how. The names are those in JSON.
    package enum Reason: String, CaseIterable {
        case clientClose = "client_close"
        case serverClose = "server_close"
        case clientReset = "client_reset"
        case serverReset = "server_reset"
    }

    package static func reason(_ record: CloseRecord) -> Reason {
        switch record.error?.reason {
        case nil, .disconnected: record.mode == .reset ? .clientReset : .clientClose
        case .closedByPeer: .serverClose
        default: .serverReset
        }
    }

    /// Returns the words for an event that is told from the view of one end, or `nil` if it isn't.
    static func detail(_ event: SocketEvent) -> String? {
        switch event.kind {
        case .halfClosed: "client closed its side (FIN)"
        case .peerClosed: "server closed its side (FIN)"
        default: nil
        }
    }

    /// `unread 125K  unsent 0  waits: send 48M for 7s`
    package static func queues(_ end: CapturedEnds.End?) -> [(text: String, role: Role)] {
        guard let host = end?.host else { return [("unread -", .dim), ("unsent -", .dim)] }
        var words: [(text: String, role: Role)] = [
            ("unread \(host.unreadText ?? "-")", host.unread ?? 0 > 0 ? .warn : .dim),
            ("unsent \(host.unsentText ?? "-")", host.unsent ?? 0 > 0 ? .sent : .dim),
        ]
        if let asks = host.asks {
            let asking = asks == "nobody" ? "no reader" : "waits: \(asks)"
            words.append((asking + (host.asksFor.map { " for \(Format.duration($0))" } ?? ""), .plain))
        }
        return words
    }
}
