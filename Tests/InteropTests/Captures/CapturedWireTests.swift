import SocketCore
import SocketTestSupport
import Testing

/// What tcpdump saw on a wire of the test's own, opened here: the streams are what was sent.
@Suite(
    "Captured wires", .serialized, .timeLimit(.minutes(10)),
    .enabled(if: CapturedWire.isPossible, "\(CapturedWire.need)"))
struct CapturedWireTests {
    private static func frames(_ packets: [[UInt8]], tags: [UInt16] = []) -> [[UInt8]] {
        packets.map { ForeignFile.header(.ethernet, isIPv6: $0[0] >> 4 == 6, tags) + $0 }
    }

    @Test("frames that were sent as they are: lost, late, twice, tagged, in fragments")
    func frames() throws {
        var random = SplitMix64(seed: 7)
        var expected: [UInt16: (dialogue: Dialogue, held: (client: [UInt8?], server: [UInt8?]))] = [:]
        var frames: [[UInt8]] = []
        for (number, isIPv6) in [false, true, false].enumerated() {
            let port = UInt16(7_001 + number)
            let first = (client: UInt32.max - 2_000, server: UInt32(77))
            let dialogue = Dialogue.random(&random, isIPv6: isIPv6, port: port, first: first)
            var segments = dialogue.segments.filter {
                $0.payload.isEmpty || Int.random(in: 0..<10, using: &random) != 0
            }
            for index in stride(from: 5, to: segments.count - 6, by: 4) { segments.swapAt(index, index + 2) }
            for index in stride(from: 6, to: segments.count - 4, by: 9) {
                segments.insert(segments[index], at: index + 2)
            }
            segments = dialogue.acknowledged(segments)
            expected[port] = (dialogue, dialogue.held(by: segments))
            for (index, segment) in segments.enumerated() {
                let packet = dialogue.packet(segment)
                let isCut = number == 2 && packet.count > 200
                let parts = isCut ? Dialogue.fragments(packet, of: 160, identification: UInt16(index + 1)) : [packet]
                frames += Self.frames(index % 2 == 0 ? parts : parts.reversed(), tags: index % 3 == 0 ? [9] : [])
            }
        }
        let wire = try CapturedWire(sending: frames)
        for file in [wire.near, wire.far, wire.any] {
            let reading = try CaptureReading(file)
            for (port, (_, held)) in expected {
                let socket = try #require(reading.socket(to: port), "\(file) \(port)")
                #expect(difference(reading.sent(.sent, by: socket), held.client) == nil, "\(file) \(port)")
                #expect(difference(reading.sent(.received, by: socket), held.server) == nil, "\(file) \(port)")
                let stream = try reading.tshark(
                    "-Y", "tcp.port == \(port)", "-T", "fields", "-e", "tcp.stream"
                ).first.flatMap { Int($0) }
                let followed = try reading.followed(try #require(stream), clientPort: 40_000)
                #expect(difference(followed.client, held.client) == nil, "\(file) \(port)")
                #expect(difference(followed.server, held.server) == nil, "\(file) \(port)")
            }
        }
    }

    @Test(
        "a conversation whose packets a rule drops, seen on either side of it",
        .enabled(if: Peer.isUsable("nft"), "nft is missing"), arguments: ["client", "server"])
    func loss(_ side: String) throws {
        let size = 120_000
        let wire = try CapturedWire(losing: 9, at: side, bytes: size)
        let sent = (0..<size).map { UInt8?(CapturedWire.truth($0)) }
        for file in [wire.near, wire.far, wire.any] {
            let reading = try CaptureReading(file)
            let socket = try #require(reading.socket(to: 9_000))
            let answer = Array(sent.prefix(size / 2))
            #expect(difference(reading.sent(.sent, by: socket), sent) == nil, "\(file)")
            #expect(difference(reading.sent(.received, by: socket), answer) == nil, "\(file)")
            let again = try reading.tshark("-Y", "tcp.analysis.retransmission || tcp.analysis.out_of_order")
            #expect(!again.isEmpty, "nothing was lost")
            let followed = try reading.followed(0, clientPort: Self.port(socket))
            #expect(difference(followed.client, sent) == nil, "\(file)")
            #expect(difference(followed.server, answer) == nil, "\(file)")
        }
    }

    private static func port(_ socket: SocketSnapshot) -> UInt16 { socket.local?.port ?? 0 }

    @Test(
        "bytes that are missing from the file are gaps where they are missing",
        .enabled(if: Peer.isUsable("nft", "editcap"), "nft or editcap is missing"))
    func gaps() throws {
        let wire = try CapturedWire(losing: 11, at: "server", bytes: 60_000)
        let whole = try CaptureReading(wire.far)
        let numbers = try whole.tshark("-Y", "tcp.len > 0", "-T", "fields", "-e", "frame.number").compactMap { Int($0) }
        let lost = numbers.enumerated().filter { $0.offset % 7 == 2 }.map { "\($0.element)" }
        let path = wire.far + ".lost"
        #expect(try ChildProcess.run(["editcap", wire.far, path] + lost).status == 0)
        let reading = try CaptureReading(path)
        let socket = try #require(reading.socket(to: 9_000))
        // Which bytes the file still has, by the sequence numbers that tshark reads.
        var held: [Bool: [UInt8?]] = [:]
        for (isClient, size) in [(true, 60_000), (false, 30_000)] {
            var bytes = [UInt8?](repeating: nil, count: size)
            let port = isClient ? "tcp.dstport == 9000" : "tcp.srcport == 9000"
            for line in try reading.tshark(
                "-Y", "\(port) && tcp.len > 0", "-T", "fields", "-e", "tcp.seq", "-e", "tcp.len")
            {
                let numbers = line.split(separator: "\t").compactMap { Int($0) }
                let start = numbers[0] - 1
                for index in start..<(start + numbers[1]) { bytes[index] = CapturedWire.truth(index) }
            }
            held[isClient] = bytes
        }
        #expect(difference(reading.sent(.sent, by: socket), held[true] ?? []) == nil)
        #expect(difference(reading.sent(.received, by: socket), held[false] ?? []) == nil)
        #expect(held[true]?.contains(nil) == true && held[false]?.contains(nil) == true)
    }
}
