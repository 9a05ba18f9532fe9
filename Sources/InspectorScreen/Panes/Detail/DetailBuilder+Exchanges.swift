import InspectorCore
import SocketCore

/// The requests of a connection, and how long their answers took.
extension DetailBuilder {
    var exchanges: [Row] {
        guard let facts = socket.exchanges, facts.count > 0 || facts.overlaps else { return [] }
        guard !facts.overlaps else {
            let words = Line("requests overlap: no answer times", Style(.dim))
            return [rule("answers")] + wrapped([words], separator: "  ")
        }
        var words = [Line(Format.count(Int(clamping: facts.count), "request"))]
        if let since = facts.unansweredSince {
            let asked = Format.size(Int(clamping: facts.unansweredBytes))
            let waits = socket.isLive ? "waiting \(Format.duration(max(.zero, model.now - since)))" : "never answered"
            words.append(Line("\(waits): a request of \(asked)", Style(.warn)))
        }
        for (name, time) in [
            ("median", facts.median), ("99 %", facts.late), ("worst", facts.worst), ("last", facts.last),
        ] {
            if let time { words.append(Line("\(name) \(Format.duration(time))")) }
        }
        return [rule("answers")] + wrapped(words, separator: "   ") + spread(facts)
    }

    /// Returns how often which answer times occurred, from the shortest to the longest.
    private func spread(_ facts: ExchangeSnapshot) -> [Row] {
        guard let least = facts.least, let worst = facts.worst, facts.spread.contains(where: { $0 > 0 }) else {
            return []
        }
        var line = Line(" \(Format.duration(least)) ", Style(.dim))
        line.append(model.glyphs.sparkline(facts.spread.map(Float.init), width: max(0, width - 16)), Style(.received))
        line.append(" \(Format.duration(worst))", Style(.dim))
        return [Row(left: line)]
    }
}
