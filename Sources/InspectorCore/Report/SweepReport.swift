import SocketCore
import SocketWorkshop

/// The output of a sweep.
package struct SweepReport: Sendable {
    private let summary: SweepSummary

    /// The most ranges of offsets in a row of the table. `excerpt` is the length of an excerpt of the request.
    private static let ranges = 4
    private static let excerpt = 24

    package init(_ summary: SweepSummary) { self.summary = summary }

    /// The report as text.
    package var lines: [String] {
        var lines = [heading]
        let holes = summary.pattern.holes.map(Self.text)
        if !holes.isEmpty {
            let most = holes.prefix(8).joined(separator: ", ") + (holes.count > 8 ? " and \(holes.count - 8) more" : "")
            lines.append("The control runs differ at \(most); these bytes are not compared.")
        }
        if summary.endings.count > 1 {
            lines.append("The control runs ended differently, so endings are not compared.")
        }
        lines += [""] + table
        for finding in summary.findings { lines += details(of: finding) }
        if summary.problem == nil, !summary.hasFinding { lines += ["", "No difference."] }
        return lines
    }

    private var heading: String {
        let exchange = summary.exchanges == 1 ? "" : ", exchange \(summary.exchange) of \(summary.exchanges)"
        let ending = summary.endings.count == 1 ? ", after which the connection \(summary.endings[0].words)" : ""
        return
            "\(summary.session)\(exchange) to \(summary.address): a request of \(summary.request.count) bytes, an answer of "
            + "\(summary.pattern.answer.count)\(ending)."
    }

    private var table: [String] {
        let rows = summary.findings.map { finding -> [String] in
            guard finding.trials > 0 else { return [finding.test.rawValue, "-", "-", "-", "-", ""] }
            let offsets = finding.test == .split ? Self.ranges(finding.answers + finding.endings) : ""
            return [
                finding.test.rawValue, String(finding.trials), String(finding.answers.count),
                String(finding.endings.count), percent(finding), offsets,
            ]
        }
        let all = [["test", "trials", "answers differ", "endings differ", "percent", "offsets"]] + rows
        let widths = (0..<6).map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            var line = row[0] + String(repeating: " ", count: widths[0] - row[0].count)
            for column in 1..<5 {
                line += "  " + String(repeating: " ", count: widths[column] - row[column].count) + row[column]
            }
            return row[5].isEmpty ? line : line + "  " + row[5]
        }
    }

    private func percent(_ finding: SweepFinding) -> String {
        let count = Set(finding.answers + finding.endings).count
        let percent = 100 * count / finding.trials
        return count > 0 && percent == 0 ? "<1 %" : "\(percent) %"
    }

    private func details(of finding: SweepFinding) -> [String] {
        var lines: [String] = []
        if let first = finding.firstAnswer {
            lines += ["", "\(finding.test.rawValue)\(place(finding.test, first.offset)): the answer differs"]
            lines += first.difference.lines("control")
        }
        if let first = finding.firstEnding {
            let expected =
                finding.test == .halfClose
                ? "the server must send FIN after ours"
                : "the connection of the controls \(summary.endings.first?.words ?? "-")"
            lines += [
                "", "\(finding.test.rawValue)\(place(finding.test, first.offset)): the ending differs",
                "  \(expected); here, it \(first.ending.words)",
            ]
        }
        return lines
    }

    private func place(_ test: SweepTest, _ offset: Int) -> String {
        guard test == .split else { return "" }
        let request = summary.request
        let before = EscapedText.show(request[max(0, offset - Self.excerpt)..<offset])
        let after = EscapedText.show(request[offset..<min(request.count, offset + Self.excerpt)])
        return " after byte \(offset) of \(request.count), \(before) | \(after)"
    }

    private static func text(_ hole: AnswerPattern.Piece) -> String {
        hole.range.count < 2 ? "\(hole.range.lowerBound)" : "\(hole.range.lowerBound)-\(hole.range.upperBound - 1)"
    }

    /// Returns numbers as ranges: `1-4, 7`.
    private static func ranges(_ numbers: [Int]) -> String {
        var ranges: [ClosedRange<Int>] = []
        for number in Set(numbers).sorted() {
            if let last = ranges.last, last.upperBound + 1 == number {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        let words = ranges.prefix(Self.ranges).map {
            $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)"
        }
        return words.joined(separator: ", ")
            + (ranges.count > Self.ranges ? " and \(ranges.count - Self.ranges) more" : "")
    }

    /// The report as JSON: a line for each test, and one for the whole.
    package var json: [JSON] {
        summary.findings.map(json) + [
            [
                "v": JSON(1), "type": "swept", "session": JSON(summary.session), "address": JSON(summary.address),
                "exchange": JSON(summary.exchange), "exchanges": JSON(summary.exchanges),
                "request_bytes": JSON(summary.request.count), "answer_bytes": JSON(summary.pattern.answer.count),
                "endings": .array(summary.endings.map { JSON($0.rawValue) }), "controls": JSON(summary.controls),
                "holes": .array(
                    summary.pattern.holes.map {
                        ["start": JSON($0.range.lowerBound), "end": JSON($0.range.upperBound)]
                    }),
                "parallel": JSON(summary.parallel), "found": .bool(summary.hasFinding),
                "problem": JSON(summary.problem),
            ]
        ]
    }

    private func json(_ finding: SweepFinding) -> JSON {
        [
            "v": JSON(1), "type": "test", "test": JSON(finding.test.rawValue), "trials": JSON(finding.trials),
            "answer_offsets": .array(finding.answers.map { JSON($0) }),
            "ending_offsets": .array(finding.endings.map { JSON($0) }),
            "first_answer": finding.firstAnswer.map {
                .object([.init("at", JSON($0.offset)), .init("difference", $0.difference.json)])
            } ?? .null,
            "first_ending": finding.firstEnding.map {
                .object([.init("at", JSON($0.offset)), .init("ending", JSON($0.ending.rawValue))])
            } ?? .null,
        ]
    }
}

extension SweepOutcome {
    /// Why this can't be the answer that others are compared with, or `nil` if it can.
    package func problem(within limit: Duration) -> String? {
        guard answer.isEmpty else {
            return isStalled ? "the answer was not complete within \(Format.duration(limit))" : nil
        }
        switch ending {
        case .open: return "the request was not answered within \(Format.duration(limit))"
        case .refused: return "there was no connection"
        case .closed, .reset, .cut: return "the request was not answered: the connection was \(ending.words)"
        }
    }
}
