/// The notices of a program until the viewer takes them: the first few, and the number of the others.
package struct NoticeBuffer: Sendable {
    private var sentences: [String] = []
    private var dropped = 0

    /// The most sentences kept between two takes. A program has no reason to send more in a tenth of a second.
    package static let limit = 8

    /// Adds a sentence, or only counts it if the buffer is full.
    package mutating func add(_ sentence: String) {
        if sentences.count < Self.limit { sentences.append(sentence) } else { dropped += 1 }
    }

    /// Takes all sentences, with one about those that were dropped.
    package mutating func take() -> [String] {
        defer { self = NoticeBuffer() }
        return sentences + (dropped > 0 ? ["\(dropped) more notices arrived at the same time and were dropped"] : [])
    }
}
