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

/// One column of one row. It has sixteen bytes without padding, so that rows can be compared as memory.
package struct Cell: Hashable, Sendable {
    /// The character, or 0 in the second column of a wide one.
    package var scalar: UInt32
    /// A combining mark on the character, or 0 for none.
    package var mark: UInt32
    package var style: Style
    /// The width of the character, 1 or 2, or 0 in the second column of a wide one.
    package var width: UInt32

    package init(_ scalar: Unicode.Scalar, style: Style = .plain, width: UInt32 = 1, mark: UInt32 = 0) {
        self.scalar = scalar.value
        self.mark = mark
        self.style = style
        self.width = width
    }

    package static let blank = Cell(" ")
}
