/// An instant of a recording as people write it, counted from its start: `12.5`, `1:02.5` or `1:00:02.5`.
package enum RecordedInstant {
    /// The time from the start; `nil` if the text is none.
    package static func parse(_ text: String) -> Duration? {
        var text = text[...]
        if text.last == "s", !text.contains(":") { text.removeLast() }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count), let last = parts.last, let seconds = seconds(last) else { return nil }
        var whole: Int64 = 0
        for part in parts.dropLast() {
            guard part.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(part), number < 1 << 20
            else {
                return nil
            }
            whole = whole * 60 + number
        }
        return .seconds(whole * 60) + seconds
    }

    /// Digits, a point and up to nine more.
    private static func seconds(_ text: Substring) -> Duration? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let first = parts.first, parts.count <= 2, !first.isEmpty, first.count <= 9,
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }), let whole = Int64(first)
        else { return nil }
        let fraction = parts.count == 2 ? parts[1] : ""
        guard fraction.count <= 9 else { return nil }
        let digits = fraction + String(repeating: "0", count: 9 - fraction.count)
        return Int64(digits).map { .seconds(whole) + .nanoseconds($0) }
    }
}
