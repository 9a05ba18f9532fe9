import SocketCore

/// The expected form of an answer: fixed bytes, and holes, where the bytes can differ.
package struct AnswerPattern: Equatable, Sendable {
    /// The bytes that a hole matches.
    package enum Hole: Equatable, Sendable {
        /// Any bytes of the same length.
        case bytes
        /// One or more letters and digits.
        case word
        /// Any bytes.
        case gap
    }

    /// A stretch of the answer.
    package struct Piece: Equatable, Sendable {
        package var range: Range<Int>
        /// The kind of hole, or `nil` if the bytes are fixed.
        package var hole: Hole?
        /// For a gap, how many of the bytes after it must match at the place where it ends. If 0, everything after it
        /// must match.
        package var anchor: Int

        package init(_ range: Range<Int>, _ hole: Hole? = nil, anchor: Int = 0) {
            (self.range, self.hole, self.anchor) = (range, hole, anchor)
        }
    }

    /// The recorded answer.
    package let answer: [UInt8]
    /// The stretches that cover it, in order. Only a gap can be empty.
    package let pieces: [Piece]

    /// Creates a pattern without holes.
    package init(_ answer: [UInt8]) { self.init(answer, holes: []) }

    /// Creates a pattern with these holes, which must be in order and must not overlap.
    package init(_ answer: [UInt8], holes: [Piece]) {
        var pieces: [Piece] = []
        var end = 0
        for hole in holes + [Piece(answer.count..<answer.count)] {
            let next = hole.range.lowerBound
            if let anchor = pieces.last?.anchor, anchor > 0, end + anchor < next {
                pieces.append(Piece(end..<end + anchor))
                end += anchor
            }
            if next > end { pieces.append(Piece(end..<next)) }
            if hole.hole != nil { pieces.append(hole) }
            end = hole.range.upperBound
        }
        (self.answer, self.pieces) = (answer, pieces)
    }

    /// Creates a pattern that matches any bytes of this length.
    package init(lengthOf answer: [UInt8]) {
        self.init(answer, holes: answer.isEmpty ? [] : [Piece(0..<answer.count, .bytes)])
    }

    /// The holes, in order.
    package var holes: [Piece] { pieces.filter { $0.hole != nil } }

    /// Returns the pattern repeated `count` times.
    package func repeated(_ count: Int) -> AnswerPattern {
        var holes: [Piece] = []
        for index in 0..<count {
            let start = index * answer.count
            for hole in self.holes {
                let range = start + hole.range.lowerBound..<start + hole.range.upperBound
                holes.append(Piece(range, hole.hole, anchor: hole.anchor))
            }
        }
        return AnswerPattern([[UInt8]](repeating: answer, count: count).flatMap { $0 }, holes: holes)
    }

    /// Whether a byte is part of a word.
    package static func isWord(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}

/// A hole as the user writes it: `17`, `17-23`, or a text with `*` for the part that may differ, such as `Date: *\r\n`.
package enum HoleRule: Equatable, Sendable {
    /// The bytes of the answers at these offsets.
    case bytes(ClosedRange<Int>)
    /// Two or more texts in sequence, with any bytes between them.
    case text([[UInt8]])

    package struct Problem: Error, Equatable, Sendable { package var sentence: String }

    /// Parses a rule. `\x2a` stands for a literal star.
    package static func parse(_ text: String) throws(Problem) -> HoleRule {
        if let range = range(text) { return .bytes(range) }
        let parts = text.split(separator: "*", omittingEmptySubsequences: false)
        guard parts.count > 1 else {
            throw Problem(sentence: "has no *; write offsets as in 17-23, or a text as in 'Date: *\\r\\n'")
        }
        var texts: [[UInt8]] = []
        for part in parts {
            guard !part.isEmpty else { throw Problem(sentence: "needs text on both sides of each *") }
            switch EscapedText.parse(String(part)) {
            case .success(let bytes): texts.append(bytes)
            case .failure(let failure): throw Problem(sentence: failure.message)
            }
        }
        return .text(texts)
    }

    private static func range(_ text: String) -> ClosedRange<Int>? {
        let numbers = text.split(separator: "-", omittingEmptySubsequences: false).map { part in
            part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(part) : nil
        }
        guard (1...2).contains(numbers.count), let first = numbers.first ?? nil, let last = numbers.last ?? nil,
            first <= last, last < Int.max
        else { return nil }
        return first...last
    }

    /// Returns the holes that it makes in an answer, or an empty array if it doesn't match.
    func holes(in answer: [UInt8]) -> [AnswerPattern.Piece] {
        switch self {
        case .bytes(let range):
            return range.upperBound < answer.count ? [.init(range.lowerBound..<range.upperBound + 1, .bytes)] : []
        case .text(let texts): return Self.gaps(texts, in: answer)
        }
    }

    private static func gaps(_ texts: [[UInt8]], in answer: [UInt8]) -> [AnswerPattern.Piece] {
        var holes: [AnswerPattern.Piece] = []
        var start = 0
        while true {
            var found: [AnswerPattern.Piece] = []
            var end = start
            for (index, text) in texts.enumerated() {
                guard let place = answer.firstPlace(of: text, from: end) else { return holes }
                if index > 0 { found.append(.init(end..<place, .gap, anchor: text.count)) }
                end = place + text.count
            }
            holes += found
            // The end of one match can be the beginning of the next.
            start = end - (texts.last?.count ?? 0)
        }
    }
}

extension AnswerPattern {
    /// Creates a pattern with the holes that these rules make in an answer.
    /// - Throws: the index of the first rule that matches nothing in the answer.
    package init(_ answer: [UInt8], rules: [HoleRule]) throws(HoleRule.Unused) {
        var holes: [Piece] = []
        for (index, rule) in rules.enumerated() {
            let made = rule.holes(in: answer)
            guard !made.isEmpty else { throw HoleRule.Unused(index: index, length: answer.count) }
            holes += made
        }
        holes.sort { ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound) }
        var merged: [Piece] = []
        for hole in holes {
            guard let last = merged.last, hole.range.lowerBound < last.range.upperBound else {
                merged.append(hole)
                continue
            }
            let end = max(last.range.upperBound, hole.range.upperBound)
            merged[merged.count - 1] = Piece(
                last.range.lowerBound..<end, last.hole == .gap || hole.hole == .gap ? .gap : .bytes,
                anchor: hole.range.upperBound == end ? hole.anchor : last.anchor)
        }
        self.init(answer, holes: merged)
    }
}

extension HoleRule {
    /// A rule that matches nothing in the answer.
    package struct Unused: Error, Equatable, Sendable {
        package var index: Int
        /// The length of the answer.
        package var length: Int

        package init(index: Int, length: Int) { (self.index, self.length) = (index, length) }
    }
}

extension [UInt8] {
    /// Returns the first index of other bytes, from `start` on.
    fileprivate func firstPlace(of other: [UInt8], from start: Int) -> Int? {
        guard let first = other.first, count - start >= other.count else { return nil }
        for place in start...(count - other.count) where self[place] == first {
            if self[place..<(place + other.count)].elementsEqual(other) { return place }
        }
        return nil
    }
}
