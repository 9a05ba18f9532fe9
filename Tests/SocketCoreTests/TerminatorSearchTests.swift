import SocketCore
import SocketTestSupport
import Testing

struct TerminatorSearchTests {
    @Test func theFirstOccurrenceIsFound() {
        #expect(find("\r\n", in: "a\r\nb\r\n") == .found(end: 3))
        #expect(find("\n", in: "\n\n") == .found(end: 1))
        #expect(find("abc", in: "abc") == .found(end: 3))
    }

    /// Statement 46.
    @Test func aTerminatorThatOverlapsItselfEndsAtTheRightPlace() {
        #expect(find("aab", in: "aaab") == .found(end: 4))
        #expect(find("aa", in: "baaa") == .found(end: 3))
        #expect(find("abab", in: "aababab") == .found(end: 5))
    }

    @Test func aTerminatorThatDoesNotFitIsMissing() {
        #expect(find("abc", in: "bc") == .missing(resumeAt: 2))
        #expect(find("abc", in: "") == .missing(resumeAt: 0))
        #expect(find("\r\n", in: "a\nb\n\r") == .missing(resumeAt: 5))
    }

    @Test func aSearchThatResumesSeesAMatchAcrossTheSeam() {
        #expect(find("\r\n", in: "a\r") == .missing(resumeAt: 2))
        #expect(find("\r\n", in: "a\r\nb", from: 2) == .found(end: 3))
    }

    @Test func onlyMatchesThatEndBehindTheOffsetCount() {
        #expect(find("\n", in: "a\nb\n", from: 2) == .found(end: 4))
        #expect(find("\n", in: "a\n", from: 2) == .missing(resumeAt: 2))
    }

    /// Small alphabets make overlaps, near misses and matches at every seam.
    @Test func randomSearchesAgreeWithTheNaiveOne() {
        var generator = SplitMix64(seed: 46)
        for _ in 0..<3_000 {
            let stream = randomBytes(0...40, &generator)
            let terminator = randomBytes(1...4, &generator)
            let expected = naiveEnd(of: terminator, in: stream)
            #expect(drippedEnd(of: terminator, in: stream, using: &generator) == expected)
        }
    }

    private func find(_ terminator: String, in text: String, from offset: Int = 0) -> TerminatorSearch.Outcome {
        Array(text.utf8).withUnsafeBytes { TerminatorSearch.find(Array(terminator.utf8), in: $0, from: offset) }
    }

    private func randomBytes(_ count: ClosedRange<Int>, _ generator: inout SplitMix64) -> [UInt8] {
        (0..<Int.random(in: count, using: &generator)).map { _ in UInt8.random(in: 0...1, using: &generator) }
    }

    private func naiveEnd(of terminator: [UInt8], in stream: [UInt8]) -> Int? {
        stream.indices.map { $0 + 1 }.first { stream[..<$0].suffix(terminator.count) == terminator[...] }
    }

    /// Searches ever longer prefixes, each from where the search before stopped.
    private func drippedEnd(
        of terminator: [UInt8], in stream: [UInt8], using generator: inout SplitMix64
    ) -> Int? {
        var length = 0
        var offset = 0
        while length < stream.count {
            length = min(stream.count, length + Int.random(in: 1...3, using: &generator))
            switch stream[..<length].withUnsafeBytes({ TerminatorSearch.find(terminator, in: $0, from: offset) }) {
            case .found(let end): return end
            case .missing(let resumeAt): offset = resumeAt
            }
        }
        return nil
    }
}
