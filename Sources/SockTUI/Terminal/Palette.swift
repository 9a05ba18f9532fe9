import InspectorCore

/// How roles look with the colours that a terminal has. Every role also differs by its words or letters, so colour is
/// never all there is.
struct Palette {
    /// How many colours a role can choose from.
    enum Depth {
        case none, eight, sixteen, many

        var count: Int {
            switch self {
            case .none: 0
            case .eight: 8
            case .sixteen: 16
            case .many: 256
            }
        }
    }

    /// A colour's number (-1: the terminal's own) and what is added to it.
    struct Look: Equatable {
        var foreground: Int16 = -1
        var emphasis: Style.Emphasis = []
        var isDim = false
    }

    let depth: Depth
    /// What a person wants to look otherwise.
    private let changed: [Role: ColourText]

    /// - Parameter colours: as curses counts them.
    init(colours: Int, noColour: Bool, changed: [Role: ColourText] = [:]) {
        self.changed = changed
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
        if let wanted = changed[role] { return look(of: wanted) }
        let row = Self.row(of: role)
        return switch depth {
        case .none: Look(emphasis: row.plain, isDim: row.isDim)
        case .eight: Look(foreground: row.eight, emphasis: row.coloured, isDim: row.isDim)
        case .sixteen: Look(foreground: row.sixteen, emphasis: row.coloured)
        case .many: Look(foreground: row.many, emphasis: row.coloured)
        }
    }

    private func look(of wanted: ColourText) -> Look {
        let index: Int? =
            switch depth {
            case .none: nil
            case .eight: wanted.index.map { ColourText.nearest($0, among: 8) }
            case .sixteen: wanted.index.map { ColourText.nearest($0, among: 16) }
            case .many: wanted.index
            }
        return Look(foreground: Int16(index ?? -1), emphasis: wanted.emphasis, isDim: wanted.isDim)
    }

    /// How a role looks where there are 256 colours and nobody wants it otherwise.
    static func standard(_ role: Role) -> ColourText {
        let row = row(of: role)
        return ColourText(index: row.many < 0 ? nil : Int(row.many), emphasis: row.coloured)
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
