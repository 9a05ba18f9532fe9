/// Writes the client's part of a conversation as a script that connects, sends the same bytes and waits for answers.
package enum ScriptExport {
    /// Bytes of one `send`: escaped, they fit a line of a script.
    private static let most = 12_000
    /// Of an answer, so much is waited for: what it begins with is the part that says what it is.
    private static let longestWait = 60

    /// How long each answer is waited for; without it, a number that an answer begins with would be taken for that.
    private static let patience = "10s"

    /// The script; `problem`: why the conversation cannot be one.
    package static func text(_ conversation: ExportedConversation, _ row: ExportRow) throws(ExportProblem) -> String {
        let turns = turns(of: conversation, isStream: row.isStream)
        guard turns.contains(where: { $0.side == .client }) else { throw ExportProblem("its client sent nothing") }
        // A blank or a newline would begin another word or step.
        guard !row.target.isEmpty, row.target.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
            throw ExportProblem("its address has blanks or control characters, which no script can connect to")
        }
        var lines = [
            "# The client's part of \(row.id). To play it to another server, change the address.",
            "connect \(row.target)", "wait connected",
        ]
        for (index, turn) in turns.enumerated() {
            switch turn.side {
            case .client:
                guard row.isStream || turn.bytes.count <= most else {
                    throw ExportProblem("a datagram of \(turn.bytes.count) bytes does not fit a line of a script")
                }
                if turn.bytes.isEmpty { throw ExportProblem("a script cannot send an empty datagram") }
                for start in stride(from: 0, to: turn.bytes.count, by: most) {
                    lines.append("send " + line(Array(turn.bytes[start...].prefix(most))))
                }
            case .server:
                if let text = awaited(turn.bytes) {
                    lines.append("wait \(patience) \(text)")
                } else if index + 1 < turns.count {
                    lines.append("# \(turn.bytes.count) bytes came here that have no text to wait for")
                }
            }
        }
        // What is still queued is sent before the end. An answer says that all was.
        if lines.last?.hasPrefix("send ") == true { lines.append("close after-writes") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// What one side sent until the other did; datagrams stay apart.
    private static func turns(of conversation: ExportedConversation, isStream: Bool) -> [ExportedConversation.Part] {
        var turns: [ExportedConversation.Part] = []
        for part in conversation.parts {
            // Writes stay writes; what was read is one answer.
            if isStream, part.side == .server, turns.last?.side == .server {
                turns[turns.count - 1].bytes += part.bytes
            } else {
                turns.append(part)
            }
        }
        return turns
    }

    /// Escaped text that no blank at an end is lost of.
    private static func line(_ bytes: [UInt8]) -> String {
        var text = EscapedText.show(bytes)
        if text.hasPrefix(" ") { text = "\\x20" + text.dropFirst() }
        if text.hasSuffix(" ") { text = text.dropLast() + "\\x20" }
        return text
    }

    /// The first run of printable characters, of three or more.
    private static func awaited(_ bytes: [UInt8]) -> String? {
        let runs = bytes.split { !(0x20..<0x7F).contains($0) }.lazy.map { trimmed($0).prefix(longestWait) }
        return runs.first { $0.count >= 3 }.map { String(decoding: trimmed($0), as: UTF8.self) }
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes.drop { $0 == 0x20 }
        while bytes.last == 0x20 { bytes.removeLast() }
        return bytes
    }
}

/// Why a session cannot be exported as was asked: one sentence.
package struct ExportProblem: Error, Hashable, Sendable {
    package var sentence: String
    package init(_ sentence: String) { self.sentence = sentence }
}
