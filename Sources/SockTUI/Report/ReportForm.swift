import InspectorCore
import InspectorScreen
import SocketCore

/// The output format of a run without a screen.
enum ReportForm: Equatable {
    /// JSON Lines.
    case json
    /// One line for each event. With `--once`, the list of sessions.
    case text
    /// Exactly what the peer sends, and nothing else.
    case bytes
}

/// What a run without a screen does in addition to printing what happens.
struct ReportOptions: Equatable {
    /// What must be received, in this order.
    var expectations: [Expectation] = []
    /// The number of bytes of each operation written as JSON, or `nil` for none.
    var payload: Int?
    /// Whether questions and answers are written as JSON.
    var exchanges = false
    /// The interval at which a session is written if only its rates have changed, or `nil` for never.
    var every: Duration?
    /// How long to look, or `nil` for half a second for one snapshot, and otherwise until the run ends.
    var span: Duration?
    /// The instant of an opened file to show, in nanoseconds from its beginning, or `nil` for its end.
    var instant: Int64?
    /// Which of the host's sockets are shown; empty: all.
    var filter = ""
}

/// Formats snapshots as lines.
struct ReportLines {
    private var json: JSONLines?
    private var text: TextLines?
    private let isOnce: Bool

    init(_ form: ReportForm, isOnce: Bool, lints: LintSettings, _ options: ReportOptions) {
        self.isOnce = isOnce
        switch form {
        case .json:
            json = JSONLines(
                program: "socktui \(CommandTable.version)", naming: .standard, lints: lints, payload: options.payload,
                exchanges: options.exchanges, every: options.every)
        case .text: text = TextLines()
        case .bytes: break
        }
    }

    /// The first event to request next.
    var nextEvent: UInt64 { json?.nextEvent ?? text?.nextEvent ?? 0 }

    /// The number of events that are missing from the lines.
    var lost: UInt64 { json?.lost ?? text?.lost ?? 0 }

    mutating func absorb(_ snapshot: EngineSnapshot, among others: Surroundings) -> [String] {
        if isOnce, text != nil { return TextLines.table(snapshot) }
        return json?.absorb(snapshot, among: others) ?? text?.absorb(snapshot) ?? []
    }

    /// Returns the sessions whose traffic must be requested.
    mutating func dueTraffic(_ snapshot: EngineSnapshot) -> [SocketID] { json?.dueTraffic(snapshot) ?? [] }

    mutating func absorb(_ traffic: TrafficSnapshot, of id: SocketID) -> [String] {
        json?.absorb(traffic, of: id) ?? []
    }

    /// Returns the lines that follow the last snapshot.
    mutating func end(_ snapshot: EngineSnapshot, status: Int32, signal: Int32?) -> [String] {
        (json?.close() ?? []) + (json.map { [$0.end(snapshot, status: status, signal: signal)] } ?? [])
    }
}
