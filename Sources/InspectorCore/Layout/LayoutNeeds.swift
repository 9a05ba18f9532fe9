import SocketCore

/// How many rows the panes can use, so that each gets those, and the traffic the rest.
package struct LayoutNeeds: Hashable, Sendable {
    /// The list, its heading included.
    package var listRows = 0
    /// The warnings, their rule included; 0: there are none.
    package var warningRows = 0
    /// Whether a connection is selected, so that there is more than the list to show.
    package var hasSelection = false
    /// Whether the pane with the focus takes the whole screen.
    package var isZoomed = false
}

extension Model {
    /// Where everything stands on the screen now.
    package var layout: ScreenLayout { layout(size, tab) }

    /// Where everything would stand on a screen of this size.
    package func layout(_ size: Size, _ tab: Tab) -> ScreenLayout {
        var needs = LayoutNeeds()
        needs.hasSelection = selected != nil
        needs.listRows = max(2, list.rows.count + 1)
        needs.isZoomed = isZoomed
        if findings.count > 0 {
            let width = ScreenLayout.listWidth(size, tab, isZoomed: isZoomed)
            needs.warningRows = 1 + WarningLines(self, width: width).lines.count
        }
        return ScreenLayout(size, tab, needs)
    }
}

/// The warnings as rows, wrapped: those about the selected connection first.
package struct WarningLines {
    /// More than these are only counted.
    private static let most = 8
    /// Columns before the sentence.
    private static let indent = 8

    package private(set) var lines: [Line] = []
    /// The warning that each of the lines is about.
    private var owners: [Int] = []

    package init(_ model: Model, width: Int) {
        for (index, finding) in model.findings.first(Self.most, selected: model.list.selected).enumerated() {
            let wrapped = Self.wrapped(finding, model, width: width - 1)
            lines += wrapped
            owners += Array(repeating: index, count: wrapped.count)
        }
    }

    /// How many warnings stand whole in the first so many lines.
    package func count(in rows: Int) -> Int {
        guard rows < owners.count else { return (owners.last ?? -1) + 1 }
        return owners[max(0, rows)]
    }

    private static func wrapped(_ finding: Finding, _ model: Model, width: Int) -> [Line] {
        var first = Line(" ! ", Style(.warn, [.bold]))
        first.append(Format.padded(finding.socket?.description ?? "all", to: 4) + " ", Style(.heading))
        var words: [Line] = []
        for word in (finding.sentence + model.evidence(of: finding)).split(separator: " ") {
            var line = Line()
            model.sanitizer.append(String(word), to: &line)
            words.append(line)
        }
        words.append(Line("(\(finding.lint))", Style(.dim)))
        var lines = Wrapping.rows(words, separator: " ", indent: indent, width: width)
        first.pad(to: indent)
        first.append(lines[0].columns(indent..<lines[0].width))
        lines[0] = first
        return lines
    }
}

extension Model {
    /// What the other end's own kernel queue says of it, where that is on this host: `; 4.0M unread in python3[77]`.
    fileprivate func evidence(of finding: Finding) -> String {
        guard finding.lint == "write-stalled", let id = finding.socket, let end = peers[id],
            let unread = end.unread, unread > 0, let program = end.program
        else { return "" }
        return "; \(Format.size(unread)) unread in \(program.title)"
    }
}
