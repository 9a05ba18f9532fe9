import SocketCore

/// The effects of faults and breakpoints on a connection, in words.
package enum FaultWords {
    /// Returns the longest form that fits a cell of the list, `HELD 3.2s`, `FAULT < slice 7`, or `nil` if there is no
    /// effect.
    package static func cell(_ fault: FaultSnapshot?, now: MonotonicTime, width: Int) -> String? {
        guard let fault else { return nil }
        if let hold = fault.hold {
            let time = Format.duration(now - hold.since)
            return Shorten.fitting(["HELD \(time)", "HELD"], in: width)
        }
        guard let rule = fault.rules.first(where: { $0.count > 0 }) else { return nil }
        let more = fault.rules.count { $0.count > 0 } > 1 ? " +\(fault.rules.count { $0.count > 0 } - 1)" : ""
        let text = aimed(rule.text)
        let effect = text.prefix { !$0.isLetter } + rule.effect
        return Shorten.fitting(
            ["FAULT \(text)\(more)", "FAULT \(text)", "FAULT \(effect)", text, String(effect), rule.effect, "FAULT"],
            in: width)
    }

    /// Returns `< latency 200ms` for `downstream latency 200ms`: bytes that pass this way have the same mark.
    private static func aimed(_ text: String) -> String {
        for (way, mark) in [("upstream ", "> "), ("downstream ", "< ")] where text.hasPrefix(way) {
            return mark + text.dropFirst(way.count)
        }
        return text
    }

    /// `1 latency 200ms x12, 2 slice 7 x3`
    package static func rules(_ fault: FaultSnapshot) -> String {
        fault.rules.map { "\($0.number) \($0.text) x\($0.count)" }.joined(separator: ", ")
    }

    /// Returns notes about the rules.
    package static func notes(_ fault: FaultSnapshot) -> String {
        var notes: [String] = []
        if fault.delayedBytes > 0 { notes.append("\(Format.size(fault.delayedBytes)) delayed") }
        if fault.droppedBytes > 0 { notes.append("\(Format.size(Int(clamping: fault.droppedBytes))) dropped") }
        if fault.isLimitedByBuffer { notes.append("rules limited by buffer") }
        if fault.overlaps { notes.append("no rule by exchange: requests overlap or are hidden") }
        return notes.joined(separator: ", ")
    }

    /// `by breakpoint 1 (bytes 4711) for 3.2s`
    package static func held(_ hold: FaultSnapshot.Hold, now: MonotonicTime) -> String {
        "by breakpoint \(hold.breakpoint) (\(hold.text)) for \(Format.duration(now - hold.since))"
    }

    /// Returns the longest form that fits of the words about a hold.
    package static func held(_ hold: FaultSnapshot.Hold, now: MonotonicTime, width: Int) -> String {
        let time = Format.duration(now - hold.since)
        return Shorten.fitting(
            [held(hold, now: now), "by breakpoint \(hold.breakpoint) for \(time)", "by \(hold.breakpoint), \(time)"],
            in: width)
    }

    /// `#2 held by breakpoint 1 (bytes 4711) for 3.2s, upstream 4289 B, downstream 0 B`
    package static func line(_ session: SocketID?, _ hold: FaultSnapshot.Hold, now: MonotonicTime) -> String {
        "\(session.map { "\($0)" } ?? "-") held \(held(hold, now: now)), upstream \(hold.upstreamBytes) B, "
            + "downstream \(hold.downstreamBytes) B"
    }

    /// Returns the held bytes of one direction: `> 4.2K  "GET / HTTP/1.1\r\n"...`, or `nil` if there are none.
    package static func next(_ mark: String, _ count: Int, _ bytes: [UInt8], width: Int) -> String? {
        guard count > 0 else { return nil }
        let head = "\(mark) \(Format.size(count))  "
        var shown = bytes.count
        func text() -> String {
            "\(head)\"\(EscapedText.show(Array(bytes.prefix(shown))))\"" + (shown < count ? "..." : "")
        }
        while shown > 1, text().count > width { shown -= 1 }
        return text()
    }

    package static func waiting(_ hold: FaultSnapshot.Hold) -> String {
        "waiting > \(Format.size(hold.upstreamBytes)) < \(Format.size(hold.downstreamBytes))"
    }
}
