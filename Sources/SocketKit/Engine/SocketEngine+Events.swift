import Dispatch
import SocketCore

/// Events that were recorded since the last batch.
public struct SocketEventBatch: Sendable {
    /// The events in the order in which they were recorded.
    public var events: [SocketEvent]
    /// The number of events that were overwritten before this observer's queue took them. They come before `events`.
    public var lost: UInt64
}

/// A subscription to an engine's events (see `SocketEngine.observeEvents(on:_:)`). It ends when it is released.
public final class SocketEventObservation: Sendable {
    private let engine: SocketEngine
    private let observer: EventObserver

    fileprivate init(_ engine: SocketEngine, _ observer: EventObserver) {
        (self.engine, self.observer) = (engine, observer)
    }

    /// Ends the subscription. No batch starts after this. One that has started continues.
    public func cancel() {
        observer.end()
        engine.enter { state in
            state.observers.removeAll { $0 === observer }
            state.retire(observer)
        }
    }

    deinit { cancel() }
}

extension SocketEngine {
    /// The number of the next event.
    package var nextEvent: UInt64 { enter { $0.ring.next } }

    /// Makes room to list the endings of all sessions, with their events, before any that is listed now is dropped. For
    /// a program that is about to close them all.
    package func makeRoomForEndings() {
        enter { state in
            state.ring.makeRoom(for: state.sessions.count * Self.eventsOfEnding)
            state.closed.makeRoom(for: state.sessions.count)
        }
    }

    /// More events than the ending of a session has.
    private static let eventsOfEnding = 16

    /// Delivers the events that are recorded from now on to `handler`, for logs and metrics.
    ///
    /// Batches arrive on `queue` at the end of a turn, one at a time and in order. The engine never waits. While a
    /// batch is being handled, the next ones gather in the event ring, and events that the ring has no room for are
    /// counted in `SocketEventBatch.lost` (`EngineConfiguration.eventCapacity`). An engine without observers pays one
    /// test a turn. A serial `queue` keeps the order. Keep the result while you want events; it retains the engine.
    public func observeEvents(
        on queue: DispatchQueue, _ handler: @escaping @Sendable (SocketEventBatch) -> Void
    ) -> SocketEventObservation {
        let observer = enter { state in
            let observer = EventObserver(queue: queue, from: state.ring.next, handler, again: state.requestTurn)
            state.observers.append(observer)
            return observer
        }
        return SocketEventObservation(self, observer)
    }
}

/// Delivers events to a handler on its queue, one batch at a time.
final class EventObserver: Sendable {
    private struct State {
        /// The next event to deliver.
        var next: UInt64
        var isBusy = false
        /// Whether more was recorded while the handler ran.
        var isBehind = false
        var hasEnded = false
    }

    private let queue: DispatchQueue
    private let handler: @Sendable (SocketEventBatch) -> Void
    /// Requests a turn, which ends by delivering what was recorded meanwhile.
    private let again: @Sendable () -> Void
    private let state: Lock<State>

    init(
        queue: DispatchQueue, from next: UInt64, _ handler: @escaping @Sendable (SocketEventBatch) -> Void,
        again: @escaping @Sendable () -> Void
    ) {
        self.queue = queue
        self.handler = handler
        self.again = again
        state = Lock(State(next: next))
    }

    func end() { state.withLock { $0.hasEnded = true } }

    /// Called at the end of a turn, on the engine's queue.
    func read(_ ring: borrowing EventRing) {
        let latest = ring.next
        let first: UInt64? = state.withLock { state in
            guard state.next < latest, !state.hasEnded else { return nil }
            state.isBehind = state.isBusy
            guard !state.isBusy else { return nil }
            defer { (state.isBusy, state.next) = (true, latest) }
            return state.next
        }
        guard let first else { return }
        let (events, lost, _) = ring.read(from: first)
        let batch = SocketEventBatch(events: events, lost: lost)
        queue.async { @Sendable [self] in handle(batch) }
    }

    private func handle(_ batch: SocketEventBatch) {
        if !state.withLock({ $0.hasEnded }) { handler(batch) }
        let isBehind = state.withLock { state in
            defer { (state.isBusy, state.isBehind) = (false, false) }
            return state.isBehind && !state.hasEnded
        }
        if isBehind { again() }
    }
}
