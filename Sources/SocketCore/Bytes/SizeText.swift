/// A number of bytes as the user types it: `512`, `8K`, `1M`, `2G`, where K is 1024 bytes. White space is ignored.
package enum SizeText {
    private static let units: [(letter: String, shift: Int)] = [("G", 30), ("M", 20), ("K", 10)]

    /// Returns the number of bytes, or `nil` if the text is not one or the number does not fit.
    package static func parse(_ text: String) -> Int? {
        let text = text.filter { !$0.isWhitespace }
        let shift = units.first { $0.letter == text.suffix(1).uppercased() }?.shift
        let digits = shift == nil ? text[...] : text.dropLast()
        guard digits.first != "+", digits.first != "-", let number = Int(digits), number <= Int.max >> (shift ?? 0)
        else { return nil }
        return number << (shift ?? 0)
    }

    /// Returns the number in the largest unit that expresses it exactly: `8K`, `8500`.
    package static func show(_ count: Int) -> String {
        guard count > 0, let unit = units.first(where: { count % (1 << $0.shift) == 0 }) else { return String(count) }
        return String(count >> unit.shift) + unit.letter
    }
}
