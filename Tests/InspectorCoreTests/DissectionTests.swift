import InspectorCore
import InspectorScreen
import SocketCore
import SocketRecords
import Testing

@Suite("Dissected traffic")
struct DissectionTests {
    private static let size = Size(80, 24)

    private static var model: Model {
        var model = Conversation.model(ascii: true, size: size)
        model.press(.escape)
        return model
    }

    private static func requests(_ effects: [Effect]) -> [DissectionRequest] {
        effects.compactMap { if case .dissect(let request) = $0 { request } else { nil } }
    }

    /// What one run was given, as a capture.
    private static func capture(_ requests: [DissectionRequest]) throws -> OpenedCapture {
        var capture = OpenedCapture()
        for case .packets(_, let bytes) in requests { try capture.absorb(bytes) }
        return capture
    }

    private static func news(_ lines: String..., run: Int = 1) -> Message {
        .dissection(.lines(run: run, lines, cut: 0))
    }

    @Test("the view starts a dissector and gives it what passed; leaving it ends that")
    func begins() throws {
        var model = Self.model
        let requests = Self.requests(model.update(.command("view dissected")))
        #expect(requests.first == .begin(run: 1, rules: []))
        let capture = try Self.capture(requests)
        let traffic = Conversation.traffic.items
        #expect(capture.traffic(of: SocketID(1)).items.map(\.bytes) == traffic.map(\.bytes))
        let socket = try #require(capture.snapshot(SnapshotRequest(), named: "x")?.sockets.first)
        #expect(socket.peer == Conversation.socket.peer && socket.local == Conversation.socket.local)
        // Nothing is given twice.
        #expect(Self.requests(model.update(.snapshot(Conversation.snapshot()))) == [])
        #expect(Self.requests(model.update(.key("3"))) == [.stop])
        #expect(Self.requests(model.update(.key("2"))).first == .begin(run: 2, rules: []))
        #expect(Self.requests(model.update(.command("view auto"))) == [.stop])
    }

    @Test("what comes later is given later, a read in progress as far as it is, and the end of the connection ends it")
    func grows() throws {
        var model = Self.model
        var all = Self.requests(model.update(.command("view dissected")))
        var snapshot = Conversation.snapshot()
        var item = TrafficItem(
            sequence: 3, operation: OperationID(9), time: World.at(14, 2, 12), direction: .received, tag: 0,
            kind: .read(.length(9)), done: 3, total: 9, state: .inProgress, bytes: Array("abc".utf8))
        snapshot.traffic?.items.append(item)
        all += Self.requests(model.update(.snapshot(snapshot)))
        (item.done, item.bytes, item.state) = (9, Array("abcdefghi".utf8), .complete(after: .zero))
        snapshot.traffic?.items[3] = item
        snapshot.sockets[0].closed = CloseRecord(time: World.now, error: nil, mode: .now)
        all += Self.requests(model.update(.snapshot(snapshot)))
        #expect(all.last == .finish(run: 1))
        let received = try Self.capture(all).traffic(of: SocketID(1)).items.filter { $0.direction == .received }
        #expect(received.suffix(2).map(\.bytes) == [Array("abc".utf8), Array("defghi".utf8)])
        _ = model.update(.dissection(.ended(run: 1, nil)))
        #expect(model.dissection.stage == .ended(nil))
    }

    @Test("lines stand below the item that their frame carries, without what a terminal would obey")
    func lines() {
        var model = Self.model
        _ = model.update(.command("view dissected"))
        // Three frames of a handshake carry nothing.
        _ = model.update(
            Self.news(
                "1\tTCP\t[SYN]", "4\tHTTP\tGET / HTTP/1.0", "5\tHTTP\t\u{1B}[2Jevil\u{202E}", "x\ty\tz", "99\tA\tb", "6"
            ))
        let text = draw(model, Self.size).text
        #expect(text.contains("HTTP  GET / HTTP/1.0") && !text.contains("SYN") && !text.contains("\u{1B}"))
        #expect(text.contains("evil") && !text.contains("\u{202E}"))
        #expect(model.dissection.summaries.count == 2)
        // What a former run says is too late.
        _ = model.update(Self.news("6\tHTTP\tlate", run: 0))
        #expect(model.dissection.summaries.count == 2)
    }

    @Test("Enter shows the tree of the item, asked for once")
    func tree() {
        var model = Self.model
        _ = model.update(.command("view dissected"))
        #expect(Self.requests(model.press(.enter)) == [.tree(run: 1, item: 2, frames: [6])])
        model.press(.enter)
        #expect(Self.requests(model.press(.enter)) == [])
        _ = model.update(.dissection(.tree(run: 1, item: 2, ["Frame 6", "    Stream \u{1B}[31m"], more: 3)))
        let text = draw(model, Self.size).text
        #expect(text.contains("Frame 6") && text.contains("3 more lines not shown") && !text.contains("\u{1B}"))
        model.press(.enter)
        #expect(!draw(model, Self.size).text.contains("Frame 6"))
    }

    @Test("decode-as begins again with the rule; one that is none is refused")
    func rules() {
        var model = Self.model
        _ = model.update(.command("view dissected"))
        let requests = Self.requests(model.update(.command("decode-as tcp.port==8000,http")))
        #expect(requests.prefix(2) == [.stop, .begin(run: 2, rules: ["tcp.port==8000,http"])])
        #expect(requests.count == 3)
        for rule in ["http", "tcp.port==1", "tcp.port==1,", "-V==1,x", "tcp.port==1,http;id", "a==b,c,d"] {
            #expect(Self.requests(model.update(.command("decode-as \(rule)"))) == [])
            #expect(model.notice?.isError == true, "\(rule)")
        }
        #expect(Self.requests(model.update(.command("decode-as off"))).contains(.begin(run: 3, rules: [])))
    }

    @Test("the plaintext of TLS is what the port says is inside it")
    func plaintext() {
        var model = Self.model
        var snapshot = Conversation.snapshot()
        snapshot.sockets[0].peer = .v6(host: "::1", port: 443)
        snapshot.sockets[0].tls = TLSSnapshot(role: .client, phase: .secure, asked: World.now)
        _ = model.update(.snapshot(snapshot))
        let requests = Self.requests(model.update(.command("view dissected")))
        #expect(requests.first == .begin(run: 1, rules: ["tcp.port==443,http"]))
    }

    @Test("what ends a dissector is said, and asking for the view again begins again")
    func ended() {
        var model = Self.model
        _ = model.update(.command("view dissected"))
        _ = model.update(.dissection(.ended(run: 1, "tshark is not installed")))
        #expect(draw(model, Self.size).text.contains("tshark is not installed"))
        #expect(Self.requests(model.update(.snapshot(Conversation.snapshot()))) == [])
        #expect(Self.requests(model.update(.command("view dissected"))).contains(.begin(run: 2, rules: [])))
    }

    @Test("lines of one item and in all have limits, and those left out are counted")
    func limits() {
        var model = Self.model
        _ = model.update(.command("view dissected"))
        let lines = (0..<100).map { "4\tHTTP\tline \($0)" }
        _ = model.update(.dissection(.lines(run: 1, lines, cut: 7)))
        #expect(model.dissection.summaries[0]?.count == Dissection.lineLimit)
        let text = draw(model, Self.size).text
        #expect(text.contains("36 more lines of tshark output not kept"))
        #expect(text.contains("7 lines of tshark output were too long"))
    }

    static let screens: [Screen] = [
        Screen("dissected") { size in
            var model = Conversation.model(ascii: true, size: size)
            model.press(.escape)
            _ = model.update(.command("view dissected"))
            _ = model.update(
                news(
                    "4\tHTTP\tGET / HTTP/1.0 ", "5\tTCP\t8000 -> 40100 [PSH, ACK] Seq=1 Ack=17 Win=65535 Len=57",
                    "6\tHTTP\tHTTP/1.0 200 OK  (text/plain)"))
            model.press(.enter)
            _ = model.update(
                .dissection(
                    .tree(
                        run: 1, item: 2,
                        ["Hypertext Transfer Protocol", "    HTTP/1.0 200 OK\\r\\n", "    Server: demo\\r\\n"],
                        more: 0)))
            return model
        },
        Screen("dissected-absent") { size in
            var model = Conversation.model(ascii: true, size: size)
            model.press(.escape)
            _ = model.update(.command("view dissected"))
            _ = model.update(
                .dissection(.ended(run: 1, "tshark is not installed: sudo apt install tshark; then :view dissected")))
            return model
        },
    ]
}
