import Glibc
import SocketTestSupport
import Testing

/// A peer that sends as fast as it can. What was measured is printed, since a number that grows tells more than a test
/// that still passes.
@Suite("A flood", .enabled(if: Tmux.isUsable, "tmux is missing"), .timeLimit(.minutes(10)))
struct FirstMinuteFloodTests {
    /// 1 GiB where time is no matter.
    private static let amount = getenv("SOCKTUI_SOAK") == nil ? 64 << 20 : 1 << 30
    /// A sanitizer keeps freed memory for a while, and is slow.
    private static let allowance = Program.isSanitized ? 256 << 20 : 24 << 20

    @Test("is shown as it goes on, answers keys at once and takes no memory")
    func flood() throws {
        let (inspection, port) = try Peer.listening()
        let small = try #require(ProcessFacts.residentBytes(inspection.process))
        let begin = ContinuousClock.now
        let flood = try Flood(to: port)
        try inspection.wait(for: "w write")
        var slowest = Duration.zero
        var largest = 0
        var presses: [Duration] = []
        while presses.count < 10 || flood.sent < Self.amount {
            for (key, sign) in [("3", "[3 Detail]"), ("2", "[2 Traffic]")] {
                let pressed = ContinuousClock.now
                try inspection.tmux.keys(key)
                try inspection.wait(for: sign)
                presses.append(ContinuousClock.now - pressed)
                slowest = max(slowest, presses.last ?? .zero)
                largest = max(largest, try #require(ProcessFacts.residentBytes(inspection.process)))
            }
        }
        #expect(try eventually { try Self.isFlowing(inspection) }, inspection.tmux.picture)
        #expect(flood.stop())
        let rate = Double(flood.sent >> 20) / ((ContinuousClock.now - begin) / .seconds(1))
        try inspection.wait(for: "peer closed its side (FIN)")
        try inspection.tmux.keys("3")
        try inspection.wait(for: "rx \(Self.text(flood.sent))")
        largest = max(largest, try #require(ProcessFacts.residentBytes(inspection.process)))
        let median = presses.sorted()[presses.count / 2]
        print("flood: \(flood.sent >> 20) MiB, \(Int(rate)) MiB/s; \(presses.count) keys, median \(median),")
        print("slowest \(slowest); memory at the start \(small >> 10) KiB, growth \((largest - small) >> 10) KiB")
        #expect(slowest < .seconds(Program.isSanitized ? 10 : 1))
        #expect(largest - small < Self.allowance)
    }

    @Test(
        "waits in the kernel where no read is queued, and the peer with it",
        .enabled(if: Peer.isUsable("ss"), "ss is missing"))
    func backPressure() throws {
        let (inspection, port) = try Peer.listening("--no-read")
        let small = try #require(ProcessFacts.residentBytes(inspection.process))
        let flood = try Flood(to: port)
        // It is "not read here" where the name of the peer's program leaves room for that.
        try inspection.wait(for: " here")
        // Full: what the peer got rid of lies in the kernel, and it gets rid of no more.
        var before = -1
        #expect(
            try eventually {
                defer { before = flood.sent }
                let row = try SocketStatistics.all().first { $0.localPort == port && $0.state == "ESTAB" }
                return before == flood.sent && (row?.receiveQueue ?? 0) > 0
            })
        #expect(flood.sent < Flood.unit)
        let large = try #require(ProcessFacts.residentBytes(inspection.process))
        #expect(large - small < Self.allowance)
        kill(inspection.process, SIGTERM)
        #expect(flood.stop())
    }

    /// Whether the first row tells of bytes that come in.
    private static func isFlowing(_ inspection: Inspection) throws -> Bool {
        let words = try #require(try inspection.rows().first).split(separator: " ")
        guard let place = words.firstIndex(of: "rx"), place + 1 < words.count else { return false }
        return words[place + 1].hasSuffix("M/s") || words[place + 1].hasSuffix("G/s")
    }

    /// As the screen writes a number of whole MiB.
    private static func text(_ bytes: Int) -> String {
        let mebibytes = bytes >> 20
        if mebibytes < 1_000 { return "\(mebibytes)M" }
        let tenths = Int((Double(mebibytes) / 102.4).rounded())
        return tenths < 100 ? "\(tenths / 10).\(tenths % 10)G" : "\(Int((Double(mebibytes) / 1024).rounded()))G"
    }
}
