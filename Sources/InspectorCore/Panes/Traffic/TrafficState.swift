import SocketCore

/// The traffic pane: what the last snapshots brought of one connection, and how it is looked at.
package struct TrafficState: Hashable, Sendable {
    /// A place to show once the traffic of its connection is known.
    struct AwaitedMatch: Hashable, Sendable {
        var socket: SocketID
        var match: TalkMatch
    }

    /// The connection that the cursor is on, whose traffic it is.
    package private(set) var socket: SocketID?
    package internal(set) var snapshot = TrafficSnapshot()
    /// Whether anything has come for this socket.
    package private(set) var isKnown = false
    /// Bytes that had passed before its traffic was kept.
    package private(set) var unseen: UInt64 = 0
    /// How far each connection's traffic is scrolled.
    package internal(set) var talks: [SocketID: TalkState] = [:]
    package internal(set) var viewMode = ViewMode.auto
    /// Whether pings, pongs and Closes are left out between the messages of a WebSocket.
    package internal(set) var hidesControlFrames = false
    /// What is looked for in payloads, and where it was found last.
    package private(set) var search: PayloadSearch?
    package internal(set) var match: TalkMatch?
    var awaited: AwaitedMatch?
    /// The files that were sent whole, by socket.
    package internal(set) var sentFiles: [SocketID: [SentFile]] = [:]

    package init() {}

    /// Asks for another session's traffic.
    package mutating func watch(_ id: SocketID?) {
        guard id != socket else { return }
        socket = id
        snapshot = TrafficSnapshot()
        isKnown = false
        unseen = 0
    }

    /// Takes what a snapshot holds, unless that is what was asked for before. `facts`: of a program that may keep traffic
    /// only from now on, the socket.
    package mutating func take(_ new: TrafficSnapshot?, of owner: SocketID?, facts: SocketSnapshot? = nil) {
        guard let new, socket != nil, owner == socket else { return }
        if !isKnown, let facts { unseen = Self.unseen(facts, new) }
        snapshot = new
        isKnown = true
    }

    /// The traffic as far as it is known at the instant that is shown.
    package func shown(in shared: Shared) -> TrafficSnapshot {
        guard let frozen = shared.frozen else { return snapshot }
        return frozen.trafficOf == socket ? frozen.traffic : asOf(frozen.snapshot.time)
    }

    /// The items that had begun at this instant.
    package func asOf(_ time: MonotonicTime) -> TrafficSnapshot {
        TrafficSnapshot(items: snapshot.items.filter { $0.time <= time }, dropped: snapshot.dropped)
    }

    /// Begins to search for something else.
    mutating func begin(_ search: PayloadSearch) { (self.search, match) = (search, nil) }

    /// Begins to search for what was found at a place, which is shown once the traffic there is known.
    mutating func awaitTraffic(at match: TalkMatch, of socket: SocketID, for search: PayloadSearch) {
        self.search = search
        awaited = AwaitedMatch(socket: socket, match: match)
    }

    /// Drops what is remembered of sessions that are gone.
    mutating func forget(_ isGone: (SocketID) -> Bool) {
        for id in Array(talks.keys) where isGone(id) { talks[id] = nil }
        for id in Array(sentFiles.keys) where isGone(id) { sentFiles[id] = nil }
    }
}

extension TrafficState {
    /// Bytes of a socket that no item tells of. Those of TLS, WebSockets and messages are counted otherwise than items are,
    /// so there it is known only whether any passed before the first item.
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
