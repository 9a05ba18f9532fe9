import SocketCore

/// The summary of warnings: how many there are, and the first few.
package enum WarningsView {
    package static func draw(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        guard rect.height > 0 else { return }
        let count = model.findings.count
        let title = count == 0 ? Line("no warnings", Style(.dim)) : Line("warnings \(count)", Style(.warn))
        let shown = model.findings.first(rect.height - 1, selected: model.list.selected)
        let right = count > shown.count ? Line("\(count - shown.count) more: f lint:any", Style(.dim)) : Line()
        canvas.rule(row: 0, in: rect, title: title, right: right, model.glyphs)
        for (row, finding) in shown.enumerated() {
            canvas.draw(line(finding, model), row: row + 1, in: rect.left(rect.width - 1), model.glyphs)
        }
    }

    private static func line(_ finding: Finding, _ model: Model) -> Line {
        var line = Line(" ! ", Style(.warn, [.bold]))
        line.append(Format.padded(finding.socket?.description ?? "all", to: 4) + " ", Style(.heading))
        line.append(Format.padded(finding.lint, to: 15) + " ", Style(.warn))
        model.sanitizer.append(finding.sentence, to: &line)
        return line
    }
}

extension DetailBuilder {
    /// Every warning about the session, with what to do about it.
    var warnings: [Row] {
        let found = model.findings[socket.id]
        guard !found.isEmpty else { return [] }
        var rows = [rule("warnings \(found.count)")]
        for finding in found {
            var words = [Line(finding.lint, Style(.warn, [.bold]))]
            words += finding.sentence.split(separator: " ").map { safe(String($0)) }
            words.append(Line("-", Style(.dim)))
            words += model.naming(finding.remedy).split(separator: " ").map { Line($0, Style(.dim)) }
            var paragraph = wrapped(words, separator: " ", indent: 3)
            if let first = paragraph.first {
                var marked = Line(" ! ", Style(.warn, [.bold]))
                marked.append(first.left.columns(3..<first.left.width))
                paragraph[0].left = marked
            }
            rows += paragraph
        }
        return rows
    }
}
