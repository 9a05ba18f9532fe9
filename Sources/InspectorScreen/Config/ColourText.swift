import InspectorCore

/// A look in text form: `yellow bold`, `214`, `default reverse`.
package struct ColourText: Hashable, Sendable {
    /// One of xterm's 256 colors, or `nil` for the terminal's default.
    package var index: Int?
    package var emphasis: Style.Emphasis = []
    package var isDim = false

    package init(index: Int? = nil, emphasis: Style.Emphasis = [], isDim: Bool = false) {
        self.index = index
        self.emphasis = emphasis
        self.isDim = isDim
    }

    private static let names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]
    private static let emphases: [(String, Style.Emphasis)] = [
        ("bold", .bold), ("reverse", .reverse), ("underline", .underline),
    ]

    /// Parses a look. Returns `nil` and the first invalid word if there is one.
    package static func parse(_ text: String) -> (colour: ColourText?, wrong: String) {
        var colour = ColourText()
        for word in text.split(separator: " ").map(String.init) {
            let plain = word.hasPrefix("bright-") ? String(word.dropFirst(7)) : word
            if let number = names.firstIndex(of: plain) {
                colour.index = number + (plain == word ? 0 : 8)
            } else if let number = Int(word), (0...255).contains(number) {
                colour.index = number
            } else if let emphasis = emphases.first(where: { $0.0 == word })?.1 {
                colour.emphasis.insert(emphasis)
            } else if word == "dim" {
                colour.isDim = true
            } else if word != "default" {
                return (nil, word)
            }
        }
        return (colour, "")
    }

    /// The look in the form that `parse` reads.
    package var text: String {
        let number = index.map { $0 < 8 ? Self.names[$0] : $0 < 16 ? "bright-" + Self.names[$0 - 8] : String($0) }
        let words = [number ?? "default"] + Self.emphases.filter { emphasis.contains($0.1) }.map(\.0)
        return (words + (isDim ? ["dim"] : [])).joined(separator: " ")
    }

    /// Returns the nearest of the first `count` colors (8 or 16), measured by xterm's values.
    package static func nearest(_ index: Int, among count: Int) -> Int {
        guard index >= count else { return index }
        let wanted = components(index)
        return (0..<count).min { distance(components($0), wanted) < distance(components($1), wanted) } ?? 7
    }

    private static func distance(_ left: RGB, _ right: RGB) -> Int {
        let (red, green, blue) = (left.red - right.red, left.green - right.green, left.blue - right.blue)
        return red * red + green * green + blue * blue
    }

    /// Returns xterm's value of one of the 256 colors: 16 by name, a cube with 6 steps per side, 24 grays.
    package static func components(_ index: Int) -> RGB {
        switch index {
        case 7: return RGB(229, 229, 229)
        case 8: return RGB(127, 127, 127)
        case ..<16:
            let full = index < 8 ? 205 : 255
            return RGB(index & 1 == 0 ? 0 : full, index & 2 == 0 ? 0 : full, index & 4 == 0 ? 0 : full)
        case ..<232:
            let steps = [0, 95, 135, 175, 215, 255]
            return RGB(steps[(index - 16) / 36], steps[(index - 16) / 6 % 6], steps[(index - 16) % 6])
        default:
            let grey = 8 + (index - 232) * 10
            return RGB(grey, grey, grey)
        }
    }
}
