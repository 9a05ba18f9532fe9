import SocketCore

/// How bytes are shown.
package enum ViewMode: String, Hashable, Sendable, CaseIterable {
    case text
    case hexText = "hex+text"
    case escaped

    package var next: ViewMode {
        switch self {
        case .text: .hexText
        case .hexText: .escaped
        case .escaped: .text
        }
    }
}

/// One thing in the traffic pane, named so that it is found again in the next snapshot.
package enum BlockKey: Hashable, Sendable {
    /// The note that older items were dropped.
    case dropped
    /// The note that control frames are left out.
    case hidden
    case item(UInt64)
    /// An event, by its sequence number.
    case note(UInt64)
    /// A gap in the events, by the sequence number after it.
    case lost(UInt64)
    case closed
    /// A line that stands there while nothing has passed.
    case waiting(Int)
}

/// A line of the traffic pane.
package struct TrafficPosition: Hashable, Sendable {
    package var block: BlockKey
    /// Counted from the block's first line.
    package var line: Int

    package init(_ block: BlockKey, line: Int = 0) {
        self.block = block
        self.line = line
    }
}

/// How far one connection's traffic is scrolled.
package struct TalkState: Hashable, Sendable {
    /// Whether the newest line stays in sight.
    package var isFollowing = true
    /// The line that Enter acts on; nil while following.
    package var cursor: TrafficPosition?
    /// The first line in sight; nil while following.
    package var top: TrafficPosition?
    /// Items that are shown whole.
    package var expanded: Set<UInt64> = []

    package init() {}
}

/// The traffic that the last snapshots brought, and whose it is.
package struct TrafficState: Hashable, Sendable {
    package private(set) var socket: SocketID?
    package internal(set) var snapshot = TrafficSnapshot()
    /// Whether anything has come for this socket.
    package private(set) var isKnown = false

    package init() {}

    /// Asks for another session's traffic.
    package mutating func watch(_ id: SocketID?) {
        guard id != socket else { return }
        socket = id
        snapshot = TrafficSnapshot()
        isKnown = false
    }

    /// Takes what a snapshot holds, unless that is what was asked for before.
    package mutating func take(_ new: TrafficSnapshot?, of owner: SocketID?) {
        guard let new, socket != nil, owner == socket else { return }
        snapshot = new
        isKnown = true
    }

    /// The items that had begun at this instant.
    package func asOf(_ time: MonotonicTime) -> TrafficSnapshot {
        TrafficSnapshot(items: snapshot.items.filter { $0.time <= time }, dropped: snapshot.dropped)
    }
}
