import SocketCore

/// A verdict as printed by `socktui why`: the headline, a line for each end, and the next step.
package enum HostParagraph {
    /// Returns the lines, without line endings.
    package static func lines(_ verdict: Verdict) -> [String] {
        let time = verdict.lasting.map { " for at least \(Format.duration($0))" } ?? ""
        let why = verdict.reason.map { ": \($0)" } ?? ""
        let more = verdict.more > 0 ? "; the same on \(verdict.more) more sockets" : ""
        var lines = ["\(heading(verdict))\(time): \(verdict.claim)\(why)\(more)."]
        lines += ends(verdict.ends)
        switch verdict.pairing {
        case .counters?: lines.append("Both ends agree in addresses and in bytes counted.")
        case .addresses?: lines.append("The ends are paired by their addresses only.")
        case nil: break
        }
        if let next = verdict.next ?? verdict.hostRemedy { lines.append("Next: \(next)") }
        return lines
    }

    /// Returns a heading such as `DEADLOCK`. A note is not in capitals.
    private static func heading(_ verdict: Verdict) -> String {
        verdict.severity == .note ? "note: \(verdict.lint)" : verdict.lint.uppercased()
    }

    private static let most = 16

    /// Returns the lines with names and descriptors aligned.
    private static func ends(_ ends: [Verdict.End]) -> [String] {
        let shown = ends.prefix(most)
        let places = shown.map { $0.descriptor.map { "fd \($0):" } ?? "" }
        let name = shown.map { TextWidth.of($0.name) }.max() ?? 0, place = places.map(\.count).max() ?? 0
        var lines = zip(shown, places).map { end, text in
            "  \(Format.padded(end.name, to: name)) " + (place > 0 ? Format.padded(text, to: place) + " " : "")
                + end.words
        }
        if ends.count > most { lines.append("  and \(ends.count - most) more") }
        return lines
    }
}
