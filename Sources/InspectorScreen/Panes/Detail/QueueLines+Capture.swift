import InspectorCore
import SocketCore

extension QueueLines {
    /// Returns the rows that replace READ, WRITE and BYTES for a captured connection: those of its ends that are on
    /// this host, and the amount of traffic.
    func capturedRows(_ ends: CapturedEnds) -> [Row] {
        var passed = label("PASSED")
        passed.append("client sent \(Format.size(socket.sent))", Style(.sent))
        passed.append("  server sent \(Format.size(socket.received))", Style(.received))
        if let last = socket.activity.lastByte {
            passed.append("  last byte \(Format.duration(max(.zero, model.now - last))) ago", Style(.dim))
        }
        return [end("CLIENT", ends.local), end("SERVER", ends.peer), Row(left: passed)]
    }

    private func end(_ name: String, _ end: CapturedEnds.End?) -> Row {
        var line = label(name)
        let program = CapturedWords.program(end)
        line.append(safe(program ?? "-", program == nil ? .dim : .plain))
        if let descriptor = end?.descriptor { line.append(" fd \(descriptor)", Style(.dim)) }
        for (text, role) in CapturedWords.queues(end) {
            line.append("  ")
            line.append(safe(text, role))
        }
        return Row(left: line)
    }
}

extension DetailBuilder {
    /// Returns the two ends of a captured connection. Nothing is known about either in a file.
    func captured(_ ends: CapturedEnds) -> [Row] {
        if ends == CapturedEnds() { return [] }
        return [("client", ends.local), ("server", ends.peer)].flatMap { name, end -> [Row] in
            var rows = [rule(name, right: end == nil ? "not seen here" : "")]
            guard let end else { return rows }
            var words = [safe(end.host.programText)]
            if let descriptor = end.descriptor { words.append(Line("fd \(descriptor)", Style(.dim))) }
            words.append(safe(end.host.programUserText, .dim))
            if let container = end.host.container { words.append(safe("container \(container)", .dim)) }
            words += CapturedWords.queues(end).prefix(2).map { safe($0.text, $0.role) }
            if let rtt = end.kernel?.roundTripTime { words.append(Line("rtt \(Format.duration(rtt))", Style(.dim))) }
            if let count = end.kernel?.retransmits { words.append(Line("retrans \(count)", Style(.dim))) }
            rows += wrapped(words, separator: "  ")
            if let asks = end.host.asksWords { rows += wrapped([safe(asks)], separator: " ") }
            return rows
        }
    }
}
