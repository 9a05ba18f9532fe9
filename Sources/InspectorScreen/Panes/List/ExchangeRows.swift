import InspectorCore
import SocketCore

/// The rows of `:exchanges`: one for each question, with its answer time and its first line.
enum ExchangeRows {
    private static let numberWidth = 6
    private static let timeWidth = 16
    private static let wordWidth = 7
    /// The least width at which times of day are shown, too.
    private static let roomy = 72

    static func heading(_ width: Int) -> Line {
        var title = Format.padded("NO", to: numberWidth, right: true)
        if width >= roomy { title += "  " + Format.padded("BEGAN", to: timeWidth) }
        for word in ["REPLY", "TOOK", "ASKED", "ANSWER"] {
            title += " " + Format.padded(word, to: wordWidth, right: true)
        }
        return Line(title + "  REQUEST", Style(.heading))
    }

    static func line(_ exchange: Exchange, isSelected: Bool, _ width: Int, _ model: Model) -> Line {
        var line = Line(isSelected ? ">" : " ", Style(isSelected ? .cursor : .plain))
        line.append(Format.padded("\(exchange.number)", to: numberWidth - 1, right: true))
        if width >= roomy {
            line.append("  " + Format.padded(model.shownClock.text(exchange.began), to: timeWidth), Style(.dim))
        }
        func cell(_ text: String?, _ style: Style = Style(.plain)) {
            line.append(" " + Format.padded(text ?? "-", to: wordWidth, right: true), style)
        }
        cell(exchange.firstByte.map { Format.duration($0) }, Style(.plain, [.bold]))
        cell(exchange.took.map { Format.duration($0) })
        cell(Format.size(exchange.askedBytes))
        cell(exchange.answer.map { _ in Format.size(exchange.answeredBytes) })
        line.append("  ")
        model.sanitizer.append(
            String(decoding: exchange.line.bytes, as: UTF8.self), Style(.sent), to: &line)
        return line
    }
}
