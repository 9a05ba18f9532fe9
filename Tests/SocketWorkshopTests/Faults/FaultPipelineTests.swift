import SocketCore
import SocketWorkshop
import Testing

@Suite("Faults in one direction")
struct FaultPipelineTests {
    @Test("A stage that waits for the one after it asks for no wake")
    func wakes() throws {
        var bench = try FaultBench(["latency 300ms jitter 100ms", "bandwidth 32K"])
        for _ in 0..<20 { bench.send([UInt8](repeating: 1, count: 65_536)) }
        var count = 0
        while let due = bench.wake, due <= .zero + .seconds(3), count < 10_000 {
            (bench.now, bench.wake) = (max(bench.now, due), nil)
            bench.perform(bench.pipeline.wake(bench.now))
            count += 1
        }
        #expect(10 < count && count < 1_000, "\(count)")
    }

    @Test("Without rules bytes pass as they are, and nobody has to ask")
    func idle() throws {
        var bench = try FaultBench([])
        #expect(bench.pipeline.isIdle)
        bench.send("hello")
        bench.end()
        #expect(bench.text == "hello" && bench.hasEnded && !bench.isHolding)
    }

    @Test("latency delivers later, in order, with FIN after the bytes")
    func latency() throws {
        var bench = try FaultBench(["latency 200ms"])
        bench.send("one")
        bench.pass(.milliseconds(100))
        bench.send("two")
        bench.end()
        bench.pass(.milliseconds(99))
        #expect(bench.text.isEmpty)
        bench.pass(.milliseconds(1))
        #expect(bench.text == "one" && !bench.hasEnded)
        bench.pass(.milliseconds(100))
        #expect(bench.text == "onetwo" && bench.hasEnded)
    }

    @Test("jitter stays within its bounds and never changes the order")
    func jitter() throws {
        var bench = try FaultBench(["latency 50ms jitter 20ms"])
        var sent: [MonotonicTime] = []
        for number in 0..<200 {
            sent.append(bench.now)
            bench.send([UInt8](repeating: UInt8(number), count: 16))
            bench.pass(.milliseconds(41))
        }
        bench.pass(.seconds(1))
        #expect(bench.output == (0..<3_200).map { UInt8($0 >> 4) })
        let delays = zip(bench.pieces, sent).map { $0.time - $1 }
        #expect(delays.allSatisfy { $0 >= .milliseconds(30) && $0 <= .milliseconds(70) })
        #expect(Set(delays).count > 100)
    }

    @Test("What latency holds is bounded, and more is held back and said so")
    func delayBuffer() throws {
        var bench = try FaultBench(["latency 10s"], delayBuffer: 1_064)
        bench.send([UInt8](repeating: 1, count: 999))
        #expect(!bench.isHolding)
        bench.send([UInt8](repeating: 2, count: 10))
        #expect(!bench.isHolding && !bench.pipeline.isLimitedByBuffer)
        bench.send([UInt8](repeating: 3, count: 10))
        #expect(bench.isHolding && bench.pipeline.isLimitedByBuffer)
        bench.pass(.seconds(10))
        #expect(!bench.isHolding)
        bench.pass(.seconds(10))
        #expect(bench.output.count == 1_019)
    }

    @Test("bandwidth keeps the rate over any second")
    func bandwidth() throws {
        var bench = try FaultBench(["bandwidth 32K"])
        let sent = (0..<400_000).map { UInt8(truncatingIfNeeded: $0) }
        var rest = sent[...]
        while bench.now < .zero + .seconds(10) {
            if !bench.isHolding {
                bench.send(Array(rest.prefix(4_096)))
                rest = rest.dropFirst(4_096)
            }
            bench.pass(.milliseconds(5))
        }
        let share = Double(bench.output.count) / Double(10 * 32_768)
        #expect(share > 0.99 && share < 1.01)
        #expect(bench.output == Array(sent.prefix(bench.output.count)))
    }

    @Test("slice cuts exactly, each piece apart")
    func slice() throws {
        var bench = try FaultBench(["slice 7 every 20ms"])
        bench.send("abcdefghijklmnopqrst")
        bench.pass(.milliseconds(100))
        #expect(bench.pieces.map { $0.bytes.count } == [7, 7, 6])
        #expect(bench.pieces.map { $0.time.nanoseconds / 1_000_000 } == [0, 20, 40])
        #expect(bench.pieces.allSatisfy { $0.isApart })
        bench.send("u")
        bench.pass(.milliseconds(20))
        bench.send("vw")
        #expect(bench.pieces.dropFirst(3).map { $0.bytes.count } == [1, 2])
        #expect(bench.text == "abcdefghijklmnopqrstuvw")
    }

    @Test("vary cuts within its bounds, at places that reads do not move")
    func vary() throws {
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        var whole = try FaultBench(["slice 700 vary 300"])
        whole.send(bytes)
        let sizes = whole.pieces.map(\.bytes.count)
        #expect(sizes.dropLast().allSatisfy { (400...1_000).contains($0) } && Set(sizes).count > 50)
        var cuts: Set<Int> = []
        var offset = 0
        for size in sizes {
            offset += size
            cuts.insert(offset)
        }
        var chopped = try FaultBench(["slice 700 vary 300"])
        var chopper = Chopper(3)
        for read in chopper.chop(bytes, most: 5_000) { chopped.send(read) }
        offset = 0
        var places: Set<Int> = []
        for piece in chopped.pieces {
            offset += piece.bytes.count
            places.insert(offset)
        }
        #expect(places.isSuperset(of: cuts))
    }

    @Test("stall takes nothing from the sender until its time is over")
    func stall() throws {
        var bench = try FaultBench(["after 3 stall 2s"])
        bench.send("abcdef")
        #expect(bench.text == "abc" && bench.isHolding)
        bench.pass(.milliseconds(1_999))
        #expect(bench.text == "abc" && bench.isHolding)
        bench.pass(.milliseconds(1))
        #expect(bench.text == "abcdef" && !bench.isHolding)
        var endless = try FaultBench(["stall"])
        #expect(endless.isHolding)
        endless.end()
        endless.pass(.seconds(1_000))
        #expect(!endless.hasEnded)
    }

    @Test("limit delivers so much and FIN, and counts the rest as dropped")
    func limit() throws {
        var bench = try FaultBench(["after 2 limit 3"])
        bench.send("abcdefgh")
        #expect(bench.text == "abcde" && bench.hasEnded && !bench.isHolding)
        bench.send("ij")
        #expect(bench.text == "abcde" && bench.pipeline.droppedBytes == 5 && !bench.isHolding)
    }

    @Test("reset comes after the bytes before its place, and needs none after it")
    func reset() throws {
        var bench = try FaultBench(["after 4 reset"])
        bench.send("abc")
        #expect(!bench.wasReset)
        bench.send("d")
        #expect(bench.text == "abcd" && bench.wasReset)
        #expect(try FaultBench(["reset"]).wasReset)
        var timed = try FaultBench(["after 5s reset"])
        timed.pass(.milliseconds(4_999))
        #expect(!timed.wasReset)
        timed.pass(.milliseconds(1))
        #expect(timed.wasReset)
    }

    @Test("half-close and slow-close")
    func closes() throws {
        var half = try FaultBench(["after 2 half-close"])
        half.send("abc")
        #expect(half.text == "ab" && half.hasEnded && half.pipeline.droppedBytes == 1)
        var slow = try FaultBench(["slow-close 3s"])
        slow.send("abc")
        slow.end()
        slow.pass(.milliseconds(2_999))
        #expect(slow.text == "abc" && !slow.hasEnded)
        slow.pass(.milliseconds(1))
        #expect(slow.hasEnded)
    }

    @Test("insert and replace")
    func changes() throws {
        var insert = try FaultBench(["match b insert XY"])
        insert.send("abcabc")
        #expect(insert.text == "aXYbcaXYbc")
        var replace = try FaultBench(["replace /[0-9]+/ with #"])
        replace.send("a12b345")
        #expect(replace.text.isEmpty)
        replace.send("6\r\nx7")
        #expect(replace.text == "a#b#\r\n")
        replace.end()
        #expect(replace.text == "a#b#\r\nx#" && replace.hasEnded)
        var literal = try FaultBench(["replace abc with \"\""])
        literal.send("xxab")
        #expect(literal.text == "xx")
        literal.send("cab")
        #expect(literal.text == "xx")
        literal.send("d")
        #expect(literal.text == "xxabd")
    }

    @Test("With match an effect that lasts begins with the first byte that matched")
    func fromMatch() throws {
        var bench = try FaultBench(["match QUIT stall"])
        bench.send("PING\r\nQU")
        #expect(bench.text == "PING\r\n" && !bench.isHolding)
        bench.send("IT\r\n")
        #expect(bench.text == "PING\r\n" && bench.isHolding)
    }

    @Test("When a rule goes, what it held goes out first, and then all passes unaltered")
    func removal() throws {
        var bench = try FaultBench(["latency 10s", "match xyz stall", "slice 1 every 1s"])
        bench.send("abc")
        bench.pass(.seconds(1))
        bench.send("defxy")
        for rule in 1...3 { bench.pipeline.remove(rule: rule) }
        bench.perform(bench.pipeline.start(bench.now))
        bench.send("z!")
        #expect(bench.text == "abcdefxyz!" && !bench.isHolding && bench.pipeline.isIdle)
    }

    @Test("What is half read is counted as waiting and as lost, and goes out in order when its rule goes")
    func halfRead() throws {
        var bench = try FaultBench(["match xyz replace abc with Q"])
        bench.send("xyzabxy")
        #expect(bench.text == "xyz" && bench.pipeline.pendingBytes == 4 && bench.pipeline.delayedBytes == 4)
        bench.pipeline.remove(rule: 1)
        bench.perform(bench.pipeline.start(bench.now))
        #expect(bench.text == "xyzabxy" && bench.pipeline.isIdle)
        for rule in ["match xyz stall", "replace /x/ with y", "frame text corrupt 1 bits", "replace xyz with 1"] {
            var other = try FaultBench([rule])
            other.send("xy")
            #expect(other.output.count + other.pipeline.abandon() == 2, "\(rule)")
        }
    }

    @Test("Nothing is delivered while the receiver takes nothing")
    func blockedReceiver() throws {
        var bench = try FaultBench(["latency 1ms"])
        bench.perform(bench.pipeline.blockReceiver(true, bench.now))
        #expect(bench.isHolding)
        bench.send("abc")
        bench.pass(.seconds(1))
        #expect(bench.text.isEmpty)
        bench.perform(bench.pipeline.blockReceiver(false, bench.now))
        bench.pass(.seconds(1))
        #expect(bench.text == "abc" && !bench.isHolding)
    }

    @Test("A rule in one direction does nothing in the other")
    func direction() throws {
        let bench = try FaultBench(["upstream stall"], .downstream)
        #expect(bench.pipeline.isIdle)
    }

    @Test("Reports of a rule are bounded, its count is not")
    func reports() throws {
        var bench = try FaultBench(["replace a with b"])
        bench.send([UInt8](repeating: 0x61, count: 1_000))
        #expect(bench.reports.count == 32)
        #expect(bench.pipeline.tallies.first?.count == 1_000)
    }

    @Test("Reads do not move what is hit: 1,000 seeds", arguments: 0..<10)
    func chopped(group: Int) throws {
        let rules = [
            ["corrupt 2 bits"], ["prob 0.5 corrupt 9 bits"], ["after 777 corrupt 1 bits"], ["match aba corrupt 3 bits"],
            ["match /b+a/ prob 0.5 corrupt 5 bits"], ["replace aab with \"\""], ["replace /a+b/ with XYZ"],
            ["after 100 replace /b./ with -", "match /a$/ insert <>"], ["match abab insert ab", "limit 1000"],
            ["match /^ab/ half-close"], ["match bbbbb reset"], ["after 50 match ba replace b with cc"],
            ["prob 0.3 replace a with AA", "slice 7 vary 5"],
        ]
        for seed in group * 100..<(group + 1) * 100 {
            var chopper = Chopper(UInt64(seed))
            let alphabet = Array("aaabbbab\n\r".utf8)
            let bytes = (0..<1_500).map { _ in alphabet[chopper.next(alphabet.count)] }
            let chosen = rules[seed % rules.count]
            var whole = try FaultBench(chosen, seed: UInt64(seed))
            whole.send(bytes)
            whole.end()
            var chopped = try FaultBench(chosen, seed: UInt64(seed))
            for read in chopper.chop(bytes, most: 1 + chopper.next(60)) { chopped.send(read) }
            chopped.end()
            #expect(chopped.output == whole.output, "seed \(seed), \(chosen)")
            #expect(chopped.hasEnded == whole.hasEnded && chopped.wasReset == whole.wasReset)
            if chosen.count == 1 {
                #expect(chopped.pipeline.tallies.map(\.count) == whole.pipeline.tallies.map(\.count), "seed \(seed)")
                #expect(chopped.pipeline.droppedBytes == whole.pipeline.droppedBytes, "seed \(seed), \(chosen)")
            }
        }
    }

    @Test("Another seed, rule, connection or direction hits other bytes")
    func seeds() throws {
        let bytes = [UInt8](repeating: 0, count: 10_000)
        func hit(_ rules: [String], _ seed: UInt64, _ connection: UInt64, _ direction: FaultDirection) throws -> [UInt8]
        {
            var bench = try FaultBench(rules, seed: seed, connection: connection, direction)
            bench.send(bytes)
            return bench.output
        }
        let first = try hit(["corrupt 1 bits"], 1, 1, .upstream)
        #expect(first.reduce(0) { $0 + $1.nonzeroBitCount } >= 9)
        #expect(try first == hit(["corrupt 1 bits"], 1, 1, .upstream))
        #expect(try first != hit(["corrupt 1 bits"], 2, 1, .upstream))
        #expect(try first != hit(["corrupt 1 bits"], 1, 2, .upstream))
        #expect(try first != hit(["corrupt 1 bits"], 1, 1, .downstream))
        #expect(try first != hit(["latency 1us", "corrupt 1 bits"], 1, 1, .upstream))
    }
}
