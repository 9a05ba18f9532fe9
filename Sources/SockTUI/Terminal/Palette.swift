import InspectorCore

/// How roles look with the colours that a terminal has. Every role also differs by its words or letters, so colour is
/// never all there is.
struct Palette {
    /// How many colours a role can choose from.
    enum Depth { case none, eight, sixteen, many }

    /// A colour's number (-1: the terminal's own) and what is added to it.
    struct Look: Equatable {
        var foreground: Int16 = -1
        var emphasis: Style.Emphasis = []
        var isDim = false
    }

    let depth: Depth

    /// - Parameter colours: as curses counts them.
    init(colours: Int, noColour: Bool) {
        depth =
            switch noColour ? 0 : colours {
            case ..<8: .none
            case ..<16: .eight
            case ..<256: .sixteen
            default: .many
            }
    }

    /// How a role looks.
    func look(of role: Role) -> Look {
        let row = Self.row(of: role)
        return switch depth {
        case .none: Look(emphasis: row.plain, isDim: row.isDim)
        case .eight: Look(foreground: row.eight, emphasis: row.coloured, isDim: row.isDim)
        case .sixteen: Look(foreground: row.sixteen, emphasis: row.coloured)
        case .many: Look(foreground: row.many, emphasis: row.coloured)
        }
    }

    /// One line of the table: the colour per depth, what is added to a colour, and what stands for it without one.
    private struct Row {
        var eight: Int16 = -1
        var sixteen: Int16 = -1
        var many: Int16 = -1
        var coloured: Style.Emphasis = []
        var plain: Style.Emphasis = []
        var isDim = false
    }

    private static func row(of role: Role) -> Row {
        switch role {
        case .plain: Row()
        case .dim, .unlit: Row(eight: -1, sixteen: 8, many: 245, isDim: true)
        case .closed: Row(eight: -1, sixteen: 8, many: 243, isDim: true)
        case .title: Row(eight: 6, sixteen: 14, many: 80, coloured: .bold, plain: .bold)
        case .heading: Row(eight: 6, sixteen: 6, many: 73)
        case .cursor: Row(coloured: .reverse, plain: .reverse)
        case .lit: Row(eight: 2, sixteen: 10, many: 114, coloured: .bold, plain: .bold)
        case .warn: Row(eight: 3, sixteen: 11, many: 221, coloured: .bold, plain: .bold)
        case .bad: Row(eight: 1, sixteen: 9, many: 203, coloured: .bold, plain: [.bold, .underline])
        case .received: Row(eight: 6, sixteen: 14, many: 117)
        case .sent: Row(eight: 2, sixteen: 10, many: 150)
        case .key: Row(coloured: .bold, plain: .bold)
        case .chip: Row(eight: 5, sixteen: 13, many: 183, coloured: .reverse, plain: .reverse)
        case .error: Row(eight: 1, sixteen: 9, many: 203, coloured: .reverse, plain: .reverse)
        }
    }
}
