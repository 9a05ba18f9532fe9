import SocketCore

/// The words for a captured connection. Its client is `local`, its server is `peer`.
package enum CapturedWords {
    /// Returns `api.py[4711]+3`, or `nil` if the program is not known.
    package static func program(_ end: CapturedEnds.End?) -> String? {
        end.flatMap { $0.host.program == nil ? nil : $0.host.programText }
    }

    /// Returns how it ended. The end that sent FIN first closed it.
    package static func ending(_ record: CloseRecord) -> String {
        switch record.error?.reason {
        case nil: record.mode == .reset ? "client reset (RST)" : "client closed first (FIN)"
        case .closedByPeer: "server closed first (FIN)"
        default: "server reset (RST)"
        }
    }

    /// `unread 125K  unsent 0  asks send 48M for 7s`
    package static func queues(_ end: CapturedEnds.End?) -> [(text: String, role: Role)] {
        guard let host = end?.host else { return [("unread -", .dim), ("unsent -", .dim)] }
        var words: [(text: String, role: Role)] = [
            ("unread \(host.unreadText ?? "-")", host.unread ?? 0 > 0 ? .warn : .dim),
            ("unsent \(host.unsentText ?? "-")", host.unsent ?? 0 > 0 ? .sent : .dim),
        ]
        if let asks = host.asks {
            words.append(("asks \(asks)" + (host.asksFor.map { " for \(Format.duration($0))" } ?? ""), .plain))
        }
        return words
    }
}
