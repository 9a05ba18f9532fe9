import SocketCore
import SocketRecords
import SocketTestSupport

/// A small conversation with something odd in it: how it opens, what happens, how it ends, and how its packets are
/// framed.
struct OddCapture {
    enum Opening: String, CaseIterable {
        case handshake, fastOpen, fastOpenRefused, answerInSYN, simultaneous, withoutSYN, withoutSYNACK, inTheMiddle
        case twoSYNs, lateSYN
    }

    enum Middle: String, CaseIterable {
        case plain, again, againInPart, overlap, swapped, lost, lostAtEnd, differing, keepAlive, emptyKeepAlive
        case zeroWindow, clientOnly, serverOnly, wrap, duplicates, farReset, farSegment, urgent
    }

    enum Ending: String, CaseIterable {
        case fins, none, halfClose, reset, resetWithText, resetAfterFIN, finWithData, finAgain, dataAfterFIN, portReused
        case lateAfterReuse
    }

    enum Framing: String, CaseIterable {
        case plain, tag, twoTags, options, extensions, fragments, padded, noLength, snapped
    }

    struct Segment {
        var side: SegmentScript.Side
        var flags: SyntheticPacket.Flags
        var offset: Int
        var ack: Int?
        var bytes: [UInt8]
        /// Whether it is of a second connection between the same ends.
        var isSecond = false
    }

    let opening: Opening
    let middle: Middle
    let ending: Ending
    let framing: Framing
    let port: UInt16
    let isIPv6: Bool
    private(set) var segments: [Segment] = []
    /// The offset of the next byte of each side.
    private var next: [SegmentScript.Side: Int] = [.client: 1, .server: 1]
    private var isSecond = false

    var kinds: [String] { [opening.rawValue, middle.rawValue, ending.rawValue, framing.rawValue] }

    init(
        _ opening: Opening, _ middle: Middle, _ ending: Ending, _ framing: Framing, port: UInt16,
        _ random: inout SplitMix64
    ) {
        (self.opening, self.middle, self.ending, self.framing, self.port) = (opening, middle, ending, framing, port)
        isIPv6 = framing == .extensions || framing != .options && Bool.random(using: &random)
        open(&random)
        let begin = segments.count
        for _ in 0..<6 { say(Bool.random(using: &random) ? .client : .server, &random) }
        disturb(from: begin, &random)
        end(&random)
        switch middle {
        case .clientOnly: segments.removeAll { $0.side == .server }
        case .serverOnly: segments.removeAll { $0.side == .client }
        default: break
        }
    }

    // MARK: Segments

    private mutating func add(
        _ side: SegmentScript.Side, _ flags: SyntheticPacket.Flags = .ack, at offset: Int? = nil, ack: Int? = nil,
        _ bytes: [UInt8] = []
    ) {
        let other: SegmentScript.Side = side == .client ? .server : .client
        segments.append(
            Segment(
                side: side, flags: flags, offset: offset ?? next[side, default: 1], ack: ack ?? next[other, default: 1],
                bytes: bytes, isSecond: isSecond))
    }

    private mutating func say(
        _ side: SegmentScript.Side, _ flags: SyntheticPacket.Flags = .ack, _ random: inout SplitMix64
    ) {
        let bytes = (0..<Int.random(in: 2...60, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        add(side, flags, bytes)
        next[side, default: 1] += bytes.count
        add(side == .client ? .server : .client)
    }

    private mutating func add(_ side: SegmentScript.Side, _ flags: SyntheticPacket.Flags, _ bytes: [UInt8]) {
        add(side, flags, at: nil, ack: nil, bytes)
    }

    private mutating func say(_ side: SegmentScript.Side, _ random: inout SplitMix64) { say(side, .ack, &random) }

    private mutating func syn(_ bytes: [UInt8] = []) {
        add(.client, .syn, at: 0, bytes)
        segments[segments.count - 1].ack = nil
    }

    private mutating func open(_ random: inout SplitMix64) {
        let text = Array("early \(port)".utf8)
        switch opening {
        case .fastOpen, .fastOpenRefused:
            syn(text)
            if opening == .fastOpenRefused {
                add(.server, .syn, at: 0)
                add(.client, .ack, text)
            }
            next[.client] = 1 + text.count
            if opening == .fastOpen { add(.server, .syn, at: 0) }
        case .answerInSYN:
            syn(text)
            next[.client] = 1 + text.count
            add(.server, .syn, at: 0, Array("answer".utf8))
            next[.server] = 7
        case .simultaneous:
            syn()
            add(.server, .syn, at: 0)
            segments[segments.count - 1].ack = nil
            add(.client, .syn, at: 0)
            add(.server, .syn, at: 0)
        default:
            syn()
            add(.server, .syn, at: 0)
        }
        add(.client)
        switch opening {
        case .withoutSYN: segments.removeFirst()
        case .withoutSYNACK: segments.remove(at: 1)
        case .inTheMiddle:
            say(.client, &random)
            say(.server, &random)
            segments = []
        case .twoSYNs: segments.insert(contentsOf: segments.prefix(2), at: 1)
        case .lateSYN: segments.swapAt(0, 1)
        default: break
        }
    }

    private mutating func disturb(from begin: Int, _ random: inout SplitMix64) {
        let data = segments.indices.filter { $0 >= begin && !segments[$0].bytes.isEmpty }
        guard let index = data.dropFirst().randomElement(using: &random), let last = data.last else { return }
        var again = segments[index]
        switch middle {
        case .again: segments.insert(again, at: index + 2)
        case .againInPart:
            again.offset += 1
            again.bytes.removeFirst()
            segments.insert(again, at: index + 1)
        case .overlap:
            again.bytes = Array(again.bytes.prefix(again.bytes.count / 2 + 1))
            segments.insert(again, at: index)
        case .swapped: segments.swapAt(index, index + 1)
        case .lost: segments.remove(at: index)
        case .lostAtEnd: segments.remove(at: last)
        case .differing:
            again.bytes[0] ^= 1
            segments.insert(again, at: index + 1)
        case .duplicates: segments.insert(contentsOf: [segments[index + 1], segments[index + 1]], at: index + 1)
        case .keepAlive, .emptyKeepAlive:
            let octet: [UInt8] = middle == .keepAlive ? [0] : []
            add(.client, .ack, at: next[.client, default: 1] - 1, octet)
            add(.server)
            add(.server, .ack, at: next[.server, default: 1] - 1, octet)
            add(.client)
            say(.client, &random)
        case .zeroWindow:
            // A probe with the next byte, which is sent again with more.
            let offset = next[.client, default: 1]
            add(.client, .ack, [65])
            add(.server)
            add(.client, .ack, Array("ABC".utf8))
            segments[segments.count - 1].offset = offset
            next[.client] = offset + 3
            add(.server)
        case .farReset:
            add(.server, .reset, at: 0x2000_0000)
            segments[segments.count - 1].ack = nil
            say(.client, &random)
        case .farSegment:
            add(.client, .ack, at: 0x5000_0000, Array("far".utf8))
            say(.client, &random)
        case .plain, .clientOnly, .serverOnly, .wrap, .urgent: break
        }
    }

    private mutating func end(_ random: inout SplitMix64) {
        switch ending {
        case .none: break
        case .fins: close()
        case .halfClose:
            fin(.client)
            say(.server, &random)
        case .reset, .resetWithText:
            add(.server, .reset, ending == .reset ? [] : Array("no more of this".utf8))
        case .resetAfterFIN:
            fin(.client)
            add(.server, .reset, [])
        case .finWithData:
            add(.client, .fin, Array("the last".utf8))
            next[.client, default: 1] += 9
            fin(.server)
            add(.client)
        case .finAgain:
            close()
            segments.insert(segments[segments.count - 2], at: segments.count - 1)
        case .dataAfterFIN:
            fin(.client)
            add(.client, .ack, Array("after".utf8))
            add(.server)
        case .portReused, .lateAfterReuse:
            close()
            let late = segments.last { !$0.bytes.isEmpty && $0.flags.isDisjoint(with: .syn) }
            (isSecond, next) = (true, [.client: 1, .server: 1])
            syn()
            add(.server, .syn, at: 0)
            say(.client, &random)
            if ending == .lateAfterReuse, let late { segments.append(late) }
            say(.server, &random)
            close()
        }
    }

    private mutating func fin(_ side: SegmentScript.Side) {
        add(side, .fin, [])
        next[side, default: 1] += 1
        add(side == .client ? .server : .client)
    }

    private mutating func close() {
        fin(.client)
        fin(.server)
    }

    // MARK: Packets

    /// Its packets, from the IP header on, and how many bytes of each are in the file.
    var packets: [(bytes: [UInt8], kept: Int)] {
        var script = SegmentScript(isIPv6: isIPv6, clientPort: port, serverPort: 7_000)
        let number = UInt32(port) &* 65_537
        for (index, segment) in segments.enumerated() {
            let start = middle == .wrap ? UInt32.max - 40 : number
            script.first = segment.isSecond ? (start &+ 9_000_000, start &+ 800_000_000) : (start, start &+ 7_777)
            if middle == .wrap { script.first.server = segment.isSecond ? 5 : .max - 20 }
            script.window = middle == .zeroWindow && index % 5 == 4 ? 0 : 64_240
            let flags =
                middle == .urgent && !segment.bytes.isEmpty ? segment.flags.union(.init(rawValue: 32)) : segment.flags
            script.send(segment.side, flags, at: segment.offset, ack: segment.ack, bytes: segment.bytes)
        }
        return script.packets.enumerated().flatMap { framed($1, identification: $0 + 1) }
    }

    private func framed(_ packet: [UInt8], identification: Int) -> [(bytes: [UInt8], kept: Int)] {
        var packet = packet
        let lengthPlace = isIPv6 ? 4 : 2
        switch framing {
        case .plain, .tag, .twoTags: break
        case .padded: packet += [UInt8](repeating: 0xEE, count: 6)
        case .noLength: packet.replaceSubrange(lengthPlace..<(lengthPlace + 2), with: [0, 0])
        case .snapped: return [(packet, isIPv6 ? 70 : 50)]
        case .fragments:
            guard packet.count > 100 else { break }
            let parts = Dialogue.fragments(packet, of: 24, identification: UInt16(identification))
            return (identification % 2 == 0 ? parts : parts.reversed()).map { ($0, .max) }
        case .options:
            packet[0] = 0x46
            packet.replaceSubrange(2..<4, with: SegmentScript.number(UInt16(packet.count + 4)))
            packet.insert(contentsOf: [1, 1, 1, 1], at: 20)
        case .extensions:
            // Hop-by-hop options, an empty routing header and destination options.
            let headers: [UInt8] = [43, 0, 1, 4, 0, 0, 0, 0, 60, 0, 253, 0, 0, 0, 0, 0, 6, 0, 1, 4, 0, 0, 0, 0]
            packet[6] = 0
            packet.replaceSubrange(4..<6, with: SegmentScript.number(UInt16(packet.count - 40 + headers.count)))
            packet.insert(contentsOf: headers, at: 40)
        }
        return [(packet, .max)]
    }

    var tags: [UInt16] { framing == .tag ? [5] : framing == .twoTags ? [6, 7] : [] }
}
