import InspectorCore
import SocketCore

/// Items as described by a dissector.
extension TrafficDocument {
    private static let indent = 4

    /// Returns the item's own line, a description for each of its frames, and its tree if it is expanded.
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

    /// Returns remarks about the dissecting itself, shown below the traffic.
    static func remarks(_ model: Model) -> [String] {
        // A missing payload is explained in its place.
        if let refusal = model.whyNotDissected { return refusal == model.payloadRefusal ? [] : [refusal] }
        let dissection = model.dissection
        var remarks: [String] = []
        if case .ended(let reason?) = dissection.stage { remarks.append(reason) }
        if dissection.left > 0 { remarks.append("\(dissection.left) more lines of tshark output not kept") }
        if dissection.cut > 0 { remarks.append("\(dissection.cut) lines of tshark output were too long; cut") }
        return remarks
    }
}
