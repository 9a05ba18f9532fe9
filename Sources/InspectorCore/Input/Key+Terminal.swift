extension Key {
    /// The bytes that a terminal sends for the key.
    package var typed: [UInt8] {
        switch self {
        case .character(let character): Array(String(character).utf8)
        case .control(let character): [(character.asciiValue ?? 0) & 0x1F]
        case .alt(let character): [0x1B] + Array(String(character).utf8)
        case .altEnter: [0x1B, 0x0D]
        case .enter: [0x0D]
        case .tab: [0x09]
        case .escape: [0x1B]
        case .backspace: [0x7F]
        case .function(let number): Self.function(number)
        default: Self.sequences[self].map { [0x1B, 0x5B] + Array($0.utf8) } ?? []
        }
    }

    /// What follows `ESC [`, as xterm sends it.
    private static let sequences: [Key: String] = [
        .up: "A", .down: "B", .right: "C", .left: "D", .home: "H", .end: "F", .backTab: "Z", .insert: "2~",
        .delete: "3~", .pageUp: "5~", .pageDown: "6~", .shiftRight: "1;2C", .shiftLeft: "1;2D", .altRight: "1;3C",
        .altLeft: "1;3D",
    ]

    private static func function(_ number: Int) -> [UInt8] {
        let codes = [15, 17, 18, 19, 20, 21, 23, 24]
        switch number {
        case 1...4: return [0x1B, 0x4F, UInt8(0x4F + number)]
        case 5...12: return Array("\u{1B}[\(codes[number - 5])~".utf8)
        default: return []
        }
    }
}
