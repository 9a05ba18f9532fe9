import SocketCore
import Testing

@Suite("Breakpoints in one direction")
struct BreakpointTests {
    @Test("It stops at exactly its byte, and releases what is asked for")
    func bytes() throws {
        let sent = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        var bench = try FaultBench([], breaks: ["on bytes 4711"])
        bench.send(Array(sent.prefix(4_000)))
        #expect(bench.pipeline.held == nil)
        bench.send(Array(sent[4_000..<9_000]))
        #expect(bench.output.count == 4_711 && bench.isHolding)
        #expect(bench.pipeline.held?.bytes == 4_289 && bench.pipeline.held?.breakpoint == 1)
        #expect(bench.pipeline.heldBytes(3) == Array(sent[4_711..<4_714]))
        bench.release(.bytes(1))
        #expect(bench.output.count == 4_712)
        bench.release(.bytes(10))
        #expect(bench.output.count == 4_722 && bench.isHolding)
        bench.release(.all)
        #expect(bench.output.count == 9_000 && !bench.isHolding && bench.pipeline.held == nil)
        bench.send(Array(sent[9_000...]))
        #expect(bench.output == sent)
        #expect(bench.reports.map(\.kind) == [.held, .released])
    }

    @Test("More bytes than wait are released as they come")
    func later() throws {
        var bench = try FaultBench([], breaks: ["on bytes 2"])
        bench.send("ab")
        #expect(bench.isHolding)
        bench.release(.bytes(3))
        #expect(!bench.isHolding)
        bench.send("cdefg")
        #expect(bench.text == "abcde" && bench.isHolding)
        bench.release(.read)
        #expect(bench.text == "abcdefg" && bench.isHolding)
    }

    @Test("Held bytes are edited, or dropped, and the rest follows")
    func edit() throws {
        var bench = try FaultBench([], breaks: ["on match b"])
        bench.send("abc")
        #expect(bench.text == "a")
        bench.release(.edit(Array("XYZ".utf8)))
        #expect(bench.text == "aXYZ" && !bench.isHolding && bench.pipeline.droppedBytes == 2)
        bench.send("db!")
        #expect(bench.text == "aXYZd")
        bench.release(.drop)
        bench.send("e")
        #expect(bench.text == "aXYZde" && bench.pipeline.droppedBytes == 4)
    }

    @Test("FIN is held, and follows when released")
    func end() throws {
        var bench = try FaultBench([], breaks: ["on fin"])
        bench.send("abc")
        bench.end()
        #expect(bench.text == "abc" && !bench.hasEnded && bench.pipeline.held != nil)
        bench.release(.all)
        #expect(bench.hasEnded)
    }

    @Test("One that is removed releases what it holds")
    func removal() throws {
        var bench = try FaultBench([], breaks: ["on bytes 1"])
        bench.send("abc")
        bench.pipeline.remove(breakpoint: 1)
        bench.perform(bench.pipeline.start(bench.now))
        #expect(bench.text == "abc" && !bench.isHolding && bench.pipeline.isIdle)
    }

    @Test("A direction that is held for the other one lets nothing pass")
    func gate() throws {
        var bench = try FaultBench(["slice 2"])
        bench.perform(bench.pipeline.hold(for: 4, bench.now))
        bench.send("abc")
        #expect(bench.text.isEmpty && bench.isHolding && bench.pipeline.held?.breakpoint == 4)
        bench.release(.all)
        #expect(bench.text == "abc" && bench.pieces.count == 2)
    }

    @Test("Rules change what a breakpoint has let pass")
    func order() throws {
        var bench = try FaultBench(["replace b with B"], breaks: ["on match b"])
        bench.send("abc")
        #expect(bench.text == "a")
        bench.release(.all)
        #expect(bench.text == "aBc")
    }

    @Test("An edit, or a drop, takes what is half read as a line or a literal too, in the order of the stream")
    func halfRead() throws {
        for point in ["on match bcd", "on match /b/"] {
            var held = try FaultBench([], breaks: ["on match ab", point])
            held.send("xab1bc")
            #expect(held.pipeline.held?.bytes == 5 && held.pipeline.heldBytes(10) == Array("ab1bc".utf8))
            held.release(.edit(Array("!".utf8)))
            held.send("?\n")
            held.end()
            #expect(held.text == "x!?\n" && held.pipeline.pendingBytes == 0, "\(point)")
        }
    }

    @Test("What a held breakpoint itself has half read counts as held, and is dropped")
    func halfReadHere() throws {
        var bench = try FaultBench([], breaks: ["on match abc"])
        bench.send("1abc2ab")
        #expect(bench.pipeline.held?.bytes == 6 && bench.pipeline.heldBytes(9) == Array("abc2ab".utf8))
        bench.release(.drop)
        bench.send("c3")
        #expect(bench.text == "1c3" && bench.pipeline.droppedBytes == 6 && bench.pipeline.held == nil)
        var line = try FaultBench([], breaks: ["on match /x/"])
        line.send("x\nyz")
        #expect(line.pipeline.heldBytes(9) == Array("x\nyz".utf8))
        line.release(.edit([]))
        #expect(line.pipeline.pendingBytes == 0 && line.pipeline.abandon() == 0)
    }

    @Test("One read is let pass, whatever places are in it, and then it holds on")
    func reads() throws {
        var bench = try FaultBench([], breaks: ["on match b", "upstream on match /z/"])
        bench.send("abcbd")
        bench.send("ef\n")
        #expect(bench.pipeline.held?.bytes == 7)
        bench.release(.read)
        // The second breakpoint looks at whole lines.
        #expect(bench.pipeline.held?.bytes == 3 && bench.isHolding)
        bench.release(.read)
        #expect(bench.text == "abcbdef\n" && bench.isHolding && bench.pipeline.held?.bytes == 0)
        bench.release(.read)
        #expect(!bench.isHolding)
        bench.send("gh\n")
        #expect(bench.text.hasSuffix("gh\n") && bench.isHolding)
        bench.send("i")
        #expect(!bench.text.hasSuffix("i") && bench.pipeline.held?.bytes == 1)
    }

    @Test("A release that runs into the next place is told, and so is the next hold")
    func again() throws {
        var bench = try FaultBench([], breaks: ["on match b"])
        bench.send("ab")
        bench.release(.all)
        bench.send("b")
        bench.send("b")
        bench.release(.all)
        #expect(bench.reports.map(\.kind) == [.held, .released, .held, .released, .held])
        bench.pipeline.remove(breakpoint: 1)
        bench.perform(bench.pipeline.start(bench.now))
        #expect(bench.reports.last?.kind == .released && bench.text == "abbb" && bench.pipeline.isIdle)
    }

    @Test("Edited bytes are marked as ours through the rules after them")
    func ours() throws {
        var bench = try FaultBench(["latency 1s", "slice 2"], breaks: ["on bytes 1"])
        bench.send("abc")
        bench.release(.edit(Array("XYZ".utf8)))
        bench.send("d")
        bench.pass(.seconds(1))
        #expect(bench.text == "aXYZd" && bench.ours == Array("XYZ".utf8))
    }
}
