/// A program's output, in lines. It keeps the latest lines, and counts the others.
package struct OutputText: Equatable, Sendable {
    package enum Row: Hashable, Sendable {
        /// A line without its ending, and the length of that ending in bytes.
        case line([UInt8], ending: Int)
        /// The number of bytes dropped here because they arrived faster than they could be shown.
        case dropped(Int)
    }

    /// The most rows and bytes kept.
    private static let mostRows = 10_000
    private static let mostBytes = 1 << 20
    /// The length at which an unfinished line is cut.
    private static let longest = 4_096

    private var rows: [Row] = []
    /// The index of the first kept row in `rows`, which is trimmed only occasionally.
    private var start = 0
    private var keptBytes = 0
    /// The unfinished line. `followsReturn` is set if the last line ended with a carriage return, which LF may follow.
    private var open: [UInt8] = []
    private var followsReturn = false
    /// The unfinished line of a terminal, or `nil` for output from a pipe.
    package private(set) var line: TerminalLine?
    /// The number of rows before the first one kept.
    package private(set) var first = 0
    /// The number of bytes received. `lost` is how many of them are not kept.
    package private(set) var total = 0
    package private(set) var lost = 0

    /// Creates the output of a terminal, or of a pipe.
    package init(isTerminal: Bool = false) { line = isTerminal ? TerminalLine() : nil }

    /// The number of the row after the last one. A terminal always has an unfinished line.
    package var end: Int { first + rows.count - start + (open.isEmpty && line == nil ? 0 : 1) }

    /// Returns a row by its number.
    package subscript(number: Int) -> Row {
        let index = start + number - first
        return index < rows.count ? rows[index] : .line(open, ending: 0)
    }

    /// Adds output, after `dropped` missing bytes. A line ends with a line feed, a carriage return, or both. If a
    /// program returns to overwrite its line, each version of the line is kept, unless it has a terminal.
    package mutating func add(_ bytes: [UInt8], dropped: Int = 0) {
        total += bytes.count + dropped
        if dropped > 0 {
            if !open.isEmpty { endLine(0) }
            // What follows the gap is no part of what preceded it.
            if line != nil { line = TerminalLine() }
            lost += dropped
            rows.append(.dropped(dropped))
        }
        if line != nil { return addToTerminal(bytes) }
        var rest = bytes[...]
        if followsReturn, dropped == 0, rest.first == 0x0A { acceptLineFeed(&rest) }
        if !bytes.isEmpty { followsReturn = false }
        while !rest.isEmpty {
            let part = rest.prefix(Self.longest - open.count).prefix { $0 != 0x0A && $0 != 0x0D }
            open += part
            rest = rest[part.endIndex...]
            switch rest.first {
            case nil: break
            case 0x0A:
                rest.removeFirst()
                endLine(1)
            case 0x0D:
                rest.removeFirst()
                endLine(1)
                if rest.first == 0x0A { acceptLineFeed(&rest) }
                followsReturn = rest.isEmpty
            default: endLine(0)
            }
        }
        shrink()
    }

    private mutating func addToTerminal(_ bytes: [UInt8]) {
        guard var line else { return }
        for byte in bytes where line.add(byte) || line.width >= Self.longest {
            open = line.bytes
            endLine(1)
            line.clear()
        }
        (open, self.line) = (line.bytes, line)
        shrink()
    }

    /// Accepts the line feed that follows the carriage return of the last line.
    private mutating func acceptLineFeed(_ rest: inout ArraySlice<UInt8>) {
        rest.removeFirst()
        if case .line(let bytes, 1) = rows.last { rows[rows.count - 1] = .line(bytes, ending: 2) }
    }

    private mutating func endLine(_ ending: Int) {
        rows.append(.line(open, ending: ending))
        keptBytes += open.count
        open = []
    }

    private mutating func shrink() {
        while rows.count - start > Self.mostRows || keptBytes > Self.mostBytes, start < rows.count {
            if case .line(let line, let ending) = rows[start] {
                keptBytes -= line.count
                lost += line.count + ending
            }
            rows[start] = .dropped(0)
            start += 1
            first += 1
        }
        guard start > Self.mostRows else { return }
        rows.removeFirst(start)
        start = 0
    }
}
