import SocketCore
import Testing

@Suite("Faults in WebSockets")
struct FaultFrameTests {
    private static let request = Array(
        "GET /chat HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n".utf8)
    private static let response = Array(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n".utf8)

    private static func frame(_ opcode: WebSocketOpcode, _ text: String, masked: Bool) -> [UInt8] {
        let payload = Array(text.utf8)
        var bytes: [UInt8] = []
        FrameHeader(opcode: opcode, maskKey: masked ? 0x1122_3344 : nil, length: payload.count)
            .append(to: &bytes, with: payload)
        return bytes
    }

    @Test("A rule for a kind of frame holds before the first of that kind, and lets others pass")
    func kind() throws {
        var bench = try FaultBench(["frame ping stall"])
        let text = Self.frame(.text, "hello", masked: true)
        let ping = Self.frame(.ping, "", masked: true)
        bench.send(Self.request + text)
        #expect(bench.output == Self.request + text)
        bench.send(ping)
        #expect(bench.output == Self.request + text && bench.isHolding)
    }

    @Test(
        "A replaced text keeps its frame whole and masked, and other frames are spared",
        arguments: 1...40, ["/wor../", "world"])
    func replace(most: Int, pattern: String) throws {
        var bench = try FaultBench(["frame text replace \(pattern) with \"much longer than before\""])
        let first = Self.frame(.text, "hello world", masked: true)
        let second = Self.frame(.binary, "a world apart", masked: true)
        var chopper = Chopper(UInt64(most))
        for read in chopper.chop(Self.request + first + second, most: most) { bench.send(read) }
        #expect(
            bench.output == Self.request + Self.frame(.text, "hello much longer than before", masked: true) + second)
    }

    @Test("A frame grows up to a limit, which is told, and stays whole")
    func growth() throws {
        var bench = try FaultBench(["frame text replace a with \(String(repeating: "b", count: 1_000))"], .downstream)
        bench.send(Self.response + Self.frame(.text, String(repeating: "a", count: 60_000), masked: false))
        let out = Array(bench.output.dropFirst(Self.response.count))
        #expect(out.count > 2 << 20 && out.count <= (4 << 20) + 10)
        #expect(out.prefix(2) == [0x81, 127] && out.suffix(1_000).allSatisfy { $0 == UInt8(ascii: "b") })
        #expect(out[10] == UInt8(ascii: "a"))
        #expect(bench.pipeline.isLimitedByBuffer)
    }

    @Test("corrupt spares the header of a frame")
    func corrupt() throws {
        var bench = try FaultBench(["frame text corrupt 4 bits"], .downstream)
        let frame = Self.frame(.text, String(repeating: "x", count: 300), masked: false)
        bench.send(Self.response + frame)
        let out = Array(bench.output.dropFirst(Self.response.count))
        #expect(out.count == frame.count && out != frame && out.prefix(4) == frame.prefix(4))
        #expect(zip(out, frame).reduce(0) { $0 + ($1.0 ^ $1.1).nonzeroBitCount } <= 4)
    }

    @Test("What is not a WebSocket is looked at as lines, and no frame is found in it")
    func notOne() throws {
        var bench = try FaultBench(["frame text reset", "replace /x/ with y"])
        bench.send("GET / HTTP/1.1\r\nHost: x\r\n\r\nx\r\n")
        #expect(!bench.wasReset)
        #expect(bench.text == "GET / HTTP/1.1\r\nHost: y\r\n\r\ny\r\n")
        var raw = try FaultBench(["frame text reset"])
        raw.send([0x81, 0x85, 1, 2, 3, 4, 5, 6, 7, 8, 9])
        #expect(!raw.wasReset && raw.output.count == 11)
    }

    @Test("A frame too long to hold passes as bytes, and the next one is found")
    func long() throws {
        var bench = try FaultBench(["frame ping reset"], .downstream)
        let long = Self.frame(.binary, String(repeating: "x", count: 400_000), masked: false)
        bench.send(Self.response)
        var chopper = Chopper(5)
        for read in chopper.chop(long, most: 60_000) { bench.send(read) }
        #expect(bench.output.count == Self.response.count + long.count && !bench.wasReset)
        bench.send(Self.frame(.ping, "", masked: false))
        #expect(bench.wasReset)
    }

    @Test("A frame that is not whole when its sender ends passes as it is")
    func cut() throws {
        var bench = try FaultBench(["replace /x/ with y"], .downstream)
        let frame = Self.frame(.text, "xxxx", masked: false)
        bench.send(Self.response + frame.dropLast())
        #expect(bench.output == Self.response)
        bench.end()
        #expect(bench.output == Self.response + frame.dropLast() && bench.hasEnded)
    }

    @Test("After half a frame was dropped by hand its rest passes, and the next frame is found", arguments: 1..<9)
    func taken(count: Int) throws {
        var bench = try FaultBench([], breaks: ["upstream on frame text", "upstream on bytes 72"])
        let frame = Self.frame(.text, "abc", masked: true)
        bench.send(Self.request + frame.prefix(count))
        #expect(bench.pipeline.held?.bytes == count)
        bench.release(.drop)
        bench.send(frame.dropFirst(count) + Self.frame(.binary, "x", masked: true))
        #expect(bench.output == Self.request + frame.dropFirst(count) + Self.frame(.binary, "x", masked: true))
        bench.send(frame)
        #expect(bench.pipeline.held?.breakpoint == 1 && bench.pipeline.held?.bytes == frame.count)
    }
}
