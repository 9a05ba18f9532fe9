import InspectorCore

/// The last line of a program's terminal. The program can go back in it and write over it, as a prompt does while a line
/// is edited. It is a dumb terminal otherwise: sequences that move the cursor elsewhere or choose colors are left out.
package struct TerminalLine: Equatable, Sendable {
    private enum Sequence: Equatable {
        case none, escape, control, text
    }

    /// One character for each column, with its marks. The second column of a wide one is empty.
    private var cells: [[UInt8]] = []
    /// The column where the next character goes.
    package private(set) var column = 0
    /// The first bytes of a character or a sequence that is not complete.
    private var begun: [UInt8] = []
    private var sequence = Sequence.none

    private static let mostMarks = 32
    /// The last column that a tab or a sequence can reach.
    private static let mostColumns = 1 << 12

    package var bytes: [UInt8] { Array(cells.joined()) }
    var width: Int { cells.count }

    /// Empties the line and begins the next one.
    mutating func clear() { (cells, column) = ([], 0) }

    /// Adds a byte. Returns whether the line is complete.
    mutating func add(_ byte: UInt8) -> Bool {
        guard sequence == .none else {
            addToSequence(byte)
            return false
        }
        guard byte < 0x20 || byte == 0x7F else {
            addToCharacter(byte)
            return false
        }
        endCharacter()
        switch byte {
        case 0x0A: return true
        case 0x0D: column = 0
        case 0x08: column = max(0, column - 1)
        case 0x09: column = min(column + 8 - column % 8, Self.mostColumns)
        case 0x1B: sequence = .escape
        default: break
        }
        return false
    }

    // MARK: Characters

    /// The characters of ASCII, which need no array of their own in each cell.
    private static let ascii = (0..<0x80).map { [UInt8($0)] }

    private mutating func addToCharacter(_ byte: UInt8) {
        if byte & 0xC0 != 0x80 { endCharacter() }
        guard byte >= 0x80 else { return put(Self.ascii[Int(byte)], width: 1) }
        begun.append(byte)
        let length = begun[0] < 0xC0 ? 1 : begun[0] < 0xE0 ? 2 : begun[0] < 0xF0 ? 3 : 4
        if begun.count >= length { endCharacter() }
    }

    /// Puts the character that has begun in its place, complete or not.
    private mutating func endCharacter() {
        guard !begun.isEmpty else { return }
        defer { begun = [] }
        let scalar = String(validating: begun, as: UTF8.self)?.unicodeScalars.first
        let width = scalar.map { TextWidth.of($0) } ?? 1
        guard width > 0 || column == 0 else {
            let place = min(column, cells.count) - 1
            guard place >= 0, cells[place].count < Self.mostMarks else { return }
            return cells[place] += begun
        }
        put(begun, width: max(1, width))
    }

    private mutating func put(_ character: [UInt8], width: Int) {
        while cells.count < column + width { cells.append(Self.ascii[0x20]) }
        split(at: column)
        split(at: column + width)
        cells[column] = character
        if width == 2 { cells[column + 1] = [] }
        column += width
    }

    /// Replaces a wide character whose second half is in this column, because the half is written over.
    private mutating func split(at column: Int) {
        guard column > 0, column < cells.count, cells[column].isEmpty else { return }
        (cells[column - 1], cells[column]) = (Self.ascii[0x20], Self.ascii[0x20])
    }

    // MARK: Sequences

    private mutating func addToSequence(_ byte: UInt8) {
        // CAN and SUB cut a sequence off, and ESC begins another.
        if byte == 0x18 || byte == 0x1A || byte == 0x1B {
            (begun, sequence) = ([], byte == 0x1B ? .escape : .none)
            return
        }
        switch sequence {
        case .none: break
        case .escape:
            switch byte {
            case 0x5B: sequence = .control
            case 0x50, 0x58, 0x5D, 0x5E, 0x5F: sequence = .text
            case 0x20...0x2F: break
            default: sequence = .none
            }
        case .control:
            guard byte >= 0x40 else {
                if begun.count < 16 { begun.append(byte) }
                return
            }
            perform(byte, Int(String(decoding: begun, as: UTF8.self)) ?? 0)
            (begun, sequence) = ([], .none)
        case .text:
            // BEL ends it, and so does ESC \.
            if byte == 0x07 { sequence = .none }
        }
    }

    private mutating func perform(_ final: UInt8, _ number: Int) {
        switch final {
        case UInt8(ascii: "C"): column = min(column + min(max(1, number), Self.mostColumns), Self.mostColumns)
        case UInt8(ascii: "D"): column = max(0, column - max(1, number))
        case UInt8(ascii: "J"), UInt8(ascii: "K"):
            guard number == 0, column < cells.count else { return }
            split(at: column)
            cells.removeLast(cells.count - column)
        default: break
        }
    }
}
