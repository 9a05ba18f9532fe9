import InspectorCore
import SocketCore

/// In which form a run without a screen prints what happens.
enum ReportForm: Equatable {
    /// JSON Lines.
    case json
    /// A line for each event; once: the list of sessions.
    case text
    /// What the peer sends, as it is, and nothing else.
    case bytes
}

/// What a run without a screen does beside printing what happens.
struct ReportOptions: Equatable {
    /// What must be received, in this order.
    var expectations: [Expectation] = []
    /// Bytes of each operation that are written as JSON; nil: none.
    var payload: Int?
    /// How often a session is written of which nothing but rates has changed; nil: never.
    var every: Duration?
    /// How long to look; `nil`: half a second for one snapshot, else until it ends.
    var span: Duration?
    /// The instant of an opened file that is shown, in nanoseconds from its beginning; nil: its end.
    var instant: Int64?
}

/// Turns snapshots into lines of one form.
struct ReportLines {
    private var json: JSONLines?
    private var text: TextLines?
    private let isOnce: Bool

    init(_ form: ReportForm, isOnce: Bool, lints: LintSettings, _ options: ReportOptions) {
        self.isOnce = isOnce
        switch form {
        case .json:
            json = JSONLines(
                program: "socktui \(CommandTable.version)", lints: lints, payload: options.payload,
                every: options.every)
        case .text: text = TextLines()
        case .bytes: break
        }
    }

    /// The event to ask for next.
    var nextEvent: UInt64 { json?.nextEvent ?? text?.nextEvent ?? 0 }

    mutating func take(_ snapshot: EngineSnapshot, among others: Surroundings) -> [String] {
        if isOnce, text != nil { return TextLines.table(snapshot) }
        return json?.take(snapshot, among: others) ?? text?.take(snapshot) ?? []
    }

    /// The sessions whose traffic has to be asked for.
    mutating func duePayload(_ snapshot: EngineSnapshot) -> [SocketID] { json?.duePayload(snapshot) ?? [] }

    mutating func take(_ traffic: TrafficSnapshot, of id: SocketID) -> [String] { json?.take(traffic, of: id) ?? [] }

    /// What follows the last snapshot.
    func end(_ snapshot: EngineSnapshot, status: Int32) -> [String] {
        json.map { [$0.end(snapshot, status: Int(status))] } ?? []
    }
}
