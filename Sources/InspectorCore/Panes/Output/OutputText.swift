/// What a program wrote, in lines. It keeps the latest, and counts what it does not keep.
package struct OutputText: Hashable, Sendable {
    package enum Row: Hashable, Sendable {
        /// A line without its ending, which was so many bytes.
        case line([UInt8], ending: Int)
        /// So many bytes were dropped here, since they came faster than they could be shown.
        case dropped(Int)
    }

    /// Of how many rows and bytes the latest are kept.
    private static let mostRows = 10_000
    private static let mostBytes = 1 << 20
    /// Where a line is cut that does not end.
    private static let longest = 4_096

    private var rows: [Row] = []
    /// The rows that are kept begin here in `rows`, which is shortened now and then only.
    private var start = 0
    private var keptBytes = 0
    /// The line that has not ended, and whether it ended in a carriage return, which a line feed may follow.
    private var open: [UInt8] = []
    private var followsReturn = false
    /// How many rows came before the first that is kept.
    package private(set) var first = 0
    /// Bytes that came, and those of them that are not kept any more or never were.
    package private(set) var total = 0
    package private(set) var lost = 0

    package init() {}

    /// The number of the row after the last one.
    package var end: Int { first + rows.count - start + (open.isEmpty ? 0 : 1) }

    /// A row by its number.
    package subscript(number: Int) -> Row {
        let index = start + number - first
        return index < rows.count ? rows[index] : .line(open, ending: 0)
    }

    /// Takes in what came, after `dropped` bytes that are not there. A line ends in a line feed, a carriage return, or
    /// both: a program that returns to draw over its line has each state of it kept.
    package mutating func add(_ bytes: [UInt8], dropped: Int = 0) {
        total += bytes.count + dropped
        if dropped > 0 {
            if !open.isEmpty { endLine(0) }
            lost += dropped
            rows.append(.dropped(dropped))
        }
        var rest = bytes[...]
        if followsReturn, dropped == 0, rest.first == 0x0A { takeLineFeed(&rest) }
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
                if rest.first == 0x0A { takeLineFeed(&rest) }
                followsReturn = rest.isEmpty
            default: endLine(0)
            }
        }
        shrink()
    }

    /// The line feed of the carriage return that ended the last line.
    private mutating func takeLineFeed(_ rest: inout ArraySlice<UInt8>) {
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
