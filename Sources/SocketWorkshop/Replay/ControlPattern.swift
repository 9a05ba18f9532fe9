/// The pattern of an answer, derived from several answers to the same request: what differs between them is a hole.
///
/// Answers are compared by words, runs of ASCII letters and digits, so that a date, a counter or an identifier is a
/// hole as a whole, whatever its length. If the numbers of words differ, everything between the common beginning and
/// the common end is one hole.
package struct ControlPattern: Equatable, Sendable {
    private let answer: [UInt8]
    private let tokens: [Range<Int>]
    private var holes: Set<Int> = []
    /// The words whose number differs between answers.
    private var gap: Range<Int>?
    package private(set) var pattern: AnswerPattern

    package init(_ first: [UInt8]) {
        answer = first
        tokens = Self.tokens(of: first)
        pattern = AnswerPattern(first)
    }

    /// Adds another answer. Returns `false` if it makes no difference.
    @discardableResult
    package mutating func absorb(_ other: [UInt8]) -> Bool {
        var matcher = AnswerMatcher(pattern)
        matcher.absorb(other)
        matcher.finish()
        guard matcher.difference != nil else { return false }
        let others = Self.tokens(of: other)
        let isAlike =
            gap == nil && others.count == tokens.count
            && tokens.indices.allSatisfy { isWord(tokens[$0]) == AnswerPattern.isWord(other[others[$0].lowerBound]) }
        if isAlike {
            for index in tokens.indices where !answer[tokens[index]].elementsEqual(other[others[index]]) {
                holes.insert(index)
            }
        } else {
            widen(other, others)
        }
        makePattern()
        return true
    }

    private mutating func widen(_ other: [UInt8], _ others: [Range<Int>]) {
        let most = min(tokens.count, others.count)
        var (prefix, suffix) = (0, 0)
        while prefix < min(most, gap?.lowerBound ?? most), isSame(prefix, other[others[prefix]]) { prefix += 1 }
        let limit = min(most - prefix, tokens.count - (gap?.upperBound ?? 0))
        while suffix < limit, isSame(tokens.count - 1 - suffix, other[others[others.count - 1 - suffix]]) {
            suffix += 1
        }
        gap = prefix..<(tokens.count - suffix)
    }

    private func isSame(_ index: Int, _ other: ArraySlice<UInt8>) -> Bool {
        let own = answer[tokens[index]]
        if holes.contains(index), let first = other.first {
            return isWord(tokens[index]) == AnswerPattern.isWord(first)
        }
        return own.elementsEqual(other)
    }

    private mutating func makePattern() {
        var pieces: [AnswerPattern.Piece] = []
        for index in holes.sorted() where gap?.contains(index) != true {
            pieces.append(.init(tokens[index], isWord(tokens[index]) ? .word : .bytes))
        }
        if let gap {
            let start = gap.lowerBound < tokens.count ? tokens[gap.lowerBound].lowerBound : answer.count
            let end = gap.upperBound > gap.lowerBound ? tokens[gap.upperBound - 1].upperBound : start
            let place = pieces.firstIndex { $0.range.lowerBound >= start } ?? pieces.count
            pieces.insert(.init(start..<end, .gap), at: place)
        }
        pattern = AnswerPattern(answer, holes: pieces)
    }

    private func isWord(_ token: Range<Int>) -> Bool { AnswerPattern.isWord(answer[token.lowerBound]) }

    private static func tokens(of bytes: [UInt8]) -> [Range<Int>] {
        var tokens: [Range<Int>] = []
        var start = 0
        while start < bytes.count {
            var end = start + 1
            if AnswerPattern.isWord(bytes[start]) {
                while end < bytes.count, AnswerPattern.isWord(bytes[end]) { end += 1 }
            }
            tokens.append(start..<end)
            start = end
        }
        return tokens
    }
}
