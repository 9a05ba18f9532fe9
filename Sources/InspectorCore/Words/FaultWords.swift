import SocketCore

/// What faults and breakpoints do to a connection, in words.
package enum FaultWords {
    /// For a cell of the list, the longest form that fits: `HELD 3.2s`, `FAULT slice 7`; `nil`: nothing is done to it.
    static func cell(_ fault: FaultSnapshot?, now: MonotonicTime, width: Int) -> String? {
        guard let fault else { return nil }
        if let hold = fault.hold {
            let time = Format.duration(now - hold.since)
            return Shorten.fitting(["HELD \(time)", "HELD"], in: width)
        }
        guard let rule = fault.rules.first(where: { $0.count > 0 }) else { return nil }
        let more = fault.rules.count { $0.count > 0 } > 1 ? " +\(fault.rules.count { $0.count > 0 } - 1)" : ""
        return Shorten.fitting(
            [
                "FAULT \(rule.text)\(more)", "FAULT \(rule.text)", "FAULT \(rule.effect)", rule.text, rule.effect,
                "FAULT",
            ],
            in: width)
    }

    /// `1 latency 200ms x12, 2 slice 7 x3`
    static func rules(_ fault: FaultSnapshot) -> String {
        fault.rules.map { "\($0.number) \($0.text) x\($0.count)" }.joined(separator: ", ")
    }

    /// What else is to be said of the rules.
    static func notes(_ fault: FaultSnapshot) -> String {
        var notes: [String] = []
        if fault.delayedBytes > 0 { notes.append("\(Format.size(fault.delayedBytes)) delayed") }
        if fault.droppedBytes > 0 { notes.append("\(Format.size(Int(clamping: fault.droppedBytes))) dropped") }
        if fault.isLimitedByBuffer { notes.append("latency limited by buffer") }
        return notes.joined(separator: ", ")
    }

    /// `by breakpoint 1 (bytes 4711) for 3.2s`
    static func held(_ hold: FaultSnapshot.Hold, now: MonotonicTime) -> String {
        "by breakpoint \(hold.breakpoint) (\(hold.text)) for \(Format.duration(now - hold.since))"
    }

    static func waiting(_ hold: FaultSnapshot.Hold) -> String {
        "waiting > \(Format.size(hold.upstreamBytes)) < \(Format.size(hold.downstreamBytes))"
    }
}
