import SocketCore

/// A search in payloads: `"text"` matches exactly, `hex:0d0a` matches bytes, anything else is text that ignores case.
package struct PayloadSearch: Equatable, Sendable {
    /// The search as typed.
    package var text: String
    /// The bytes to find, at least one.
    package var bytes: [UInt8]
    /// Whether the case of ASCII letters is ignored.
    package var ignoresCase: Bool

    /// Parses a search. An unfinished quote counts as finished.
    package static func parse(_ text: String) -> Result<PayloadSearch, EscapedText.Failure> {
        if text.hasPrefix("hex:") {
            switch HexText.parse(String(text.dropFirst(4))) {
            case .failure(var failure):
                failure.column += 4
                return .failure(failure)
            case .success(let bytes): return checked(PayloadSearch(text: text, bytes: bytes, ignoresCase: false))
            }
        }
        guard text.hasPrefix("\"") else {
            return checked(PayloadSearch(text: text, bytes: Array(text.utf8), ignoresCase: true))
        }
        var inner = text.dropFirst()
        if inner.hasSuffix("\"") { inner.removeLast() }
        return checked(PayloadSearch(text: text, bytes: Array(inner.utf8), ignoresCase: false))
    }

    private static func checked(_ search: PayloadSearch) -> Result<PayloadSearch, EscapedText.Failure> {
        search.bytes.isEmpty
            ? .failure(.init(column: 1, message: "write text, \"Text\" or hex:0d0a to search for")) : .success(search)
    }

    /// Returns the offsets of all matches in these bytes. Matches do not overlap.
    package func matches(in bytes: [UInt8]) -> [Int] {
        guard bytes.count >= self.bytes.count, let first = self.bytes.first.map(folded) else { return [] }
        var matches: [Int] = []
        var index = 0
        while index <= bytes.count - self.bytes.count {
            if folded(bytes[index]) == first, isMatch(bytes, at: index) {
                matches.append(index)
                index += self.bytes.count
            } else {
                index += 1
            }
        }
        return matches
    }

    private func isMatch(_ bytes: [UInt8], at start: Int) -> Bool {
        self.bytes.indices.allSatisfy { folded(bytes[start + $0]) == folded(self.bytes[$0]) }
    }

    private func folded(_ byte: UInt8) -> UInt8 {
        ignoresCase && byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
    }
}

extension PayloadSearch {
    /// Returns the offsets of all matches in the kept bytes of a message, counted from its first byte.
    package func matches(in item: TrafficItem) -> [Int] {
        let head = matches(in: item.bytes)
        guard !item.tail.isEmpty else { return head }
        return head + matches(in: item.tail).map { $0 + item.done - item.tail.count }
    }
}
