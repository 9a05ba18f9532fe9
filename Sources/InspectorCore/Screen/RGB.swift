/// A color on the screen, from 0 to 255 for each component.
package struct RGB: Equatable, Sendable {
    package var red: Int
    package var green: Int
    package var blue: Int

    package init(_ red: Int, _ green: Int, _ blue: Int) {
        (self.red, self.green, self.blue) = (red, green, blue)
    }

    /// Parses a terminal's answer: `rgb:1e1e/1e1e/1e1e`, or `rgba:` with a fourth component, with 1 to 4 digits each.
    package init?(answer text: String) {
        let halves = text.split(separator: ":", omittingEmptySubsequences: false)
        guard halves.count == 2, halves[0] == "rgb" || halves[0] == "rgba" else { return nil }
        let parts = halves[1].split(separator: "/", omittingEmptySubsequences: false).map { part -> Int? in
            guard (1...4).contains(part.count), part.allSatisfy(\.isHexDigit), let number = Int(part, radix: 16)
            else { return nil }
            return number * 255 / ((1 << (4 * part.count)) - 1)
        }
        guard parts.count == (halves[0] == "rgb" ? 3 : 4), let red = parts[0], let green = parts[1], let blue = parts[2]
        else { return nil }
        self.init(red, green, blue)
    }

    /// Whether black text is easier to read on it than white text. Its luminance is then above 0.18, with a gamma of 2.
    package var isLight: Bool {
        21 * red * red + 72 * green * green + 7 * blue * blue > 18 * 255 * 255
    }

    /// The 24-bit value that terminals with direct colors use.
    package var number: Int { red << 16 | green << 8 | blue }
}
