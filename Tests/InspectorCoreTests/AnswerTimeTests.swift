import InspectorCore
import InspectorScreen
@testable import SocketCore
import Testing

@Suite("Questions without an answer, and slow answers")
struct AnswerTimeTests {
    /// A connection that asked `asked` seconds ago, and went on asking until `last` seconds ago.
    private func asking(
        _ asked: Double?, last: Double? = nil, median: Duration? = nil, latest: Duration? = nil
    ) -> SocketSnapshot {
        var socket = World.make(1, .client, .connected, target: "h:1")
        func ago(_ seconds: Double) -> MonotonicTime { World.now + .milliseconds(-Int(seconds * 1_000)) }
        var facts = ExchangeSnapshot()
        facts.count = 7
        (facts.unansweredSince, facts.unansweredBytes) = (asked.map(ago), 83)
        (facts.median, facts.last, facts.worst) = (median, latest ?? median, latest ?? median)
        socket.exchanges = facts
        socket.activity.lastByte = (last ?? asked).map(ago)
        return socket
    }

    private func finds(_ lint: String, _ socket: SocketSnapshot, _ setting: String? = nil) throws -> Verdict? {
        var settings = LintSettings()
        if let setting { try settings.warn(reading: setting) }
        var findings = Findings(settings)
        findings.absorb(World.snapshot([socket]), lost: 0)
        return findings[socket.id].first { $0.lint == lint }
    }

    @Test("a question without an answer is a note, and a warning once its time is set")
    func unanswered() throws {
        let found = try #require(try finds("unanswered", asking(8)))
        #expect(found.severity == .note && found.sentence == "a request of 83 B has had no answer for 8s")
        #expect(try finds("unanswered", asking(8), "unanswered=6s")?.severity == .warning)
        #expect(try finds("unanswered", asking(8), "unanswered=10s") == nil)
        #expect(try finds("unanswered", asking(4)) == nil && finds("unanswered", asking(nil)) == nil)
    }

    @Test("a side that only sends waits for nothing")
    func onlySends() throws {
        #expect(try finds("unanswered", asking(60, last: 7)) == nil)
        #expect(try finds("unanswered", asking(60, last: 7, median: .milliseconds(5))) != nil)
    }

    @Test("a slow answer is told of if that is asked for")
    func slow() throws {
        let socket = asking(nil, last: 1, median: .milliseconds(20), latest: .seconds(3))
        #expect(try finds("answer-slow", socket) == nil)
        let found = try #require(try finds("answer-slow", socket, "answer-slow=2s"))
        #expect(found.sentence == "the latest answer took 3s; the median is 20ms")
        #expect(try finds("answer-slow", socket, "answer-slow=4s") == nil)
    }

    @Test("a captured connection's question is judged, too")
    func captured() throws {
        var socket = asking(8)
        socket.ends = CapturedEnds()
        #expect(try finds("unanswered", socket)?.severity == .note)
        #expect(try finds("unanswered", socket, "unanswered=6s")?.severity == .warning)
        socket.exchanges = nil
        #expect(try finds("unanswered", socket) == nil)
    }

    @Test("lists are filtered by how long a question waits and an answer takes")
    func filters() throws {
        let socket = asking(8, median: .milliseconds(600), latest: .seconds(3))
        func lists(_ text: String) throws -> Bool {
            try !Filter.parse(text).get().matching([socket], World.now, Findings(LintSettings())).isEmpty
        }
        for text in ["waiting>2s", "answer>500ms", "answer<1s", "worst>2s"] { #expect(try lists(text), "\(text)") }
        for text in ["waiting>9s", "answer>700ms", "worst>4s"] { #expect(try !lists(text), "\(text)") }
    }

    @Test("columns of answers are shown where something was asked, and stay without a question")
    func columns() {
        let sight = Sight(World.now, Findings(LintSettings()))
        let row = Listed(asking(nil, median: .milliseconds(20)))
        #expect(ListKind.sockets.rare(in: [row], sight) == ["waiting", "answer", "worst"])
        let cells = ["waiting", "answer"].map { ListKind.sockets.column($0)?.cell(row, sight)?.text }
        #expect(cells == ["-", "20ms"])
        var silent = row.socket
        silent.exchanges = ExchangeSnapshot()
        #expect(ListKind.sockets.rare(in: [Listed(silent)], sight).isEmpty)
    }

    @Test(
        "at 80 columns the byte rates give way to answers, and what is queued for writing stays",
        arguments: [
            (["waiting", "answer", "worst"], ["writing", "waiting", "answer", "warnings"]),
            ([], ["writing", "rx", "tx", "warnings"]),
        ])
    func widths(needed: [String], shown: [String]) {
        let layout = ListLayout(.sockets, width: 80, idWidth: 4, optional: Set(needed))
        #expect(layout.places.map(\.column.name) == ["id", "mark", "state", "peer", "reading"] + shown)
    }

    @Test("kept traffic is a list of exchanges, whose numbers end with the latest")
    func lists() throws {
        func item(_ number: UInt64, _ direction: TrafficItem.Direction, _ text: String, _ time: Int64) -> TrafficItem {
            TrafficItem(
                sequence: number, operation: OperationID(number), time: MonotonicTime(nanoseconds: time * 1_000_000),
                direction: direction, tag: 0, kind: .write, done: text.utf8.count, total: nil,
                state: .complete(after: .zero), bytes: Array(text.utf8))
        }
        var traffic = TrafficSnapshot(items: [
            item(0, .sent, "one\r\n", 10), item(1, .received, "1", 30), item(2, .received, "11", 35),
            item(3, .sent, "two\r\nmore", 50),
        ])
        var list = try #require(Exchange.list(traffic, client: .sent, count: 2))
        #expect(list.map(\.number) == [1, 2] && list.map(\.answeredBytes) == [3, 0] && list[1].firstByte == nil)
        #expect(list[0].firstByte == .milliseconds(20) && list[0].took == .milliseconds(25) && list[0].answer == 1)
        #expect(list[1].line.bytes == Array("two".utf8) && list[1].place == 3)
        for index in traffic.items.indices { traffic.items[index].sequence += 90 }
        list = try #require(Exchange.list(traffic, client: .sent, count: 40))
        #expect(list.map(\.number) == [39, 40] && list[0].firstByte == nil)
        // Two questions of which the second did not wait for an answer.
        #expect(Exchange.list(traffic, client: .received, count: nil) == nil)
    }

    @Test(
        "a request of RESP is told by the words of its first command",
        arguments: [
            ("*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n", "GET key", false), ("PING\r\n", "PING", false),
            ("*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nQUIT\r\n", "PING", false), ("*2\r\n", "*2", false),
            ("*2\r\n$3\r\nGET\r\n$3\r\nk", "GET k", false), ("*0\r\n", "*0", false),
            ("*2\r\n$3\r\nGET\r\n$9999999999\r\nk", "GET", false), ("*x\r\n$3\r\nGET", "*x", false),
            ("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$999\r\n" + String(repeating: "v", count: 230), "SET a vvv", true),
            ("*2\r\n$3\r\nGET\r\n$2\r\na\n\r\n", "GET a\n", false), (String(repeating: "v", count: 256), "vvv", true),
        ])
    func commands(question: String, line: String, isCut: Bool) {
        let exchange = Exchange(number: 1, began: .zero, question: Array(question.utf8), place: 0)
        let told = String(decoding: exchange.line.bytes, as: UTF8.self)
        #expect(isCut ? told.hasPrefix(line) : told == line)
        #expect(exchange.line.isCut == isCut)
    }
}
