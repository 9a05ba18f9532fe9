import SocketCore

/// Numbers the events of several programs in one sequence. Lost events leave gaps in the numbers.
package struct EventMerger: Sendable {
    /// The number expected next from each program. One without an entry has sent nothing, and no loss is counted.
    private var expected: [Int: UInt64] = [:]
    /// The number of the next event.
    package private(set) var next: UInt64 = 0

    package init() {}

    /// Returns the program's own number for its next event, or `nil` if nothing is known about it.
    package func expects(of ordinal: Int) -> UInt64? { expected[ordinal] }

    /// Counts a program's events from this number on, so that losses before the first snapshot are detected.
    package mutating func expect(_ sequence: UInt64, of ordinal: Int) { expected[ordinal] = sequence }

    /// Returns the next events of one program, in order, with their numbers in the common sequence. `theirs` is the
    /// program's number for the event after them.
    package mutating func number(
        _ new: [SocketEvent], of ordinal: Int, next theirs: UInt64
    ) -> [SocketEvent] {
        var awaited = expected[ordinal] ?? new.first?.sequence ?? theirs
        defer {
            if theirs > awaited { next.saturate(adding: theirs - awaited) }
            expected[ordinal] = max(theirs, awaited)
        }
        // A program that is alone keeps its numbers, so that nothing is copied.
        if ordinal == 0, awaited == next, let last = new.last, last.sequence < .max,
            last.sequence &- awaited == UInt64(new.count - 1), new.first?.sequence == awaited
        {
            (awaited, next) = (last.sequence + 1, last.sequence + 1)
            return new
        }
        var numbered: [SocketEvent] = []
        for event in new where event.sequence >= awaited && event.sequence < .max {
            next.saturate(adding: event.sequence - awaited)
            // The numbers are exhausted. Only programs that lie about their number of lost events can cause this.
            guard next < .max else { break }
            awaited = event.sequence + 1
            var event = event
            event.sequence = next
            event.socket = SocketID(event.socket.number, of: ordinal)
            numbered.append(event)
            next += 1
        }
        return numbered
    }
}

/// Merges the snapshots of several programs into one.
package struct ProgramMerger: Sendable {
    private var events = EventMerger()

    package init() {}

    /// Whether no event has been numbered.
    package var isEmpty: Bool { events.next == 0 }

    /// Returns the program's own number for its next event, or `nil` if nothing is known about it.
    package func expects(of ordinal: Int) -> UInt64? { events.expects(of: ordinal) }

    /// Counts a program's events from this number on, so that losses before the first snapshot are detected.
    package mutating func expect(_ sequence: UInt64, of ordinal: Int) { events.expect(sequence, of: ordinal) }

    /// Returns one snapshot of all programs for `request`, each with its ordinal. The programs of one host share a
    /// clock, so its instant is the latest of theirs. Its counters are sums and its times the largest; `shares` has
    /// those of each engine. Each event is in this snapshot and in no later one.
    package mutating func merge(
        _ snapshots: [(snapshot: EngineSnapshot, ordinal: Int)], _ request: SnapshotRequest
    ) -> EngineSnapshot {
        let latest = snapshots.max { $0.snapshot.time < $1.snapshot.time }?.snapshot
        var whole = EngineSnapshot(
            engine: latest?.engine ?? "", time: latest?.time ?? .zero, wallNanoseconds: latest?.wallNanoseconds ?? 0)
        whole.shares = []
        if snapshots.count == 1, let first = snapshots.first {
            // The earlier snapshot is the history of one source. Several sources have no common history.
            whole.before = first.snapshot.before?.map { merge([($0, first.ordinal)], request) }
        }
        for (var snapshot, ordinal) in snapshots.sorted(by: { $0.ordinal < $1.ordinal }) {
            if ordinal > 0 {
                for index in snapshot.sockets.indices { snapshot.sockets[index].belongs(to: ordinal) }
            }
            // The sessions of a program that is alone are passed on without a copy.
            if whole.sockets.isEmpty { whole.sockets = snapshot.sockets } else { whole.sockets += snapshot.sockets }
            whole.counters.add(snapshot.counters)
            whole.times.absorb(snapshot.times)
            whole.shares?.append(EngineShare(snapshot, ordinal: ordinal))
            let numbered = events.number(snapshot.events, of: ordinal, next: snapshot.nextEvent)
            if whole.events.isEmpty { whole.events = numbered } else { whole.events += numbered }
            if snapshot.changedTraffic != nil { whole.changedTraffic = whole.changedTraffic ?? [:] }
            for (id, change) in snapshot.changedTraffic ?? [:] {
                whole.changedTraffic?[SocketID(id.number, of: ordinal)] = change
            }
            if snapshot.peers != nil { whole.peers = whole.peers ?? [:] }
            for (id, end) in snapshot.peers ?? [:] {
                whole.peers?[SocketID(id.number, of: ordinal)] = end
            }
            // Of several files, the first that has calls shows its own.
            if whole.calls == nil {
                whole.calls = snapshot.calls
                if ordinal > 0 { whole.calls?.belongs(to: ordinal) }
            }
            if let id = snapshot.trafficOf, SocketID(id.number, of: ordinal) == request.traffic {
                whole.trafficOf = request.traffic
                whole.traffic = snapshot.traffic
            }
        }
        whole.nextEvent = events.next
        whole.jump = request.jump
        let moments = snapshots.compactMap(\.snapshot.moment)
        // If one source has only a present, there is no common past.
        if moments.count == snapshots.count, let first = moments.first {
            whole.moment = moments.dropFirst().reduce(first) { $0.joined(with: $1) }
        }
        return whole
    }
}

extension EngineTimes {
    /// Keeps the larger of each value, so that the worst engine shows.
    fileprivate mutating func absorb(_ other: EngineTimes) {
        busy = max(busy, other.busy)
        longestTurn = max(longestTurn, other.longestTurn)
        queueLag = max(queueLag, other.queueLag)
        mailboxDepth = max(mailboxDepth, other.mailboxDepth)
        if let refused = other.outOfDescriptors {
            outOfDescriptors = outOfDescriptors.map { max($0, refused) } ?? refused
        }
    }
}

extension EngineCounters {
    fileprivate mutating func add(_ other: EngineCounters) {
        turns.saturate(adding: other.turns)
        readinessEvents.saturate(adding: other.readinessEvents)
        commands.saturate(adding: other.commands)
        opened.saturate(adding: other.opened)
        closed.saturate(adding: other.closed)
        received.saturate(adding: other.received)
        sent.saturate(adding: other.sent)
        descriptorsRefused.saturate(adding: other.descriptorsRefused)
        unfinishedMessageBytes.saturate(adding: other.unfinishedMessageBytes)
        messagesWithoutRoom.saturate(adding: other.messagesWithoutRoom)
    }
}

extension EngineSnapshot {
    /// The snapshot with the events of the snapshots before it, for readers that want nothing else of those.
    package var withEarlierEvents: EngineSnapshot {
        guard let before else { return self }
        var whole = self
        (whole.before, whole.events) = (nil, before.flatMap(\.events) + events)
        return whole
    }
}
