/// Compares an answer with a pattern while it arrives.
package struct AnswerMatcher: Sendable {
    /// Whether the answer has reached a position of the pattern.
    package enum Progress: Equatable, Sendable {
        case reached, notYet
        /// The position is in a hole of any length, and is reached when no more bytes arrive.
        case whenQuiet
    }

    package let pattern: AnswerPattern
    /// Whether bytes can follow the end of the pattern.
    private let allowsMore: Bool
    /// The latest received bytes. The first of them has offset `base`.
    private var text: [UInt8] = []
    private var base = 0
    /// The offset of the next byte to compare.
    private var place = 0
    private var piece = 0
    /// The number of bytes that have matched the current piece.
    private var within = 0
    /// After a gap, the piece that follows it, and the offset where it is being searched for.
    private var search: (piece: Int, place: Int)?
    /// The offset of the latest gap.
    private var gapStart = 0
    /// The farthest mismatch while searching after a gap.
    private var farthest: (expected: Int, place: Int) = (0, 0)
    package private(set) var difference: AnswerDifference?

    /// The number of bytes that are kept for an excerpt.
    private static let context = 4 * ByteExcerpt.row

    package init(_ pattern: AnswerPattern, allowsMore: Bool = false) {
        (self.pattern, self.allowsMore) = (pattern, allowsMore)
    }

    /// The number of bytes after the end of the pattern, if more may follow it.
    package private(set) var extra = 0

    /// The number of bytes received.
    package var count: Int { base + text.count }

    /// Whether the whole pattern was received. More bytes can still follow.
    package var isComplete: Bool {
        if piece == pattern.pieces.count { return true }
        return piece == pattern.pieces.count - 1 && pattern.pieces[piece].hole == .word && within > 0 && place == count
    }

    /// Processes the next bytes.
    package mutating func absorb(_ bytes: [UInt8]) {
        text += bytes
        guard difference == nil else { return }
        run(isOver: false)
        let keep = min(search?.place ?? place, place) - Self.context
        if keep - base > 1 << 16 {
            text.removeFirst(keep - base)
            base = keep
        }
    }

    /// Ends the answer.
    package mutating func finish() {
        guard difference == nil else { return }
        run(isOver: true)
        guard difference == nil, piece < pattern.pieces.count else { return }
        differ(.missing, expected: search == nil ? position : max(position, farthest.expected), at: count)
    }

    /// Returns whether the answer has reached this position of the pattern.
    package func progress(to offset: Int) -> Progress {
        if position >= offset { return .reached }
        guard isSearching, within == 0, count > gapStart else { return .notYet }
        return offset <= pattern.pieces[piece].range.lowerBound ? .whenQuiet : .notYet
    }

    /// Whether the position is in a gap, or just after one.
    private var isSearching: Bool { search?.piece == piece && piece < pattern.pieces.count }

    /// The progress of the answer, as an offset in the pattern's answer.
    package var position: Int {
        guard piece < pattern.pieces.count else { return pattern.answer.count }
        if isSearching, within == 0, piece > 0 { return pattern.pieces[piece - 1].range.lowerBound }
        let range = pattern.pieces[piece].range
        return range.lowerBound + min(within, range.count)
    }

    private mutating func run(isOver: Bool) {
        while difference == nil {
            guard piece < pattern.pieces.count else {
                guard place < count else { return }
                if search?.piece == piece {
                    place = count
                } else if allowsMore {
                    (extra, place) = (extra + count - place, count)
                } else if !goBack() {
                    differ(.extra, expected: pattern.answer.count, at: place)
                }
                continue
            }
            let range = pattern.pieces[piece].range
            switch pattern.pieces[piece].hole {
            case nil: if !literal(range) { return }
            case .bytes:
                let step = min(range.count - within, count - place)
                (within, place) = (within + step, place + step)
                if within < range.count { return }
                next()
            case .word: if !word(range, isOver) { return }
            case .gap:
                next()
                search = (piece, place)
                gapStart = place
            }
        }
    }

    private mutating func next() { (piece, within) = (piece + 1, 0) }

    /// Compares a piece without a hole. Returns `false` if it needs more bytes.
    private mutating func literal(_ range: Range<Int>) -> Bool {
        while place < count, within < range.count {
            guard text[place - base] == pattern.answer[range.lowerBound + within] else {
                mismatch()
                return true
            }
            (place, within) = (place + 1, within + 1)
        }
        guard within == range.count else { return false }
        if isSearching, piece > 0, pattern.pieces[piece - 1].anchor > 0 { search = nil }
        next()
        return true
    }

    /// Skips a word. Returns `false` if it needs more bytes.
    private mutating func word(_ range: Range<Int>, _ isOver: Bool) -> Bool {
        // If letters or digits follow directly, only the length determines where this word ends.
        let most = isBeforeWord ? range.count : Int.max
        while place < count, within < most, AnswerPattern.isWord(text[place - base]) {
            (place, within) = (place + 1, within + 1)
        }
        if place == count, within < most, !(isOver && within > 0) { return false }
        if within > 0 { next() } else { mismatch() }
        return true
    }

    private var isBeforeWord: Bool {
        guard piece + 1 < pattern.pieces.count else { return false }
        let following = pattern.pieces[piece + 1]
        return following.hole == .word
            || following.hole == nil && AnswerPattern.isWord(pattern.answer[following.range.lowerBound])
    }

    private mutating func mismatch() {
        let expected = pattern.pieces[piece].range.lowerBound + within
        if place >= farthest.place { farthest = (expected, place) }
        if goBack() { return }
        differ(.bytes, expected: expected, at: place)
    }

    /// Searches for the piece after the gap one byte later.
    private mutating func goBack() -> Bool {
        guard let former = search else { return false }
        search = (former.piece, former.place + 1)
        (piece, within, place) = (former.piece, 0, former.place + 1)
        return true
    }

    private mutating func differ(_ kind: AnswerDifference.Kind, expected: Int, at place: Int) {
        difference = AnswerDifference(
            kind: kind, expectedOffset: expected, offset: place,
            expected: ByteExcerpt(of: pattern.answer, around: expected),
            received: ByteExcerpt(of: text, base: base, around: place))
    }
}
