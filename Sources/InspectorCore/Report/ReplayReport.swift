import SocketCore
import SocketWorkshop

/// The output of a replay.
package struct ReplayReport: Sendable {
    private let result: ReplayResult
    private let plan: ReplayPlan
    private let session: String
    private let address: String

    package init(_ result: ReplayResult, of plan: ReplayPlan, session: String, address: String) {
        (self.result, self.plan, self.session, self.address) = (result, plan, session, address)
    }

    /// The report as text.
    package var lines: [String] {
        var lines: [String] = []
        if let difference = result.difference {
            lines.append("The answers differ after \(progress):")
            lines += difference.lines("file")
        }
        if let ending = result.ending {
            lines.append(
                "The ending differs after \(progress): the file's server \(ending.expected.words), "
                    + "this one \(ending.received.words).")
        }
        if result.isEqual {
            lines.append(
                "No difference: \(session) replayed to \(address), \(count(result.writes, "write")) of "
                    + "\(count(result.sent, "byte")), \(count(result.received, "byte")) of answers, in "
                    + "\(Format.duration(result.took)).")
            if !plan.isWhole {
                let extra = result.extra > 0 ? ", nor were the \(count(result.extra, "byte")) that followed" : ""
                lines.append(
                    "The file does not say how the server closed the connection, so that was not compared\(extra).")
            }
        }
        return lines
    }

    private var progress: String {
        result.step.map { "step \($0) of \(plan.steps.count) of the client" } ?? "connecting"
    }

    private func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    /// The report as JSON.
    package var json: JSON {
        [
            "v": JSON(1), "type": "replay", "session": JSON(session), "address": JSON(address),
            "equal": .bool(result.isEqual), "writes": JSON(result.writes), "sent_bytes": JSON(result.sent),
            "received_bytes": JSON(result.received),
            "extra_bytes": JSON(result.extra), "steps": JSON(plan.steps.count), "step": JSON(result.step),
            "took_s": JSON(seconds: result.took), "difference": result.difference?.json ?? .null,
            "ending": result.ending.map {
                ["expected": JSON($0.expected.rawValue), "received": JSON($0.received.rawValue)]
            } ?? .null,
            "ending_compared": .bool(plan.ending != nil), "problem": JSON(result.problem),
        ]
    }
}
