import Glibc
import InspectorCore
import SocketCore

/// The lines that this user sent, by peer, in a file that only its owner can read. Each record is
/// `mode, ending, peer, line`, separated by tabs, oldest first, with the line escaped. A file that can't be read or
/// written is not an error.
package struct SentLines: Sendable {
    package let path: String
    /// The most lines kept for one peer, and in total. Longer lines are not kept.
    package static let perPeer = 100
    package static let limit = 2_000
    package static let longest = 4_096

    /// The lines in `$XDG_STATE_HOME/socktui/sent`, or `nil` if there is no home folder.
    package static func ofThisUser() -> SentLines? { StateFolder.path("sent").map(SentLines.init) }

    /// Returns all kept lines, oldest first.
    package func all() -> [(peer: String, line: SentLine)] {
        (TextFile.read(path, limit: 16 << 20) ?? "").split(separator: "\n").compactMap { row in
            let parts = row.split(separator: "\t", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 4, let mode = LineMode(rawValue: parts[0]),
                let ending = LineEnding(rawValue: parts[1]),
                case .success(let bytes) = EscapedText.parse(parts[3])
            else { return nil }
            return (parts[2], SentLine(text: String(decoding: bytes, as: UTF8.self), mode: mode, ending: ending))
        }
    }

    /// Returns all kept lines by peer.
    package func byPeer() -> [String: [SentLine]] {
        Dictionary(grouping: all(), by: \.peer).mapValues { $0.map(\.line) }
    }

    /// Adds a line. Removes an earlier identical line to that peer.
    package func add(_ line: SentLine, to peer: String) {
        guard line.text.utf8.count <= Self.longest, !peer.contains(where: { $0 == "\t" || $0.isNewline }) else {
            return
        }
        var lines = all().filter { $0.peer != peer || $0.line.text != line.text }
        lines.append((peer, line))
        var surplus = lines.count { $0.peer == peer } - Self.perPeer
        lines.removeAll { entry in
            guard entry.peer == peer, surplus > 0 else { return false }
            surplus -= 1
            return true
        }
        let rows = lines.suffix(Self.limit).map { entry in
            let text = EscapedText.show(Array(entry.line.text.utf8))
            return "\(entry.line.mode.rawValue)\t\(entry.line.ending.rawValue)\t\(entry.peer)\t\(text)\n"
        }
        StateFolder.replace(path, with: rows.joined())
    }
}
