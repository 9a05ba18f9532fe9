import SocketCore
import SocketWorkshop

/// Exports the client's part of a conversation as a script that connects, sends the same bytes and waits for answers.
package enum ScriptExport {
    /// The most bytes of one `send`, which fit a line of a script when escaped.
    private static let most = 12_000
    /// The most bytes of an answer to wait for. Its beginning identifies it.
    private static let longestWait = 60

    /// How long to wait for each answer. Without it, a number at the beginning of an answer would be parsed as the
    /// duration.
    private static let patience = "10s"

    /// Returns the script. Throws why the conversation can't be one.
    package static func text(_ conversation: ExportedConversation, _ row: ExportRow) throws(ExportProblem) -> String {
        let turns = turns(of: conversation, isStream: row.isStream)
        guard turns.contains(where: { $0.side == .client }) else { throw ExportProblem("its client sent nothing") }
        // A blank or a newline would begin another word or step.
        guard !row.target.isEmpty, row.target.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
            throw ExportProblem("its address has spaces or control characters, so no script can connect to it")
        }
        var lines = [
            "# The client's part of \(row.id). To replay it to another server, change the address.",
            "connect \(row.target)", "wait connected",
        ]
        for (index, turn) in turns.enumerated() {
            switch turn.side {
            case .client:
                guard row.isStream || turn.bytes.count <= most else {
                    throw ExportProblem("a datagram of \(turn.bytes.count) bytes does not fit in a line of a script")
                }
                if turn.bytes.isEmpty { throw ExportProblem("a script cannot send an empty datagram") }
                for start in stride(from: 0, to: turn.bytes.count, by: most) {
                    lines.append("send " + line(Array(turn.bytes[start...].prefix(most))))
                }
            case .server:
                if let text = awaited(turn.bytes) {
                    lines.append("wait \(patience) \(text)")
                } else if index + 1 < turns.count {
                    lines.append("# \(turn.bytes.count) bytes arrived here without text to wait for")
                }
            }
        }
        // Queued bytes are sent before the end. An answer shows that all were.
        if lines.last?.hasPrefix("send ") == true { lines.append("close after-writes") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the bytes that one side sent until the other did. Datagrams stay separate.
    private static func turns(of conversation: ExportedConversation, isStream: Bool) -> [ExportedConversation.Part] {
        var turns: [ExportedConversation.Part] = []
        for part in conversation.parts {
            // Writes stay separate. Reads are joined to one answer.
            if isStream, part.side == .server, turns.last?.side == .server, !part.followsGap {
                turns[turns.count - 1].bytes += part.bytes
            } else {
                turns.append(part)
            }
        }
        return turns
    }

    /// Returns escaped text that loses no blank at either end.
    private static func line(_ bytes: [UInt8]) -> String {
        var text = EscapedText.show(bytes)
        if text.hasPrefix(" ") { text = "\\x20" + text.dropFirst() }
        if text.hasSuffix(" ") { text = text.dropLast() + "\\x20" }
        return text
    }

    /// Returns the first run of three or more printable characters.
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

/// One sentence that says why a session can't be exported as requested.
package struct ExportProblem: Error, Equatable, Sendable {
    package var sentence: String
    package init(_ sentence: String) { self.sentence = sentence }
}
