/// How something looks, as a person writes it: `yellow bold`, `214`, `default reverse`.
package struct ColourText: Hashable, Sendable {
    /// One of the 256 colours of xterm; nil: the terminal's own.
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

    /// Reads it; nil and the word that means nothing where there is one.
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

    /// In the form that `parse` reads.
    package var text: String {
        let number = index.map { $0 < 8 ? Self.names[$0] : $0 < 16 ? "bright-" + Self.names[$0 - 8] : String($0) }
        let words = [number ?? "default"] + Self.emphases.filter { emphasis.contains($0.1) }.map(\.0)
        return (words + (isDim ? ["dim"] : [])).joined(separator: " ")
    }

    /// The nearest of the first `count` colours (8 or 16), by what xterm shows.
    package static func nearest(_ index: Int, among count: Int) -> Int {
        guard index >= count else { return index }
        let wanted = components(index)
        return (0..<count).min { distance(components($0), wanted) < distance(components($1), wanted) } ?? 7
    }

    private static func distance(_ left: RGB, _ right: RGB) -> Int {
        let (red, green, blue) = (left.red - right.red, left.green - right.green, left.blue - right.blue)
        return red * red + green * green + blue * blue
    }

    /// What xterm shows for one of its 256: 16 by name, a cube of 6 steps a side, 24 greys.
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
