import InspectorCore
import SocketCore

/// The traffic pane: one connection's traffic from recent snapshots, and how it is shown.
package struct TrafficState: Equatable, Sendable {
    /// A match to show once the traffic of its connection is known.
    struct AwaitedMatch: Equatable, Sendable {
        var socket: SocketID
        var match: TrafficMatch
    }

    /// The selected connection, whose traffic it is.
    package private(set) var socket: SocketID?
    package internal(set) var snapshot = TrafficSnapshot()
    /// Whether traffic has arrived for this socket.
    package private(set) var isKnown = false
    /// The number of bytes transferred before its traffic was kept.
    package private(set) var unseen: UInt64 = 0
    /// The scroll position of each connection's traffic.
    package internal(set) var scrolls: [SocketID: TrafficScroll] = [:]
    package internal(set) var viewMode = ViewMode.auto
    /// Whether pings, pongs and Closes are hidden between the messages of a WebSocket.
    package internal(set) var hidesControlFrames = false
    /// The search in payloads. `match` is its last match.
    package private(set) var search: PayloadSearch?
    package internal(set) var match: TrafficMatch?
    var awaited: AwaitedMatch?
    /// The sent files, by socket.
    package internal(set) var sentFiles: [SocketID: [SentFile]] = [:]

    package init() {}

    /// Switches to another session's traffic.
    package mutating func watch(_ id: SocketID?) {
        guard id != socket else { return }
        socket = id
        snapshot = TrafficSnapshot()
        isKnown = false
        unseen = 0
    }

    /// Absorbs a snapshot's traffic, unless it is for an earlier request. `facts` is the socket, if its program may
    /// have started to keep traffic only now.
    package mutating func absorb(_ new: TrafficSnapshot?, of owner: SocketID?, facts: SocketSnapshot? = nil) {
        guard let new, socket != nil, owner == socket else { return }
        if !isKnown, let facts { unseen = Self.unseen(facts, new) }
        snapshot = new
        isKnown = true
    }

    /// Returns the traffic as known at the instant shown.
    package func shown(in shared: Shared) -> TrafficSnapshot {
        guard let frozen = shared.frozen else { return snapshot }
        return frozen.trafficOf == socket ? frozen.traffic : asOf(frozen.snapshot.time)
    }

    /// Returns the items that had begun at this instant.
    package func asOf(_ time: MonotonicTime) -> TrafficSnapshot {
        TrafficSnapshot(items: snapshot.items.filter { $0.time <= time }, dropped: snapshot.dropped)
    }

    /// Starts another search.
    mutating func begin(_ search: PayloadSearch) { (self.search, match) = (search, nil) }

    /// Starts a search for an earlier match, if that is what it is, which is shown once the traffic there is known.
    mutating func awaitTraffic(at match: TrafficMatch, of socket: SocketID, for search: PayloadSearch?) {
        self.search = search ?? self.search
        awaited = AwaitedMatch(socket: socket, match: match)
    }

    /// Drops what is remembered of sessions that are gone.
    mutating func forget(_ isGone: (SocketID) -> Bool) {
        for id in Array(scrolls.keys) where isGone(id) { scrolls[id] = nil }
        for id in Array(sentFiles.keys) where isGone(id) { sentFiles[id] = nil }
    }
}

extension TrafficState {
    /// Returns the number of a socket's bytes that no item covers. For TLS, WebSockets and messages, items are counted
    /// differently, so it is only known whether there were any before the first item.
    private static func unseen(_ socket: SocketSnapshot, _ traffic: TrafficSnapshot) -> UInt64 {
        guard traffic.dropped == 0 else { return 0 }
        let passed = socket.received.saturatingAdd(socket.sent)
        guard socket.tls == nil, socket.webSocket == nil, !traffic.items.isEmpty else {
            return traffic.items.isEmpty ? passed - min(passed, UInt64(max(0, socket.prebuffered))) : 0
        }
        let told = traffic.items.reduce(UInt64(max(0, socket.prebuffered))) {
            $0.saturatingAdd(UInt64(max(0, $1.done)))
        }
        return passed - min(passed, told)
    }
}
