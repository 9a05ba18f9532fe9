import SocketCore
import SocketWorkshop
import Testing

@Suite("When faults take effect, and from where they count")
struct FaultTimingTests {
    private static let bytes = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }

    @Test(
        "A rule that is added later hits what it would have hit from the beginning",
        arguments: ["corrupt 3 bits", "after 20000 corrupt 5 bits", "prob 0.3 corrupt 9 bits"])
    func late(rule: String) throws {
        var whole = try FaultBench([rule])
        whole.send(Self.bytes)
        // Into a pipeline that exists, where another rule holds something, and into a new one.
        var added = try FaultBench(["latency 1s"])
        added.send(Array(Self.bytes.prefix(5_000)))
        added.pass(.seconds(1))
        added.send(Array(Self.bytes[5_000..<9_000]))
        added.pipeline.remove(rule: 1)
        try added.add(1, rule)
        added.send(Array(Self.bytes[9_000...]))
        #expect(Array(added.output[9_000...]) == Array(whole.output[9_000...]))
        var made = try FaultBench([rule], passed: 12_345)
        made.send(Array(Self.bytes[12_345...]))
        #expect(made.output == Array(whole.output[12_345...]))
    }

    @Test("A place and a time that have passed when a rule is added mean now")
    func passedPlace() throws {
        var bench = try FaultBench([], passed: 1_000)
        bench.send([UInt8](repeating: 1, count: 24))
        try bench.add(1, "after 1K insert !")
        try bench.add(2, "after 1030 insert ?")
        bench.send("abcdefgh")
        #expect(bench.text.hasSuffix("!abcde?fgh"))
        bench.pass(.seconds(6))
        try bench.add(3, "after 5s stall")
        #expect(bench.isHolding)
    }

    @Test("A breakpoint counts from the beginning of the stream, and is not hit where its place has passed")
    func breakpoints() throws {
        var bench = try FaultBench([], passed: 100)
        try bench.addBreak(1, "on bytes 99")
        bench.send("abc")
        #expect(bench.text == "abc" && bench.pipeline.held == nil)
        try bench.addBreak(2, "on bytes 105")
        bench.send("defg")
        #expect(bench.text == "abcde" && bench.pipeline.held?.breakpoint == 2)
        try bench.addBreak(3, "on bytes 106")
        bench.release(.all)
        #expect(bench.text == "abcdef" && bench.pipeline.held?.breakpoint == 3)
        try bench.addBreak(4, "on bytes 107")
        bench.release(.edit(Array("GHI".utf8)))
        #expect(bench.pipeline.held?.breakpoint == 4 && bench.pipeline.held?.bytes == 2)
        bench.release(.all)
        #expect(bench.text == "abcdefGHI" && bench.ours == Array("GHI".utf8))
    }

    @Test(
        "A reset comes at its time, whatever cannot go out before it",
        arguments: [
            ["stall", "after 5s reset"], ["after 5s reset", "stall"], ["after 5s reset", "slice 1 every 9s"],
        ])
    func reset(rules: [String]) throws {
        var bench = try FaultBench(rules)
        bench.send("abc")
        bench.pass(.milliseconds(4_999))
        #expect(!bench.wasReset)
        bench.pass(.milliseconds(1))
        #expect(bench.wasReset && bench.output.count + Int(bench.pipeline.droppedBytes) == 3)
    }

    @Test("A reset comes at its time though its receiver takes nothing")
    func resetBlocked() throws {
        var bench = try FaultBench(["after 5s reset", "latency 1ms"])
        bench.perform(bench.pipeline.blockReceiver(true, bench.now))
        bench.send("abc")
        bench.pass(.milliseconds(4_999))
        #expect(!bench.wasReset)
        bench.pass(.milliseconds(1))
        #expect(bench.wasReset && bench.pipeline.droppedBytes == 3)
        var place = try FaultBench(["after 2 reset", "after 1 stall"])
        place.send("abc")
        #expect(place.wasReset && place.text == "a")
    }

    @Test("Before the connection is established no rule takes effect, and none that is added")
    func awaiting() throws {
        var faults = RelayFaults(seed: 1, connection: 1, began: .zero, delayBuffer: 1_000)
        faults.awaitConnect()
        faults.add(NumberedFault(1, try FaultRule.parse("upstream reset")))
        #expect(faults.start(.zero + .seconds(1)).isEmpty)
        #expect(faults.receive([1], from: .client, .zero + .seconds(2)) == [.hold(.client, true)])
        let actions = faults.connected(.zero + .seconds(3))
        #expect(actions.contains(.reset) && faults.snapshot.droppedBytes == 1)
    }

    @Test("jitter depends on the place in the stream, not on how reads fall", arguments: 1...50)
    func jitter(seed: UInt64) throws {
        let bytes = Array(Self.bytes.prefix(2_000))
        func times(_ reads: [[UInt8]]) throws -> [MonotonicTime] {
            var bench = try FaultBench(["latency 50ms jitter 30ms"], seed: seed)
            for read in reads { bench.send(read) }
            bench.pass(.seconds(1))
            #expect(bench.output == bytes)
            return bench.pieces.flatMap { piece in piece.bytes.map { _ in piece.time } }
        }
        var chopper = Chopper(seed)
        let reads = chopper.chop(bytes, most: 1 + chopper.next(300))
        let (whole, chopped) = (try times([bytes]), try times(reads))
        #expect(whole == chopped && Set(whole).count > 1)
    }

    @Test(
        "corrupt flips as many different bits as it says", arguments: ["corrupt 8 bits", "match xxxx corrupt 31 bits"])
    func distinct(rule: String) throws {
        for seed in 0..<300 as Range<UInt64> {
            let sent = [UInt8](repeating: 0x78, count: rule.hasPrefix("match") ? 4 : 1_024)
            var bench = try FaultBench([rule], seed: seed)
            bench.send(sent)
            let flipped = zip(bench.output, sent).reduce(0) { $0 + ($1.0 ^ $1.1).nonzeroBitCount }
            #expect(flipped == (rule.hasPrefix("match") ? 31 : 8), "seed \(seed)")
        }
        var all = try FaultBench(["corrupt 8192 bits"])
        all.send([UInt8](repeating: 0x0F, count: 2_048))
        #expect(all.output == [UInt8](repeating: 0xF0, count: 2_048))
    }

    @Test("What latency holds is bounded with what each read costs, and shown without")
    func overhead() throws {
        var bench = try FaultBench(["latency 10s"], delayBuffer: 6_500)
        for _ in 0..<500 { bench.send([1]) }
        #expect(bench.isHolding && bench.pipeline.isLimitedByBuffer && bench.pipeline.delayedBytes == 100)
        var sliced = try FaultBench(["slice 1", "latency 10s"], delayBuffer: 6_500)
        for _ in 0..<2 { sliced.send([UInt8](repeating: 1, count: 500)) }
        #expect(sliced.isHolding && sliced.pipeline.isLimitedByBuffer)
        sliced.pass(.seconds(200))
        #expect(sliced.output.count == 1_000 && sliced.pieces.count == 1_000)
        #expect(sliced.pieces.allSatisfy { $0.isApart })
    }
}
