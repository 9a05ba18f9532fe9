import InspectorCore
import InspectorScreen

/// The look of each role in the colors that a terminal has, on a dark or a light background. Every role also differs in
/// its words or letters, so color is never the only distinction.
struct Palette {
    /// The number of colors a role can choose from.
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

    /// A color number (-1 for the terminal's default) and its emphasis.
    struct Look: Equatable {
        var foreground: Int32 = -1
        var emphasis: Style.Emphasis = []
        var isDim = false
    }

    let depth: Depth
    let isLight: Bool
    /// Whether a color number is a 24-bit value instead of an index among 256.
    private let isDirect: Bool
    /// The looks that the user changed.
    private let changed: [Role: ColourText]

    /// - Parameters:
    ///   - colours: the number that curses reports.
    ///   - isDirect: whether the terminal numbers colors by their 24-bit values.
    ///   - isLight: whether the background is light.
    init(
        colours: Int, noColour: Bool, isDirect: Bool = false, isLight: Bool = false, changed: [Role: ColourText] = [:]
    ) {
        self.changed = changed
        (self.isDirect, self.isLight) = (isDirect, isLight)
        depth =
            switch noColour ? 0 : colours {
            case ..<8: .none
            case ..<16: .eight
            case ..<256: .sixteen
            default: .many
            }
    }

    /// Returns the look of a role.
    func look(of role: Role) -> Look {
        if let wanted = changed[role] { return look(of: wanted) }
        let row = Self.row(of: role)
        let shades = isLight ? row.light : row.dark
        return switch depth {
        case .none: Look(emphasis: row.plain, isDim: row.isDim)
        case .eight: Look(foreground: number(shades.eight), emphasis: row.coloured, isDim: row.isDim)
        case .sixteen: Look(foreground: number(shades.sixteen), emphasis: row.coloured)
        case .many: Look(foreground: number(shades.many), emphasis: row.coloured)
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
        return Look(foreground: number(index), emphasis: wanted.emphasis, isDim: wanted.isDim)
    }

    /// Returns the terminal's number for a color. The first eight are indexes even on a direct-color terminal.
    private func number(_ index: Int?) -> Int32 {
        guard let index else { return -1 }
        return Int32(isDirect && index >= 8 ? ColourText.components(index).number : index)
    }

    /// Returns the default look of a role with 256 colors.
    static func standard(_ role: Role, isLight: Bool = false) -> ColourText {
        let row = row(of: role)
        return ColourText(index: (isLight ? row.light : row.dark).many, emphasis: row.coloured)
    }

    /// A color for each depth, or `nil` for the terminal's default.
    private struct Shades {
        var eight: Int?
        var sixteen: Int?
        var many: Int?

        init(_ eight: Int? = nil, _ sixteen: Int? = nil, _ many: Int? = nil) {
            (self.eight, self.sixteen, self.many) = (eight, sixteen, many)
        }
    }

    /// One row of the table: the colors on a dark and on a light background, the emphasis with color, and the emphasis
    /// that replaces color.
    private struct Row {
        var dark = Shades()
        var light = Shades()
        var coloured: Style.Emphasis = []
        var plain: Style.Emphasis = []
        var isDim = false
    }

    /// The 256-color values avoid those that users can change in a terminal, so that the contrast is known.
    private static func row(of role: Role) -> Row {
        switch role {
        case .plain: Row()
        case .dim, .unlit: Row(dark: Shades(nil, 8, 248), light: Shades(nil, 8, 241), isDim: true)
        case .closed: Row(dark: Shades(nil, 8, 246), light: Shades(nil, 8, 242), isDim: true)
        case .title: Row(dark: Shades(6, 14, 80), light: Shades(4, 4, 24), coloured: .bold, plain: .bold)
        case .heading: Row(dark: Shades(6, 6, 73), light: Shades(4, 4, 23))
        case .cursor: Row(coloured: .reverse, plain: .reverse)
        case .lit: Row(dark: Shades(2, 10, 114), light: Shades(nil, nil, 22), coloured: .bold, plain: .bold)
        case .warn: Row(dark: Shades(3, 11, 221), light: Shades(5, 5, 94), coloured: .bold, plain: .bold)
        case .bad: Row(dark: Shades(1, 9, 203), light: Shades(1, 1, 160), coloured: .bold, plain: [.bold, .underline])
        case .received: Row(dark: Shades(6, 14, 117), light: Shades(4, 4, 25))
        case .sent: Row(dark: Shades(2, 10, 150), light: Shades(5, 5, 58))
        case .key: Row(coloured: .bold, plain: .bold)
        case .chip: Row(dark: Shades(5, 13, 183), light: Shades(5, 5, 90), coloured: .reverse, plain: .reverse)
        case .error: Row(dark: Shades(1, 9, 203), light: Shades(1, 1, 160), coloured: .reverse, plain: .reverse)
        }
    }
}
