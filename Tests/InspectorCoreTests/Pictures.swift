import InspectorCore
import InspectorScreen
import Testing

/// A picture stored in `Screens`: a whole screen or a part of one.
struct Picture: Sendable, CustomTestStringConvertible {
    /// The name of the picture's file.
    let file: String
    let text: @Sendable () -> String

    var testDescription: String { file }

    /// Returns a picture of a whole screen.
    static func screen(_ name: String, _ size: Size) -> Picture {
        let screen = Screen.named(name)
        return Picture(file: "\(name)-\(size.width)x\(size.height).txt") { draw(screen.model(size), size).text + "\n" }
    }

    /// Returns a picture of one part of a screen. The size defaults to 80x24; any other is in the file's name.
    static func part(_ part: ScreenPart, _ name: String, _ size: Size? = nil) -> Picture {
        let screen = Screen.named(name)
        let suffix = size.map { "-\($0.width)x\($0.height)" } ?? ""
        return Picture(file: "\(name)\(suffix).txt") {
            part.text(screen.model(size ?? Size(80, 24)), size ?? Size(80, 24)) + "\n"
        }
    }

    /// Returns a picture of the same part of several screens, in one file, so that a changed word changes one file.
    static func parts(_ part: ScreenPart, _ file: String, _ size: Size = Size(80, 24), of names: [String]) -> Picture {
        let screens = names.map(Screen.named)
        return Picture(file: "\(file).txt") {
            screens.map { "== \($0.name)\n" + part.text($0.model(size), size) + "\n" }.joined()
        }
    }

    /// Returns a picture of the styles of a screen's cells.
    static func looks(_ name: String, _ sizes: [Size] = [Size(80, 24)]) -> Picture {
        let screen = Screen.named(name)
        return Picture(file: "\(name).looks") {
            sizes.map { size in
                let model = screen.model(size)
                let canvas = model.dialogs.open == nil ? draw(model, size) : ScreenPart.dialog.alone(model, size)
                return "== \(size.width)x\(size.height)\n" + looks(canvas)
            }.joined()
        }
    }

    /// Returns, for each row, the columns of each run of cells that are not plain, the name of their role, and `b`, `r`
    /// and `u` for bold, reverse and underline.
    private static func looks(_ canvas: Canvas) -> String {
        var rows: [String] = []
        for y in 0..<canvas.size.height {
            var runs: [String] = []
            var start = 0
            for x in 1...canvas.size.width {
                let style = canvas[start, y].style
                if x < canvas.size.width, canvas[x, y].style == style { continue }
                if style != .plain { runs.append("\(start)-\(x - 1) \(name(style))") }
                start = x
            }
            if !runs.isEmpty { rows.append("\(y): " + runs.joined(separator: ", ")) }
        }
        return rows.joined(separator: "\n") + "\n"
    }

    private static func name(_ style: Style) -> String {
        let marks = [(Style.Emphasis.bold, "b"), (.reverse, "r"), (.underline, "u")]
        let emphasis = marks.filter { style.emphasis.contains($0.0) }.map(\.1).joined()
        return "\(style.role)" + (emphasis.isEmpty ? "" : "+\(emphasis)")
    }
}

/// A part of the screen that a picture can show alone.
enum ScreenPart: Sendable {
    /// The header and the tabs.
    case header
    /// The last two rows.
    case footer
    /// The pane with the focus: the list without what is below it, the traffic with its queues and its composer, the
    /// detail, the events, the output or the start screen.
    case pane
    /// The first rows of the preview below the list.
    case preview
    /// The summary of warnings.
    case warnings
    case queues, traffic, composer
    /// The open dialog or the palette, without the screen behind it.
    case dialog, palette

    /// Returns the part as text, without blank rows at its end.
    func text(_ model: Model, _ size: Size) -> String {
        let layout = model.layout(size, model.tab)
        let whole = Rect(size)
        switch self {
        case .header: return draw(model, size).text(in: whole.top(2))
        case .footer: return draw(model, size).text(in: whole.bottom(2))
        case .preview: return draw(model, size).text(in: layout.preview.top(5))
        case .warnings: return draw(model, size).text(in: layout.warnings)
        case .queues: return draw(model, size).text(in: layout.trafficLayout.queues)
        case .traffic: return draw(model, size).text(in: layout.trafficLayout.traffic)
        case .composer: return draw(model, size).text(in: layout.trafficLayout.composer)
        case .dialog, .palette: return alone(model, size).drawn
        case .pane:
            let rect =
                switch model.tab {
                case .start: whole.trimmed(bottom: 2)
                case .list: layout.list
                case .traffic: layout.trafficPane
                case .detail: layout.detail
                case .events, .output: layout.body
                }
            return draw(model, size).text(in: rect)
        }
    }

    /// Returns an empty screen with only the open dialog or the palette.
    func alone(_ model: Model, _ size: Size) -> Canvas {
        var canvas = Canvas(size)
        if case .palette = self {
            PaletteView.draw(model, model.layout(size, model.tab), on: &canvas)
        } else if let dialog = model.dialogs.open {
            DialogView.draw(dialog, model, on: &canvas)
        }
        return canvas
    }
}

extension Canvas {
    /// Returns the text of these cells, without blanks at the end of a row and blank rows at the end.
    func text(in rect: Rect) -> String {
        var part = Canvas(Size(rect.width, rect.height))
        for y in 0..<rect.height {
            for x in 0..<rect.width { part[x, y] = self[rect.x + x, rect.y + y] }
        }
        var text = part.text
        while text.last == "\n" { text.removeLast() }
        return text
    }

    /// The text of the smallest rectangle that contains all drawn cells.
    fileprivate var drawn: String {
        let places = (0..<size.height).flatMap { y in (0..<size.width).map { (x: $0, y: y) } }
            .filter { self[$0.x, $0.y] != .blank }
        let (left, top) = (places.map(\.x).min() ?? 0, places.map(\.y).min() ?? 0)
        return text(in: Rect(x: left, y: top, width: size.width - left, height: size.height - top))
    }
}
