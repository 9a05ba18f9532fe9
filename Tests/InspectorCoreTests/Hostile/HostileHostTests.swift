import SocketCore
import Testing

@Suite("A host that wants to harm who reads its metrics")
struct HostileHostTests {
    @Test("the metrics of 60 such hosts are what the format allows, few, and the sums of the same look's JSON")
    func metrics() {
        for seed in 0..<60 {
            var generator = SeededGenerator(UInt64(seed) * 977 + 3)
            let fault = HostileHost { Int.random(in: 0..<$0, using: &generator) }.fault()
            #expect(fault == nil, "seed \(seed): \(fault ?? "")")
        }
    }

    @Test(
        "what the format forbids is noticed",
        arguments: [
            ("a 1\n", "family"), ("# TYPE a gauge\na 1", "no end"), ("# TYPE a gauge\na NaN\n", "finite"),
            ("# TYPE a gauge\na{b=\"\\t\"} 1\n", "escape"), ("# TYPE a gauge\na{b=\"\"} 1\n", "empty"),
            ("# TYPE a gauge\na{b=\"c} 1\n", "without an end"),
            ("# TYPE a gauge\na{b=\"c\"} 1\na{b=\"c\"} 2\n", "twice"),
            ("# TYPE a gauge\n# TYPE b gauge\na 1\n", "family"), ("# TYPE a gauge\na{b=\"c\",b=\"d\"} 1\n", "twice"),
            ("# TYPE a gauge\na{1b=\"c\"} 1\n", "name"), ("# TYPE a gauge\na{b=\"\u{1B}\"} 1\n", "control"),
        ])
    func forbidden(text: String, word: String) {
        let problem = #expect(throws: Exposition.Problem.self) { try Exposition(text) }
        #expect(problem?.sentence.contains(word) == true, "\(problem?.sentence ?? "")")
    }
}
