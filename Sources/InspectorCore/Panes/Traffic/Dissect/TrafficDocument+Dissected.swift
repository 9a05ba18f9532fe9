import SocketCore

/// Items as a dissector names them.
extension TrafficDocument {
    private static let indent = 4

    /// The item's own line, what it is in a line for each frame, and its tree when it is expanded.
    func dissectedLines(_ item: TrafficItem, _ gap: Gap?, _ dissection: Dissection) -> [Line] {
        var lines = headLines(item, gap)
        for summary in dissection.summaries[item.sequence] ?? [] {
            lines += foreign(summary, Style(.heading)).hanging(width: width, indent: Self.indent + 2)
        }
        guard expanded.contains(item.sequence) else { return lines }
        if let tree = dissection.trees[item.sequence] {
            for text in tree.lines {
                lines += foreign(text, Style(.plain)).hanging(width: width, indent: Self.indent + 2)
            }
            if tree.more > 0 { lines.append(Line("    ....  \(tree.more) more lines not shown", Style(.dim))) }
        } else if dissection.asked.contains(item.sequence) {
            lines.append(Line("    ....", Style(.dim)))
        }
        return lines
    }

    private func foreign(_ text: String, _ style: Style) -> Line {
        var line = Line(String(repeating: " ", count: Self.indent))
        sanitizer.append(text, style, to: &line)
        return line
    }

    /// What there is to say of the dissecting itself, below the traffic.
    static func remarks(_ model: Model) -> [String] {
        // Why there is no payload is said in its place.
        if let refusal = model.whyNotDissected { return refusal == model.payloadRefusal ? [] : [refusal] }
        let dissection = model.dissection
        var remarks: [String] = []
        if case .ended(let reason?) = dissection.stage { remarks.append(reason) }
        if dissection.left > 0 { remarks.append("\(dissection.left) more lines of tshark not kept") }
        if dissection.cut > 0 { remarks.append("\(dissection.cut) lines of tshark were too long and are cut") }
        return remarks
    }
}
