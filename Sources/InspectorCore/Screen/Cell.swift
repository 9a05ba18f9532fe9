/// The meaning of a piece of the screen. The terminal decides how it looks with the available colors.
package enum Role: UInt16, CaseIterable, Sendable {
    case plain, dim, title, heading, cursor, lit, unlit, warn, bad, received, sent, closed, key, chip, error
}

/// The style of a cell: a role, and whether it is also bold or reversed.
package struct Style: Hashable, Sendable {
    package var role: Role
    package var emphasis: Emphasis

    package struct Emphasis: OptionSet, Hashable, Sendable {
        package let rawValue: UInt16
        package init(rawValue: UInt16) { self.rawValue = rawValue }
        package static let bold = Emphasis(rawValue: 1)
        package static let reverse = Emphasis(rawValue: 2)
        package static let underline = Emphasis(rawValue: 4)
    }

    package init(_ role: Role = .plain, _ emphasis: Emphasis = []) {
        self.role = role
        self.emphasis = emphasis
    }

    package static let plain = Style()
}

/// The combining marks on a character, as many as a terminal's cell can hold (curses: CCHARW_MAX with the character).
package struct Marks: Hashable, Sendable {
    private var first: UInt32 = 0
    private var second: UInt32 = 0
    private var third: UInt32 = 0
    private var fourth: UInt32 = 0

    package init() {}

    package var isEmpty: Bool { first == 0 }

    /// The marks in their order.
    package var all: [UInt32] { [first, second, third, fourth].filter { $0 != 0 } }

    /// Adds a mark after the others. Returns `false` if there is no room for it.
    package mutating func add(_ scalar: Unicode.Scalar) -> Bool {
        for place in [\Self.first, \.second, \.third, \.fourth] where self[keyPath: place] == 0 {
            self[keyPath: place] = scalar.value
            return true
        }
        return false
    }
}

/// One column of one row.
package struct Cell: Hashable, Sendable {
    /// The character, or 0 in the second column of a wide one.
    package var scalar: UInt32
    package var marks = Marks()
    package var style: Style
    /// The width of the character, 1 or 2, or 0 in the second column of a wide one.
    package var width: UInt32

    package init(_ scalar: Unicode.Scalar, style: Style = .plain, width: UInt32 = 1) {
        self.scalar = scalar.value
        self.style = style
        self.width = width
    }

    package static let blank = Cell(" ")

    /// Appends the character and its marks to a text. Appends nothing for the second column of a wide one.
    package func append(to text: inout String) {
        guard width > 0 else { return }
        text.unicodeScalars.append(Unicode.Scalar(scalar) ?? " ")
        if !marks.isEmpty { text.unicodeScalars.append(contentsOf: marks.all.compactMap(Unicode.Scalar.init)) }
    }
}
