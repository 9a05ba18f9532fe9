import FuzzSupport
import SocketCore

/// A client and a server of ours, with a wire between them that carries as many bytes at a time as it likes.
struct Talk: ~Copyable {
    private struct Side: ~Copyable {
        var machine: WebSocketMachine
        /// Bytes on their way to the other side.
        var wire: [UInt8] = []
        var events: [WebSocketEvent] = []
        /// What was sent and what came, in order.
        var sent: [[UInt8]] = []
        var got: [[UInt8]] = []
        var stream: WebSocketMessageID?
        /// Messages behind the one that is streamed: they are sent when that is finished.
        var waiting: [[UInt8]] = []
        var key: UInt32 = 1

        init(_ role: WebSocketRole, way: UInt8) {
            let deflate = PerMessageDeflateParameters(
                serverNoContextTakeover: way & 8 != 0, clientNoContextTakeover: way & 16 != 0,
                serverMaxWindowBits: 9 + Int(way >> 5), clientMaxWindowBits: 15 - Int(way >> 5))
            machine = WebSocketMachine(
                role: role, deflate: way & 2 == 0 ? nil : deflate,
                settings: WebSocketSettings(
                    delivery: way & 4 == 0 ? .whole : .chunks, compressionThreshold: 4), now: .zero)
        }
    }

    private var client: Side
    private var server: Side

    init(way: UInt8) {
        client = Side(.client, way: way)
        server = Side(.server, way: way)
    }

    mutating func step(_ input: inout FuzzInput) {
        let choice = input.byte()
        if choice & 1 == 0 {
            Self.act(&client, choice >> 1, &input)
        } else {
            Self.act(&server, choice >> 1, &input)
        }
        if choice & 0x40 != 0 { Self.carry(from: &client, to: &server, most: 1 + Int(input.byte())) }
        if choice & 0x80 != 0 { Self.carry(from: &server, to: &client, most: 1 + Int(input.byte())) }
    }

    /// All arrives, and it is what was sent.
    mutating func end() {
        Self.finish(&client)
        Self.finish(&server)
        for _ in 0..<3 {
            Self.carry(from: &client, to: &server, most: .max)
            Self.carry(from: &server, to: &client, most: .max)
        }
        require(server.got == client.sent, "the server got \(server.got) of \(client.sent)")
        require(client.got == server.sent, "the client got \(client.got) of \(server.sent)")
        require(client.machine.bufferedBytes == 0 && server.machine.bufferedBytes == 0, "bytes are left")
        close()
    }

    private mutating func close() {
        do throws(WebSocketRefusal) {
            try client.machine.close(.normal, reason: "done", now: .zero)
        } catch {
            fatalError("\(error)")
        }
        Self.carry(from: &client, to: &server, most: .max)
        server.machine.acknowledgeEnd(now: .zero)
        Self.carry(from: &server, to: &client, most: .max)
        server.machine.receiveEnd(now: .zero, into: &server.events)
        client.machine.receiveEnd(now: .zero, into: &client.events)
        for report in [Self.report(server.events), Self.report(client.events)] {
            require(report?.wasClean == true && report?.code == .normal, "\(String(describing: report))")
        }
    }

    private static func report(_ events: [WebSocketEvent]) -> WebSocketCloseReport? {
        if case .closed(let report) = events.last { report } else { nil }
    }

    private static func act(_ side: inout Side, _ choice: UInt8, _ input: inout FuzzInput) {
        let bytes = input.bytes(Int(input.byte() & 31), mask: 0x7F)
        do throws(WebSocketRefusal) {
            switch choice & 7 {
            case 0, 1:
                if side.stream == nil { side.sent.append(bytes) } else { side.waiting.append(bytes) }
                try side.machine.send(choice & 8 == 0 ? .text : .binary, bytes, mayCompress: choice & 16 == 0)
            case 2, 3:
                guard let id = side.stream else {
                    side.stream = try side.machine.begin(.text, mayCompress: choice & 16 == 0)
                    side.sent.append([])
                    return
                }
                try side.machine.append(bytes, to: id)
                side.sent[side.sent.count - 1] += bytes
            case 4: finish(&side)
            case 5: try side.machine.ping(bytes)
            case 6: try side.machine.pong(bytes)
            default: break
            }
        } catch .tooManyControls {
            return
        } catch {
            fatalError("\(error)")
        }
    }

    private static func finish(_ side: inout Side) {
        guard let id = side.stream.take() else { return }
        do throws(WebSocketRefusal) {
            try side.machine.finish(id)
        } catch {
            fatalError("\(error)")
        }
        side.sent += side.waiting
        side.waiting = []
    }

    private static func carry(from: inout Side, to: inout Side, most: Int) {
        while most == .max || from.wire.count < most {
            let key = from.key
            let bytes = from.machine.takeOutgoing(
                most: 64, now: .zero, maskKey: { key &* 0x9E37_79B9 }, into: &from.events)
            guard !bytes.isEmpty else { break }
            from.key &+= 1
            from.machine.didWrite(bytes.count, now: .zero, into: &from.events)
            from.wire += bytes
        }
        let bytes = Array(from.wire.prefix(most))
        from.wire.removeFirst(bytes.count)
        to.machine.receive(bytes.span.bytes, now: .zero, into: &to.events)
        for event in to.events {
            switch event {
            case .message(_, let bytes): to.got.append(bytes)
            case .chunk(let chunk):
                if chunk.isFirst { to.got.append([]) }
                to.got[to.got.count - 1] += chunk.bytes
            case .failed(let failure): fatalError("\(failure)")
            case .ping, .pong, .closeReceived, .sent, .writable, .frame, .endOutput, .disconnect, .closed: break
            }
        }
        if case .closed = to.events.last { return }
        to.events = []
    }
}
