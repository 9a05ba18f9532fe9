/// Instants of a rewound file, counted from its beginning: `00:12.480`, `1:02:03.000`.
package enum InstantText {
    /// Returns an instant to the millisecond, rounded down.
    package static func text(_ nanoseconds: Int64) -> String {
        let milliseconds = max(0, nanoseconds) / 1_000_000
        let (minutes, hours) = (milliseconds / 60_000 % 60, milliseconds / 3_600_000)
        let seconds = padded(milliseconds / 1_000 % 60, 2) + "." + padded(milliseconds % 1_000, 3)
        return (hours > 0 ? "\(hours):" : "") + "\(padded(minutes, 2)):\(seconds)"
    }

    /// Parses seconds, minutes and seconds, or hours, minutes and seconds, with at most nine decimals. Returns
    /// nanoseconds, or `nil` for any other text.
    package static func parse(_ text: String) -> Int64? {
        let fields = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...3).contains(fields.count), let last = fields.last, let seconds = seconds(last) else { return nil }
        var whole: Int64 = 0
        for field in fields.dropLast() {
            guard let number = number(field, most: 5) else { return nil }
            whole = (whole + number) * 60
        }
        guard fields.count == 1 || seconds < 60_000_000_000 else { return nil }
        return whole * 1_000_000_000 + seconds
    }

    private static func seconds(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, let whole = number(parts[0], most: 9) else { return nil }
        guard parts.count == 2 else { return whole * 1_000_000_000 }
        guard let fraction = number(parts[1], most: 9) else { return nil }
        let scale = (parts[1].count..<9).reduce(Int64(1)) { scale, _ in scale * 10 }
        return whole * 1_000_000_000 + fraction * scale
    }

    private static func number(_ text: Substring, most digits: Int) -> Int64? {
        guard (1...digits).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
