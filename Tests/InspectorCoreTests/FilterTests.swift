import InspectorCore
import InspectorScreen
import SocketCore
import Testing

@Suite("The filter's grammar")
struct FilterTests {
    private func matches(_ text: String, in sockets: [SocketSnapshot] = World.sockets) throws -> [UInt64] {
        var findings = Findings(LintSettings())
        findings.absorb(World.snapshot(sockets), lost: 0)
        return try Filter.parse(text).get().matching(sockets, World.now, findings).map(\.id.number)
    }

    @Test("Every column with numbers is compared, and every column with words is searched")
    func columns() throws {
        var socket = World.make(1, .client, .connected, target: "h:1")
        socket.kernel = KernelSnapshot()
        socket.kernel?.sendQueue = 70_000
        socket.name = "Cache"
        for text in ["sendq>64k", "sendq<1m name:cach", "!recvq>0"] { #expect(try matches(text, in: [socket]) == [1]) }
        for text in ["sendq<64k", "name:web", "unread>0"] {
            #expect(try matches(text, in: [socket]).isEmpty, "\(text)")
        }
        for text in ["sendq>64k", "reading>0"] { #expect(try Filter.parse(text).get().asksKernel) }
    }

    @Test("text is found whatever its case, in names that are ASCII and in those that are not")
    func cases() {
        func lists(_ name: String, _ filter: String) -> Bool {
            var socket = World.make(1, .client, .connected, target: "h:1")
            socket.name = name
            guard case .success(let filter) = Filter.parse(filter) else { return false }
            return !filter.matching([socket], .zero, Findings(LintSettings())).isEmpty
        }
        #expect(lists("Mail Relay", "relay") && lists("Mail Relay", "IL") && lists("ab", "ab"))
        #expect(lists("Größe", "GRÖSSE") == false && lists("ÄRGER", "ärg") && lists("x€Y", "y"))
        #expect(!lists("relay", "relays") && !lists("aab", "abb") && lists("aaab", "aab"))
    }

    @Test(
        "Words are AND, | is OR, ! is NOT, parentheses group",
        arguments: [
            ("state:estab | state:listen", [3, 7, 8, 10]), ("!state:closed role:client", [7, 10, 11]),
            ("(id:7 | id:8) port:8080", [8]), ("id:7|id:9", [7, 9]), ("!(role:client | role:listener)", [5, 8, 9]),
            ("! ! id:7", [7]), ("kind:accept state:close-wait", [9]), ("id:5 (", [3, 5, 6, 7, 8, 9, 10, 11]),
        ] as [(String, [UInt64])])
    func logic(_ text: String, _ ids: [UInt64]) throws {
        #expect(try matches(text) == ids.filter { id in text.hasSuffix("(") ? id == 5 : true })
    }

    @Test(
        "Every word finds what it is for",
        arguments: [
            ("peer:192.0.2.0/24", [5, 6, 8, 9, 10]), ("peer:2001:db8::/32", [7]), ("peer:192.0.2.76/30", [8, 9]),
            ("port:443", []), ("tag:42", [7]), ("tag:3", [9]), ("flag:readspaused", [7]), ("flag:socketcan", [8, 10]),
            ("lint:half-closed", [9]), ("lint:any !lint:read-starved", [7, 9]), ("lint:read-starved", [10]),
            ("read:delimiter", [8]), ("read:length", [7]), ("rq>0", [10]), ("rq>=23 rq<24", [10]), ("wq>2M", [9]),
            ("wq>=1M", [7, 9]), ("rx>1M", [7]), ("rx<2k role:accepted !state:closed", [8, 9]), ("idle>4s", [10]),
            ("idle<4000ms", [7]), ("age>2m state:estab id:7", [7]), ("writes=40", [9]), ("reads>1", [7]),
            ("rtt>30ms", [7]), ("/^\\[2001/", [7]), ("/IMAP/i", [10]), ("/IMAP/", []), ("\"imap\"", [10]),
            ("/192\\.0\\.2\\.(77|78)/", [8, 9]), ("/timed out/", [6]),
        ] as [(String, [UInt64])])
    func words(_ text: String, _ ids: [UInt64]) throws {
        #expect(try matches(text) == ids)
    }

    @Test(
        "TLS is found by whether it is there, how far it has come, and its version",
        arguments: [
            ("tls:yes", [1, 2, 3]), ("tls:no", [4]), ("tls:queued", [1]), ("tls:asking", [2]), ("tls:secure", [3]),
            ("tls:1.3", [3]), ("tls:1.2", []), ("tls:yes !tls:secure", [1, 2]), ("tls", [1, 2, 3, 4]),
        ] as [(String, [UInt64])])
    func tls(_ text: String, _ ids: [UInt64]) throws {
        let phases: [TLSSnapshot.Phase?] = [.queued, .asking, .secure, nil]
        let sockets = zip(UInt64(1)..., phases).map { id, phase in
            var socket = World.make(id, .client, .connected, target: "h:1")
            socket.tls = phase.map { TLSSnapshot(role: .client, phase: $0, asked: World.at(14, 0, 0)) }
            if phase == .secure { socket.tls?.version = "TLSv1.3" }
            return socket
        }
        #expect(try matches(text, in: sockets) == ids)
        let column = try #require(ListKind.sockets.column("tls"))
        #expect(sockets.map { column.text($0, World.now) } == ["queued", "ASK", "1.3", nil])
    }

    @Test(
        "A WebSocket is found by whether it is one, how far it has come, its compression, and its code at the end",
        arguments: [
            ("ws:yes", [1, 2, 3, 4]), ("ws:no", [5]), ("ws:opening", [1]), ("ws:open", [2]), ("ws:ope", [1, 2]),
            ("ws:compressed", [2]),
            ("ws:closed", [3]), ("ws:refused", [4]), ("ws:1006", [3]), ("ws:1000", []), ("ws", [1, 2, 3, 4, 5]),
        ] as [(String, [UInt64])])
    func webSockets(_ text: String, _ ids: [UInt64]) throws {
        let stages: [WebSocketStage?] = [.tunnelling, .open, .closed, .refused, nil]
        let sockets = zip(UInt64(1)..., stages).map { id, stage in
            var socket = World.make(id, .client, .connected, target: "ws://h/")
            socket.webSocket = stage.map { WebSocketPicture(role: .client, stage: $0, target: "ws://h/") }
            if stage == .open { socket.webSocket?.extensions = ["permessage-deflate"] }
            if stage == .closed {
                socket.webSocket?.report = WebSocketCloseReport(
                    sent: nil, received: nil, failure: .endedWithoutClose, origin: .peer, wasClean: false,
                    unsentBytes: 0, began: World.now, ended: World.now)
            }
            return socket
        }
        #expect(try matches(text, in: sockets) == ids)
    }

    @Test(
        "What is still being typed lets everything through",
        arguments: ["state", "!", "id", "/tim", "\"", "rx", "port:993 |", "(", "! ("])
    func unfinished(_ text: String) throws {
        #expect(try matches(text).count == 8)
    }

    @Test(
        "A mistake is told with its place",
        arguments: [
            ("id:7 port:x", 5..<11), ("a )", 2..<3), ("| a", 0..<1), ("rq>many", 0..<7), ("peer:1.2.3/8", 0..<12),
            ("a (b | ) c", 5..<6), ("x /[/ y", 2..<5), ("lint:nothing", 0..<12), ("flag:", 0..<5), ("tag:1.5", 0..<7),
            ("tls:maybe", 0..<9), ("ws:99", 0..<5), ("ws:maybe", 0..<8), ("stat:estab", 0..<10), ("a text:p2", 2..<9),
            ("prt:443", 0..<7), ("/(a)\\1/", 0..<7), ("/a**/", 0..<5), ("rxx>5", 0..<5), ("unred>0", 0..<7),
        ] as [(String, Range<Int>)])
    func mistakes(_ text: String, _ range: Range<Int>) {
        guard case .failure(let failure) = Filter.parse(text) else {
            Issue.record("\(text) was taken")
            return
        }
        #expect(failure.range == range, "\(failure)")
        #expect(failure.message.hasPrefix(String(Array(text)[failure.range])))
    }

    @Test("A key that there is not is refused, with the one that was meant; addresses are text")
    func unknownKeys() throws {
        func message(_ text: String) -> String? {
            if case .failure(let failure) = Filter.parse(text) { failure.message } else { nil }
        }
        #expect(message("stat:estab") == "stat:estab: no such key; quotes search for text; did you mean state?")
        #expect(message("text:p2") == "text:p2: no such key; quotes search for text")
        #expect(message("rxx>5")?.hasSuffix("; did you mean rx?") == true)
        for (text, word) in [
            ("port:6379 bogus:1", "bogus:1"), ("(redis:6379|x)", "redis:6379"), ("port:1 localhost:80", nil),
            ("server:8080", "server:8080"), ("server:api", nil), ("port:8080", nil),
            ("id:7", nil), ("127.0.0.1:80", nil), ("foo:", nil), ("udp://h:1", nil),
        ] as [(String, String?)] {
            #expect(FilterTerm.hostName(in: text) == word, "\(text)")
        }
        for text in [
            "localhost:80", "redis:6379", "host.example:80", "unix:/run/x", "tls://h:1", "[::1]:80", "fe80::1",
            "dead:beef::1",
            "127.0.0.1:80", "\"text:p2\"", "stat:", "foo:",
        ] {
            #expect(message(text) == nil, "\(text)")
        }
    }

    @Test("Words for datagram sockets")
    func datagrams() throws {
        var socket = World.make(1, .datagram, .connected, target: "udp://h:1")
        socket.local = .v4(host: "127.0.0.1", port: 1)
        #expect(try matches("role:datagram", in: [socket]) == [1])
    }

    @Test("Nesting without end is refused, not followed")
    func depth() {
        for character in ["(", "!"] {
            let text = String(repeating: character, count: 5_000) + "a"
            guard case .failure = Filter.parse(text) else {
                Issue.record("taken")
                continue
            }
        }
    }

    @Test("The wrong word is drawn as an error, and the last good filter stays")
    func drawn() {
        var model = World.model(once: true)
        model.press(.character("f"))
        model.type("id:7 port:x")
        #expect(model.list.rows == [SocketID(7)])
        let canvas = draw(model, Size(80, 24))
        let row = 22
        let errors = (0..<30).filter { canvas[$0, row].style == Style(.error, [.underline]) }
        #expect(errors == Array(13..<19))
    }
}
