import SocketCore

/// The load of an engine, measured between two instants a second apart.
package struct EngineLoad: Equatable, Sendable {
    /// The share of time that it spends in turns, from 0 to 1.
    package private(set) var busy = 0.0
    /// Turns per second.
    package private(set) var turns = 0.0

    /// Measures one engine between two instants. Returns `nil` if they are less than a second apart.
    package init?(from former: EngineShare, to latter: EngineShare) {
        let seconds = (latter.time - former.time).inSeconds
        guard seconds >= 1 else { return nil }
        busy = min(1, max(0, (latter.times.busy - former.times.busy).inSeconds / seconds))
        turns = Double(latter.counters.turns - min(latter.counters.turns, former.counters.turns)) / seconds
    }
}
