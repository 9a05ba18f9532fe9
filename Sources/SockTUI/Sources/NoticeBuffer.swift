/// The notices of a program until the viewer takes them: the first few, and how many more there were.
struct NoticeBuffer: Sendable {
    private var sentences: [String] = []
    private var dropped = 0

    /// Sentences kept between two looks. A program has no reason to say more than that in a tenth of a second.
    static let limit = 8

    /// Adds a sentence, or counts it where there are enough.
    mutating func add(_ sentence: String) {
        if sentences.count < Self.limit { sentences.append(sentence) } else { dropped += 1 }
    }

    /// Takes them all out, with a sentence about those that were dropped.
    mutating func take() -> [String] {
        defer { self = NoticeBuffer() }
        return sentences + (dropped > 0 ? ["\(dropped) more notices came at once, and were dropped"] : [])
    }
}
