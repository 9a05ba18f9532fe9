import SocketCore
import SocketExport
import SocketRecords
import SocketTestSupport
import SocketWorkshop
import Testing

@Suite("Exports of a capture")
struct ExportTests {
    /// The conversation of the one session of a file.
    private static func conversation(
        _ file: [UInt8], span: ClosedRange<Duration> = .zero ... .seconds(9)
    ) throws -> (ExportedConversation, ExportRow) {
        var index = ExportIndex()
        try index.absorb(file)
        let row = try #require(index.rows().first)
        var reader = ExportedConversation.Reader(PacketSelection(flows: [row.flow], span: span))
        try reader.absorb(file)
        return (reader.finish(row), row)
    }

    private static func row(_ target: String) throws -> ExportRow {
        var (_, row) = try conversation(SampleCapture.recording())
        row.target = target
        return row
    }

    private static func curl(_ request: String, _ target: String = "127.0.0.1:80") throws -> String {
        try CurlExport.text(Array(request.utf8), row(target))
    }

    @Test("what each side sent is told apart, also without the handshake")
    func sides() throws {
        let file = SampleCapture.recording()
        let (whole, row) = try Self.conversation(file)
        #expect(
            whole.bytes(of: .client) == Array("PING\r\n".utf8) && whole.bytes(of: .server) == Array("+PONG\r\n".utf8))
        #expect(row.target == "127.0.0.1:6379" && row.isStream)
        let (rest, _) = try Self.conversation(file, span: .nanoseconds(3) ... .nanoseconds(4))
        #expect(rest.bytes(of: .client) == Array("PING\r\n".utf8) && rest.bytes(of: .server) == Array("+PONG\r\n".utf8))
        let (first, _) = try Self.conversation(file, span: .zero ... .nanoseconds(3))
        #expect(first.bytes(of: .client) == Array("PING\r\n".utf8) && first.bytes(of: .server).isEmpty)
    }

    @Test("snapshots that cannot be read when a recording is opened cannot be exported either")
    func unreadable() throws {
        var change = InspectionTraffic()
        change.socket = SocketID(1)
        change.items = [2, 1].map { number in
            TrafficItem(
                sequence: number, operation: OperationID(1), time: .zero, direction: .sent, tag: 0, kind: .write,
                done: 0,
                total: nil, state: .complete(after: .zero), bytes: [])
        }
        var writer = PcapngWriter()
        writer.section(application: "socktui", comment: "")
        writer.frames(InspectionFrame.traffic(change).bytes + InspectionFrame.tick(InspectionTick()).bytes)
        let file = writer.bytes
        var opened = OpenedCapture()
        let reason = try #require(#expect(throws: CaptureError.self) { try opened.absorb(file) })
        var index = ExportIndex()
        #expect(throws: reason) { try index.absorb(file) }
    }

    @Test("packets that are exported are those that were captured, with their interface and notes")
    func packets() throws {
        let file = SampleCapture.recording()
        var export = CaptureExport(PacketSelection(flows: [0], span: .zero ... .seconds(9)), isWhole: false)
        try export.absorb(file)
        let made = export.take()
        #expect(made == file)
        // What carries neither TCP nor UDP goes along where nothing is left out.
        var writer = PcapngWriter()
        writer.section(application: "", comment: "")
        let interface = writer.interface(name: "lo", description: "")
        writer.packet([1, 2], length: 2, interface: interface, nanoseconds: 1, notes: PacketNotes())
        var whole = CaptureExport(PacketSelection(flows: [], span: .zero ... .zero), isWhole: true)
        try whole.absorb(writer.bytes)
        #expect(whole.packets == 1)
        var none = CaptureExport(PacketSelection(flows: [1], span: .zero ... .seconds(9)), isWhole: false)
        try none.absorb(file)
        #expect(none.packets == 0)
    }

    @Test("times are counted from where the file begins, which may be after its first packet")
    func start() throws {
        let file = SampleCapture.recording()
        func packets(_ span: ClosedRange<Duration>) throws -> UInt64 {
            let start: Int64 = 1_700_000_000_000_000_003
            var export = CaptureExport(PacketSelection(flows: [0], span: span, start: start), isWhole: false)
            try export.absorb(file)
            return export.packets
        }
        #expect(try packets(.zero ... .zero) == 4)
        #expect(try packets(.nanoseconds(1) ... .seconds(1)) == 5)
    }

    @Test("what is not one conversation says why: clear text before TLS, datagrams of several peers")
    func obstacles() throws {
        func row(_ entries: [RecordedEntry.Content], _ role: SocketRole) throws -> ExportRow {
            var writer = RecordingWriter(application: "socktui", zero: 0)
            let address = SocketAddress.v4(host: "127.0.0.1", port: 25)
            let facts = RecordedSession(
                id: SocketID(7), local: .v4(host: "127.0.0.1", port: 40_000), peer: role == .datagram ? nil : address,
                isClient: true, role: role, target: "localhost:25")
            writer.add(RecordedEntry(SocketID(7), at: .zero, .session(facts, isNew: true)))
            for content in entries { writer.add(RecordedEntry(SocketID(7), at: .zero, content)) }
            let snapshot = EngineSnapshot(engine: "x", time: .zero, wallNanoseconds: 0)
            writer.add(RecordedEntry(SocketID(7), at: .zero, .snapshot(snapshot, [:])))
            var index = ExportIndex()
            try index.absorb(writer.take())
            return try #require(index.rows().first)
        }
        func bytes(_ bytes: [UInt8], isPlain: Bool) -> RecordedEntry.Content {
            .bytes(bytes[...], length: bytes.count, isSent: true, isPlain: isPlain)
        }
        let plain = bytes(Array("secret".utf8), isPlain: true)
        #expect(try row([bytes([22, 3, 1], isPlain: false), plain], .client).obstacle == nil)
        #expect(try row([plain], .client).obstacle == nil)
        let upgraded = try row([bytes(Array("STARTTLS\r\n".utf8), isPlain: false), plain], .client)
        #expect(upgraded.obstacle?.contains("has 10 bytes from before TLS") == true, "\(upgraded)")
        func datagram(_ port: UInt16) -> RecordedEntry.Content {
            .datagram([1], isSent: true, .v4(host: "127.0.0.1", port: port), length: 1)
        }
        #expect(try row([datagram(53), datagram(53)], .datagram).obstacle == nil)
        #expect(
            try row([datagram(53), datagram(54)], .datagram).obstacle
                == "its datagrams have 2 address pairs, but only one can be exported")
    }

    @Test("missing bytes are counted for each side, and a FIN is none")
    func missing() throws {
        let both = try Self.conversation(SampleCapture.recording(snap: 2)).0
        #expect(both.missing(of: .client) == 4 && both.missing(of: .server) == 5)
        var script = SegmentScript()
        script.handshake()
        script.send(.client, at: 1, ack: 1, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
        script.send(.client, at: 29, ack: 39)
        script.send(.client, .fin, at: 29, ack: 39)
        script.send(.client, at: 30, ack: 40)
        script.packets.remove(at: 1)
        let (one, row) = try Self.conversation(script.pcap())
        #expect(one.missing(of: .client) == 0 && one.missing(of: .server) == 38)
        #expect(try CurlExport.text(one.bytes(of: .client), row).hasPrefix("curl"))
    }

    @Test("a script waits for the text on each side of a gap, and never for both as one")
    func gap() throws {
        var parts: [ExportedConversation.Part] = [
            .init(side: .client, bytes: Array("A".utf8)), .init(side: .server, bytes: Array("one".utf8)),
            .init(side: .server, bytes: Array("two".utf8)),
        ]
        parts[2].followsGap = true
        let text = try ScriptExport.text(ExportedConversation(parts), Self.row("localhost:7"))
        #expect(text.hasSuffix("send A\nwait 10s one\nwait 10s two\n"))
    }

    @Test("a script sends each write in a line of its own, and waits for what answers begin with")
    func script() throws {
        let parts: [ExportedConversation.Part] = [
            .init(side: .client, bytes: Array(" a\\b\u{1b}\r\n ".utf8)), .init(side: .server, bytes: [1, 2, 3]),
            .init(side: .client, bytes: Array("B".utf8)), .init(side: .server, bytes: Array("\r\n+O".utf8)),
            .init(side: .server, bytes: Array("K you\r\nmore".utf8)),
        ]
        let text = try ScriptExport.text(ExportedConversation(parts), Self.row("localhost:7"))
        let lines = text.split(separator: "\n").dropFirst()
        #expect(
            Array(lines) == [
                "connect localhost:7", "wait connected", #"send \x20a\\b\x1b\r\n\x20"#,
                "# 3 bytes arrived here without text to wait for", "send B", "wait 10s +OK you",
            ])
        let unanswered = try ScriptExport.text(ExportedConversation([parts[2]]), Self.row("localhost:7"))
        #expect(unanswered.hasSuffix("send B\nclose after-writes\n"))
        #expect(throws: ExportProblem("its client sent nothing")) {
            try ScriptExport.text(ExportedConversation([]), Self.row("localhost:7"))
        }
        // The address is what a file says.
        for target in ["unix:/x\ndump /x/notes", "localhost:7 insecure", "localhost:7\u{1b}", ""] {
            #expect(throws: ExportProblem.self) {
                try ScriptExport.text(ExportedConversation(parts), Self.row(target))
            }
        }
    }

    @Test("one request becomes a command; what curl would add is taken out")
    func request() throws {
        let text = try Self.curl(
            "GET /a?b=[1] HTTP/1.1\r\nHost: x.example\r\nX-Note: it's $HOME\r\nAccept: */*\r\n\r\n")
        #expect(
            text == """
                curl --http1.1 --globoff --path-as-is 'http://127.0.0.1:80/a?b=[1]' -H 'Host: x.example' \
                -H 'X-Note: it'\\''s $HOME' -H 'Accept: */*' -H 'User-Agent:'

                """)
        let secure = try Self.curl("HEAD / HTTP/1.1\r\nHost: x.example\r\n\r\n", "tls://127.0.0.1:443")
        #expect(secure.contains("--head --connect-to '::127.0.0.1:443' 'https://x.example/'"), "\(secure)")
        let binary = try Self.curl("PUT * HTTP/1.0\r\nContent-Length: 3\r\n\r\n\u{0}%\n", "unix:/run/x")
        #expect(binary.hasPrefix("printf '\\000%%\\012' |\ncurl --http1.0"), "\(binary)")
        #expect(binary.contains("-X 'PUT' --unix-socket '/run/x' --request-target '*' 'http://localhost/'"))
    }

    @Test("each request of a connection becomes a command, in their order")
    func requests() throws {
        let text = try Self.curl(
            "GET /a HTTP/1.1\r\n\r\nPOST /b HTTP/1.1\r\nContent-Length: 2\r\n\r\nhiHEAD /c HTTP/1.1\r\n\r\n")
        let commands = text.split(separator: "\n")
        #expect(commands.count == 3 && commands.allSatisfy { $0.hasPrefix("curl ") }, "\(text)")
        #expect(commands[0].contains(":80/a'") && commands[1].contains("--data-raw 'hi'"))
        #expect(commands[1].contains(":80/b'") && commands[2].contains("--head 'http://127.0.0.1:80/c'"))
    }

    @Test(
        "what a relay's client sent is sent again to where the relay led, and is known to have passed a proxy",
        arguments: [(false, "relay to h.example:80", nil), (true, "SOCKS 5 proxy", .socks5)]
            as [(Bool, String, ProxyKind?)])
    func relayed(isSecure: Bool, listens: String, proxy: ProxyKind?) throws {
        var writer = RecordingWriter(application: "socktui", zero: 0)
        let (relay, server) = (
            SocketAddress.v4(host: "127.0.0.1", port: 9_000), SocketAddress.v4(host: "127.0.0.1", port: 80)
        )
        let facts = RecordedSession(
            id: SocketID(2), local: relay, peer: .v4(host: "127.0.0.1", port: 40_000), isClient: false, role: .accepted,
            target: "")
        writer.add(RecordedEntry(SocketID(2), at: .zero, .session(facts, isNew: true)))
        let bytes = Array("GET / HTTP/1.1\r\n\r\n".utf8)
        writer.add(
            RecordedEntry(
                SocketID(2), at: .zero, .bytes(bytes[...], length: bytes.count, isSent: false, isPlain: false)))
        var snapshot = EngineSnapshot(engine: "x", time: .zero, wallNanoseconds: 0)
        var client = SocketSnapshot(id: SocketID(2), role: .accepted, phase: .connected, target: "", opened: .zero)
        (client.local, client.peer, client.linked) = (relay, .v4(host: "127.0.0.1", port: 40_000), SocketID(3))
        var target = SocketSnapshot(
            id: SocketID(3), role: .client, phase: .connected, target: "h.example:443", opened: .zero)
        (target.peer, target.linked) = (server, SocketID(2))
        if isSecure { target.tls = TLSSnapshot(role: .client, phase: .secure, asked: .zero) }
        var listener = SocketSnapshot(id: SocketID(1), role: .listener, phase: .listening, target: "", opened: .zero)
        listener.name = listens
        client.parent = listener.id
        snapshot.sockets = [listener, client, target]
        writer.add(RecordedEntry(SocketID(2), at: .zero, .snapshot(snapshot, [:])))
        var index = ExportIndex()
        try index.absorb(writer.take())
        let row = try #require(index.rows().first { $0.id == SocketID(2) })
        #expect(row.target == (isSecure ? "tls://h.example:443" : "127.0.0.1:80"))
        #expect(row.proxy == proxy)
    }

    @Test(
        "what is not requests is refused with the reason",
        arguments: [
            ("PING\r\n", "it is not HTTP/1: no complete header"),
            ("*1\r\n\r\n", "it does not begin with an HTTP/1 request"),
            (
                "GET / HTTP/1.1\r\n\r\nPING\r\n",
                "what follows its request 1 cannot be resent: it is not HTTP/1: no complete header"
            ),
            ("POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nx", "its body is incomplete"),
            ("GET / HTTP/1.1\r\nA: \u{1b}[2J\r\n\r\n", "its field A has control characters"),
            (
                "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
                "its chunked body is incomplete"
            ),
        ])
    func refused(_ request: String, _ reason: String) throws {
        #expect(throws: ExportProblem(reason)) { try Self.curl(request) }
    }
}
