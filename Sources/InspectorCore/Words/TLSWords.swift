import SocketCore

/// TLS in words.
package enum TLSWords {
    /// Returns why a connection failed, for a row of the list: `cert refused`, `alert unknown_ca`.
    package static func short(_ failure: TLSFailure) -> String {
        switch failure {
        case .closedAbort: "cut off (TLS)"
        case .handshakeTimeout: "TLS timeout"
        case .untrusted(_, let text): text
        case .refused: "cert refused"
        case .alert(_, let name): "alert \(name)"
        case .library(let reason): reason
        }
    }

    /// Returns the result of verifying the peer's certificate, in one word.
    package static func name(_ verification: TLSVerification) -> String {
        switch verification {
        case .none: "none"
        case .passed: "verified"
        case .pinned: "pinned"
        case .notRequired: "not verified"
        case .acceptedByHand: "accepted manually"
        case .failed: "failed"
        }
    }

    /// Returns the problem with the certificate, or `nil` if there is none.
    package static func problem(_ verification: TLSVerification) -> String? {
        switch verification {
        case .none, .passed, .pinned: nil
        case .notRequired(_, let text), .failed(_, let text): text
        case .acceptedByHand(let text): text
        }
    }

    /// `1F:0A:...`.
    package static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: ":")
    }

    /// Returns a fingerprint in as many rows as it needs, without truncating it. The bytes of all rows are aligned.
    package static func fingerprint(_ bytes: [UInt8], room: Int) -> [String] {
        let label = "sha256 "
        let count = [32, 16, 8, 4, 2].first { label.count + 3 * $0 - 1 <= room } ?? 1
        return stride(from: 0, to: bytes.count, by: count).map { start in
            let row = hex(Array(bytes[start..<min(start + count, bytes.count)]))
            return (start == 0 ? label : String(repeating: " ", count: label.count)) + row
        }
    }

    package static func phase(_ phase: TLSSnapshot.Phase) -> String {
        switch phase {
        case .queued: "requested"
        case .handshaking: "handshake"
        case .asking: "waiting for your decision"
        case .secure: "established"
        case .failed: "failed"
        }
    }

    /// Returns the text for a column of the list: `1.3`, or the phase of the handshake.
    package static func column(_ tls: TLSSnapshot) -> String {
        guard tls.phase == .secure else { return column(tls.phase) }
        return tls.version.map { $0.hasPrefix("TLSv") ? String($0.dropFirst(4)) : $0 } ?? "-"
    }

    private static func column(_ phase: TLSSnapshot.Phase) -> String {
        switch phase {
        case .queued: "queued"
        case .handshaking: "shaking"
        case .asking: "ASK"
        case .secure: "secure"
        case .failed: "failed"
        }
    }

    /// The words that can follow `tls:` in a filter: whether there is TLS at all, the phase in the words of the filter
    /// or of the column, the version.
    package static let filterWords =
        ["yes", "no"] + TLSSnapshot.Phase.allCases.flatMap { [$0.rawValue, column($0).lowercased()] }
        + TLSSettings.Version.allCases.map(\.rawValue)

    /// Whether such a word, or its beginning, describes a connection.
    package static func matches(_ word: String, _ tls: TLSSnapshot?) -> Bool {
        guard let tls else { return "no".hasPrefix(word) }
        if "yes".hasPrefix(word) || tls.phase.rawValue.hasPrefix(word) { return true }
        if tls.phase == .secure { return column(tls).hasPrefix(word) }
        // Some words have the same beginning.
        let shown = column(tls.phase).lowercased()
        return filterWords.contains(word) ? shown == word : shown.hasPrefix(word)
    }

    /// Returns what the barrier in a queue waits for, and whether it deserves the user's attention. `answer` is the key
    /// that answers a question.
    package static func barrier(
        _ queue: QueueSnapshot, of socket: SocketSnapshot, now: MonotonicTime, answer: String
    ) -> (String, isWarning: Bool) {
        guard let tls = socket.tls else { return ("", false) }
        switch tls.phase {
        case .asking:
            return ("\(answer) answers: \(tls.question?.problem ?? "its certificate awaits a decision")", true)
        case .handshaking:
            let took = tls.began.map { " for \(Format.duration(now - $0))" } ?? ""
            let left = tls.deadline.map { ", \(Format.duration(max(.zero, $0 - now))) left" } ?? ""
            return ("handshake\(took)\(left)", false)
        case .queued, .secure, .failed: break
        }
        guard socket.phase == .connected else { return ("waits for the connection", false) }
        if queue.barrier ?? 0 > 0 { return ("waits for the operations above", false) }
        let (other, noun) =
            socket.reading.barrier == 0 ? (socket.writing, "write") : (socket.reading, "read")
        let tag = other.current.map { " t\($0.tag)" } ?? ""
        let more = (other.barrier ?? 0) > 1 ? " (+\((other.barrier ?? 0) - 1))" : ""
        return ("here; waits for \(noun)\(tag)\(more)", false)
    }
}
