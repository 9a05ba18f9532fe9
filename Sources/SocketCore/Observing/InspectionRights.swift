/// What a viewer may do, as granted by the inspected program. Each right includes those before it.
public enum InspectionRights: String, Hashable, Sendable, CaseIterable, Comparable {
    /// See connections, queues and events, but no payload bytes.
    case watch
    /// See payload bytes too.
    case payload
    /// Also read, write, close and pause.
    case control

    /// Whether `left` is the lesser right.
    public static func < (left: InspectionRights, right: InspectionRights) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int {
        switch self {
        case .watch: 0
        case .payload: 1
        case .control: 2
        }
    }
}
