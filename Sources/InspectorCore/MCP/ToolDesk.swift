import SocketCore

/// The calls of one client: which of them run, which wait, and which answers belong together. It starts no work itself.
package struct ToolDesk: Sendable {
    /// The calls that run at the same time. Each takes some processor time of the inspected host.
    package static let mostRunning = 2
    /// The most calls that run or wait. Further ones are refused.
    package static let mostCalls = 64

    /// The number of a call. No number is used twice, unlike a client's identifiers.
    package typealias Ticket = Int

    /// What to do now, in this order.
    package struct Orders: Equatable, Sendable {
        /// The lines to write.
        package var lines: [JSON] = []
        /// The calls to start.
        package var starts: [Ticket: ToolCall] = [:]
        /// The running calls to stop.
        package var stops: [Ticket] = []

        package init() {}
    }

    private struct Entry: Sendable {
        let id: JSON
        let call: ToolCall
        let batch: Int?
    }

    /// A batch that still has calls, and its answers so far.
    private struct Batch: Sendable {
        /// Whether all its messages have been handled.
        var isRead = false
        var calls = 0
        var replies: [JSON] = []
    }

    private var server: ToolServer
    private var calls: [Ticket: Entry] = [:]
    private var waiting: [Ticket] = []
    private var running: Set<Ticket> = []
    /// The running calls whose client does not want an answer any more.
    private var stopped: Set<Ticket> = []
    private var batches: [Int: Batch] = [:]
    private var last = 0

    /// `version` is the version of the program.
    package init(version: String) { server = ToolServer(version: version) }

    /// Whether no call runs or waits.
    package var isIdle: Bool { waiting.isEmpty && running.isEmpty }

    /// Handles one line, without its line ending.
    package mutating func receive(_ line: [UInt8]) -> Orders {
        let request = server.absorb(line)
        var orders = Orders()
        last += 1
        let batch = request.isBatch ? last : nil
        if let batch { batches[batch] = Batch() }
        for step in request.steps { perform(step, batch, &orders) }
        if let batch {
            batches[batch]?.isRead = true
            finish(batch, &orders)
        }
        startNext(&orders)
        return orders
    }

    /// Notes the end of a call.
    package mutating func end(_ ticket: Ticket, _ result: ToolResult) -> Orders {
        var orders = Orders()
        running.remove(ticket)
        if stopped.remove(ticket) == nil, let entry = calls.removeValue(forKey: ticket) {
            answer(server.reply(result, to: entry.id), entry.batch, &orders)
            leave(entry.batch, &orders)
        }
        startNext(&orders)
        return orders
    }

    private mutating func perform(_ step: ToolServer.Step, _ batch: Int?, _ orders: inout Orders) {
        switch step {
        case .reply(let reply): answer(reply, batch, &orders)
        case .cancel(let id): cancel(id, &orders)
        case .call(let call, let id):
            if let problem = problem(with: id) {
                return perform(server.busy(problem, id), batch, &orders)
            }
            last += 1
            calls[last] = Entry(id: id, call: call, batch: batch)
            waiting.append(last)
            if let batch { batches[batch]?.calls += 1 }
        }
    }

    private func problem(with id: JSON) -> String? {
        if calls.values.contains(where: { $0.id == id }) { return "a call with this id has not been answered yet" }
        guard waiting.count + running.count >= Self.mostCalls else { return nil }
        return "\(Self.mostCalls) calls have not been answered yet; wait for one of them"
    }

    private mutating func cancel(_ id: JSON, _ orders: inout Orders) {
        guard let (ticket, entry) = calls.first(where: { $0.value.id == id }) else { return }
        calls[ticket] = nil
        if running.contains(ticket) {
            stopped.insert(ticket)
            orders.stops.append(ticket)
        } else {
            waiting.removeAll { $0 == ticket }
        }
        leave(entry.batch, &orders)
    }

    private mutating func startNext(_ orders: inout Orders) {
        while running.count < Self.mostRunning, !waiting.isEmpty {
            let ticket = waiting.removeFirst()
            running.insert(ticket)
            orders.starts[ticket] = calls[ticket]?.call
        }
    }

    private mutating func answer(_ reply: JSON, _ batch: Int?, _ orders: inout Orders) {
        if let batch { batches[batch]?.replies.append(reply) } else { orders.lines.append(reply) }
    }

    private mutating func leave(_ batch: Int?, _ orders: inout Orders) {
        guard let batch else { return }
        batches[batch]?.calls -= 1
        finish(batch, &orders)
    }

    /// Writes the answers of a batch once it has them all. A batch of notifications has none.
    private mutating func finish(_ number: Int, _ orders: inout Orders) {
        guard let batch = batches[number], batch.isRead, batch.calls == 0 else { return }
        batches[number] = nil
        if !batch.replies.isEmpty { orders.lines.append(.array(batch.replies)) }
    }
}
