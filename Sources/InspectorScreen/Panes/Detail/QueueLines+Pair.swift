import InspectorCore
import SocketCore

/// The queues of both legs of a relayed connection, and the bytes forwarded between them.
extension QueueLines {
    func pairRows(_ pair: RelayPair) -> [Row] {
        // If there are only three rows, deliberate faults come first.
        let faults = faultRows(pair.client)
        let own = [leg(pair.client, "CLIENT"), leg(pair.server, "SERVER")]
        return faults.isEmpty ? own + [forwarding(pair)] : own + faults + [forwarding(pair)]
    }

    /// `FAULT   1 latency 200ms x12   4.0K delayed` and `HELD    by breakpoint 1 (bytes 4711) for 3.2s`
    func faultRows(_ socket: SocketSnapshot) -> [Row] {
        guard let fault = socket.fault else { return [] }
        var rows: [Row] = []
        if let hold = fault.hold {
            var line = label("HELD")
            let right = safe(FaultWords.waiting(hold), .warn)
            let room = width - 3 - line.width - right.width
            line.append(safe(FaultWords.held(hold, now: model.now, width: room), .warn))
            rows.append(Row(left: line, right: right))
        }
        if !fault.rules.isEmpty {
            var line = label("FAULT")
            line.append(safe(Shorten.clause(FaultWords.rules(fault), to: width - 1 - line.width), .warn))
            rows.append(Row(left: line, right: safe(FaultWords.notes(fault), .warn)))
        }
        return rows
    }

    /// `CLIENT  queued 0 > sndq 0 > unread 0 in curl[77]`
    private func leg(_ leg: SocketSnapshot, _ name: String) -> Row {
        let lines = QueueLines(model, leg, width: width)
        switch leg.phase {
        case .connected, .lingering, .open, .listening: return lines.bytes(label: name)
        case .closed:
            var line = label(name)
            line.append(safe(Shorten.clause("closed: \(leg.ending ?? "")", to: width - 1 - line.width), .closed))
            return Row(left: line)
        case .resolving, .connecting:
            var line = label(name)
            line.append(safe("connecting to \(leg.target)"))
            line.append("  since \(Format.duration(model.now - leg.opened))", Style(.dim))
            return Row(left: line)
        }
    }

    /// Returns `RELAY   client > 1.2K/s  server > 30K/s`, and which end the relay waits for.
    private func forwarding(_ pair: RelayPair) -> Row {
        var line = label("RELAY")
        line.append("client \(rate(pair.client.receiveRate))", Style(.sent))
        line.append("  ")
        line.append("server \(rate(pair.client.sendRate))", Style(.received))
        var notes = pair.client.relay?.isHeadRewritten == true ? ["head rewritten"] : []
        if pair.client.isHeldBack { notes.append("client held back") }
        if pair.server.isHeldBack { notes.append("server held back") }
        // If rules or breakpoints apply, they may be what holds it back.
        let isBroken = pair.legs.contains { $0.fault != nil }
        let cause = isBroken ? "" : ": the \(pair.client.isHeldBack ? "server" : "client") can't keep up"
        if notes.count == 1, pair.client.isHeldBack || pair.server.isHeldBack,
            notes[0].count + cause.count <= width - 2 - line.width
        {
            notes[0] += cause
        }
        for leg in pair.legs where leg.isReadingPaused {
            notes.append(model.naming("\(leg.id == pair.client.id ? "client" : "server") paused ({pause})"))
        }
        return Row(left: line, right: safe(notes.joined(separator: ", "), .warn))
    }

    private func rate(_ rate: Double?) -> String { rate == nil ? "-" : "\(Format.rate(rate))/s" }
}
