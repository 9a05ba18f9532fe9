import SocketKit

extension StandardStream {
    /// The bytes that are joined for one write. All lines of 20,000 sockets, joined, escaped and copied, would take four
    /// times their memory.
    private static let piece = 64 << 10

    /// Writes lines, and stops at the first write that fails or is interrupted.
    func write(lines: [String], until interruption: Interruption) -> Outcome {
        var text = ""
        for line in lines {
            text += line + "\n"
            guard text.utf8.count >= Self.piece else { continue }
            let outcome = write(text, until: interruption)
            guard outcome == .written else { return outcome }
            text.removeAll(keepingCapacity: true)
        }
        return text.isEmpty ? .written : write(text, until: interruption)
    }
}
