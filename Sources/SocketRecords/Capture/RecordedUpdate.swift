import SocketCore

/// The changes that one snapshot adds to a recording, read from a file or kept in memory.
struct RecordedUpdate: Sendable {
    var frames: [InspectionFrame]
    var tick: InspectionTick

    /// Its events, in order.
    var events: [SocketEvent] {
        frames.flatMap { frame -> [SocketEvent] in if case .events(let events) = frame { events } else { [] } }
    }

    /// Its calls, in order.
    var calls: [CallUpdate] {
        frames.compactMap { frame in if case .calls(let calls) = frame { calls } else { nil } }
    }

    /// Adds the update after this one. Only the later state of a session remains, and all events and traffic.
    mutating func merge(_ next: RecordedUpdate) {
        var states: [SocketID: SocketSnapshot] = [:]
        var others: [InspectionFrame] = []
        for frame in frames + next.frames {
            switch frame {
            case .sockets(let sockets): for socket in sockets { states[socket.id] = socket }
            default: others.append(frame)
            }
        }
        if hasPeers, next.hasPeers, let former = others.firstIndex(where: \.isPeers) { others.remove(at: former) }
        let sockets = states.values.sorted { $0.id < $1.id }
        let place = others.first?.isHello == true ? 1 : 0
        if !sockets.isEmpty { others.insert(.sockets(sockets), at: place) }
        let removed = tick.removed
        (frames, tick) = (others, next.tick)
        tick.removed = removed + tick.removed
    }

    private var hasPeers: Bool { frames.contains(where: \.isPeers) }
}

extension InspectionFrame {
    fileprivate var isPeers: Bool { if case .peers = self { true } else { false } }
    fileprivate var isHello: Bool { if case .hello = self { true } else { false } }
}

/// The latest states of a recording that were passed on the way to an instant, as many as a viewer can process at once.
package struct PassedSnapshots: Sendable {
    /// The earliest instant that is kept.
    private let start: MonotonicTime
    private var kept: [EngineSnapshot] = []
    private var head = 0
    /// The number of sockets in all of them.
    private var sockets = 0

    /// How far back a viewer looks, which is the minute over which rates are shown.
    package static let span = Duration.seconds(60)
    /// The most sockets in all of them.
    private static let limit = 30_000

    package init(before instant: MonotonicTime) { start = instant + (.zero - Self.span) }

    /// The states, oldest first.
    var snapshots: [EngineSnapshot] { Array(kept[head...]) }

    mutating func append(_ snapshot: EngineSnapshot?) {
        guard let snapshot, snapshot.time >= start else { return }
        kept.append(snapshot)
        // Each is complete by itself.
        kept[kept.count - 1].calls = nil
        sockets += snapshot.sockets.count + 1
        while sockets > Self.limit, head < kept.count {
            sockets -= kept[head].sockets.count + 1
            kept[head].sockets = []
            head += 1
        }
    }
}
