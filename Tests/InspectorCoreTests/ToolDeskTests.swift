import InspectorCore
import Testing

@Suite("The calls of an editor")
struct ToolDeskTests {
    private static func desk(_ version: String = "2025-06-18") -> ToolDesk {
        var desk = ToolDesk(version: "1")
        _ = desk.receive(
            Array(
                #"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"\#(version)"}}"#.utf8))
        return desk
    }

    private static func call(_ id: Int) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"tools/call","params":{"name":"connections","arguments":{"program":"p\#(id)"}}}"#
    }

    private static func cancel(_ id: Int) -> String {
        #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":\#(id)}}"#
    }

    private static let ping = #"{"jsonrpc":"2.0","id":"p","method":"ping"}"#

    @Test("a ping is answered while calls run, and calls beyond the limit wait for them")
    func ping() {
        var desk = Self.desk()
        let tickets = (1...3).flatMap { desk.receive(Array(Self.call($0).utf8)).starts.keys }
        #expect(tickets.count == ToolDesk.mostRunning && !desk.isIdle)
        #expect(desk.receive(Array(Self.ping.utf8)).lines.map(\.text) == [#"{"jsonrpc":"2.0","id":"p","result":{}}"#])
        let orders = desk.end(tickets[0], ToolResult("done"))
        #expect(orders.lines.first?.text.contains(#""id":1,"#) == true && orders.lines.count == 1)
        #expect(orders.starts.values.elementsEqual([.connections(program: "p3")]))
        for ticket in [tickets[1]] + orders.starts.keys { #expect(desk.end(ticket, ToolResult("x")).lines.count == 1) }
        #expect(desk.isIdle)
    }

    @Test("a cancelled call stops and is not answered, whether it runs or waits")
    func cancelled() throws {
        var desk = Self.desk()
        let tickets = (1...3).flatMap { desk.receive(Array(Self.call($0).utf8)).starts.keys }
        let running = desk.receive(Array(Self.cancel(1).utf8))
        #expect(running.stops == [tickets[0]] && running.lines.isEmpty && running.starts.isEmpty)
        #expect(desk.receive(Array(Self.cancel(3).utf8)) == ToolDesk.Orders(), "it had not started")
        #expect(desk.receive(Array(Self.cancel(9).utf8)) == ToolDesk.Orders(), "there is no such call")
        #expect(desk.end(tickets[0], ToolResult("late")) == ToolDesk.Orders())
        #expect(desk.receive(Array(Self.cancel(1).utf8)) == ToolDesk.Orders(), "it is over")
        // Its identifier is free again.
        let again = desk.receive(Array(Self.call(1).utf8))
        let ticket = try #require(again.starts.keys.first)
        #expect(desk.end(ticket, ToolResult("x")).lines.count == 1)
        #expect(desk.end(tickets[1], ToolResult("x")).lines.count == 1)
        #expect(desk.isIdle)
    }

    @Test("calls have a limit, and an identifier is in use once")
    func limits() {
        var desk = Self.desk()
        for id in 1...ToolDesk.mostCalls { #expect(desk.receive(Array(Self.call(id).utf8)).lines.isEmpty) }
        for id in [1, ToolDesk.mostCalls + 1] {
            let lines = desk.receive(Array(Self.call(id).utf8)).lines
            #expect(lines.count == 1 && lines[0].text.contains(#""code":-32000,"#), "\(lines)")
        }
        #expect(desk.receive(Array(Self.ping.utf8)).lines.count == 1)
    }

    @Test("a batch is answered as one array once its calls have ended")
    func batch() throws {
        var desk = Self.desk("2025-03-26")
        let note = #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#
        let orders = desk.receive(
            Array("[\(Self.call(1)),\(note),\(Self.ping),\(Self.call(2)),\(Self.cancel(2))]".utf8))
        #expect(orders.lines.isEmpty)
        let ticket = try #require(orders.starts.keys.first)
        let lines = desk.end(ticket, ToolResult("done")).lines
        guard case .array(let replies)? = lines.first else {
            Issue.record("\(lines)")
            return
        }
        #expect(lines.count == 1 && replies.map { $0["id"] } == [.string("p"), .integer(1)])
        #expect(desk.receive(Array("[\(note)]".utf8)).lines.isEmpty, "no answer at all")
        let wrong = [
            "[]", "[\(Array(repeating: Self.ping, count: ToolServer.longestBatch + 1).joined(separator: ","))]",
        ]
        for line in wrong { #expect(desk.receive(Array(line.utf8)).lines.first?.text.contains("-32600") == true) }
        let initialize = #"[{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}]"#
        #expect(desk.receive(Array(initialize.utf8)).lines.first?.text.contains("must not be in") == true)
    }
}
