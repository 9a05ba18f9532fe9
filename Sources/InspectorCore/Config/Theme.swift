import SocketCore

/// Which set of colors is used: the one for a dark background, or the one for a light background.
package enum Theme: String, Hashable, Sendable, CaseIterable {
    /// As the terminal says.
    case auto
    case light, dark

    /// `auto, light or dark`.
    package static let words = Spelling.alternatives(allCases.map(\.rawValue))

    /// Whether `COLORFGBG` names a light background: its last number is a color of 16. `nil` if it names none.
    package static func isLight(colourVariable text: String) -> Bool? {
        guard let last = text.split(separator: ";").last, let index = Int(last), (0...15).contains(index) else {
            return nil
        }
        return index == 7 || index > 8
    }
}

/// A color as it is sent to a screen, 0 to 255 for each part.
package struct RGB: Hashable, Sendable {
    package var red: Int
    package var green: Int
    package var blue: Int

    package init(_ red: Int, _ green: Int, _ blue: Int) {
        (self.red, self.green, self.blue) = (red, green, blue)
    }

    /// Reads what a terminal answers: `rgb:1e1e/1e1e/1e1e`, or `rgba:` with a fourth part, 1 to 4 digits for each.
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

    /// Whether black text is easier to read on it than white text: its luminance is above 0.18, with a gamma of 2.
    package var isLight: Bool {
        21 * red * red + 72 * green * green + 7 * blue * blue > 18 * 255 * 255
    }

    /// 24 bits, as terminals with direct colors count.
    package var number: Int { red << 16 | green << 8 | blue }
}
