import InspectorCore
import SocketCore

/// In which form a run without a screen prints what happens.
enum ReportForm: Equatable {
    /// JSON Lines.
    case json
    /// A line for each event; once: the list of sessions.
    case text
}

/// Turns snapshots into lines of one form.
struct ReportLines {
    private var json: JSONLines?
    private var text: TextLines?
    private let isOnce: Bool

    init(_ form: ReportForm, isOnce: Bool, lints: LintSettings) {
        self.isOnce = isOnce
        switch form {
        case .json: json = JSONLines(program: "socktui \(CommandTable.version)", lints: lints)
        case .text: text = TextLines()
        }
    }

    /// The event to ask for next.
    var nextEvent: UInt64 { json?.nextEvent ?? text?.nextEvent ?? 0 }

    mutating func take(_ snapshot: EngineSnapshot, among others: Surroundings) -> [String] {
        if isOnce, text != nil { return TextLines.table(snapshot) }
        return json?.take(snapshot, among: others) ?? text?.take(snapshot) ?? []
    }

    /// What stands behind the last snapshot.
    func end(_ snapshot: EngineSnapshot, status: Int32) -> [String] {
        json.map { [$0.end(snapshot, status: Int(status))] } ?? []
    }
}
