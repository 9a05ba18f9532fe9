/// Numbers the events of several programs in one sequence. What was lost of one keeps its place as a gap in the numbers.
package struct EventMerger: Sendable {
    /// Of each program, the number that is expected next; nil: none has come, and what lay before is not missed.
    private var expected: [Int: UInt64] = [:]
    /// The number that the next event gets.
    package private(set) var next: UInt64 = 0

    package init() {}

    /// What that program's next event is called by itself; nil: nothing is known of it.
    package func expects(of ordinal: Int) -> UInt64? { expected[ordinal] }

    /// Makes a program's events count from that number on, so that what is lost before the first look is known to be.
    package mutating func expect(_ sequence: UInt64, of ordinal: Int) { expected[ordinal] = sequence }

    /// The next events of one program, in their order, as they are called in the common sequence. `theirs`: the number that
    /// its next one will have.
    package mutating func number(
        _ new: [SocketEvent], of ordinal: Int, next theirs: UInt64
    ) -> [SocketEvent] {
        var awaited = expected[ordinal] ?? new.first?.sequence ?? theirs
        defer {
            if theirs > awaited { next.saturate(adding: theirs - awaited) }
            expected[ordinal] = max(theirs, awaited)
        }
        // A program alone keeps its numbers: nothing has to be copied.
        if ordinal == 0, awaited == next, let last = new.last, last.sequence < .max,
            last.sequence &- awaited == UInt64(new.count - 1), new.first?.sequence == awaited
        {
            (awaited, next) = (last.sequence + 1, last.sequence + 1)
            return new
        }
        var numbered: [SocketEvent] = []
        for event in new where event.sequence >= awaited && event.sequence < .max {
            next.saturate(adding: event.sequence - awaited)
            // The numbers are used up, which takes programs that lie about how many events they lost.
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

/// Puts the snapshots of several programs into one.
package struct ProgramMerger: Sendable {
    private var events = EventMerger()

    package init() {}

    /// Whether no event has been numbered.
    package var isEmpty: Bool { events.next == 0 }

    /// What that program's next event is called by itself; nil: nothing is known of it.
    package func expects(of ordinal: Int) -> UInt64? { events.expects(of: ordinal) }

    /// Makes a program's events count from that number on, so that what is lost before the first look is known to be.
    package mutating func expect(_ sequence: UInt64, of ordinal: Int) { events.expect(sequence, of: ordinal) }

    /// One snapshot of all of them, each with its program's ordinal, as that was asked for. The clocks of one host's
    /// programs are one clock, so its instant is the latest of theirs. Its counters are sums and its times the largest;
    /// `shares` has those of each engine. Events are passed on once: they are in this snapshot and in none that follows.
    package mutating func merge(
        _ snapshots: [(snapshot: EngineSnapshot, ordinal: Int)], _ request: SnapshotRequest
    ) -> EngineSnapshot {
        let latest = snapshots.max { $0.snapshot.time < $1.snapshot.time }?.snapshot
        var whole = EngineSnapshot(
            engine: latest?.engine ?? "", time: latest?.time ?? .zero, wallNanoseconds: latest?.wallNanoseconds ?? 0)
        whole.shares = []
        if snapshots.count == 1, let first = snapshots.first {
            // What was shown before is the history of one source; several have no common one.
            whole.before = first.snapshot.before?.map { merge([($0, first.ordinal)], request) }
        }
        for (var snapshot, ordinal) in snapshots.sorted(by: { $0.ordinal < $1.ordinal }) {
            if ordinal > 0 {
                for index in snapshot.sockets.indices { snapshot.sockets[index].belongs(to: ordinal) }
            }
            // The sessions of one program alone are passed on without a copy of them.
            if whole.sockets.isEmpty { whole.sockets = snapshot.sockets } else { whole.sockets += snapshot.sockets }
            whole.counters.add(snapshot.counters)
            whole.times.take(snapshot.times)
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
            if let id = snapshot.trafficOf, SocketID(id.number, of: ordinal) == request.traffic {
                whole.trafficOf = request.traffic
                whole.traffic = snapshot.traffic
            }
        }
        whole.nextEvent = events.next
        whole.turn = request.turn
        let moments = snapshots.compactMap(\.snapshot.moment)
        // With a source that has only a present there is no past of all.
        if moments.count == snapshots.count, let first = moments.first {
            whole.moment = moments.dropFirst().reduce(first) { $0.joined(with: $1) }
        }
        return whole
    }
}

extension EngineTimes {
    /// Makes each the larger one, so that the engine that does worst is seen.
    fileprivate mutating func take(_ other: EngineTimes) {
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
