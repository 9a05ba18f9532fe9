/// A position in the history of a source that can be rewound. Times are in nanoseconds since 1970 (UTC).
package struct SnapshotMoment: Equatable, Sendable {
    /// The first instant that can be shown.
    package var first: Int64
    /// The last instant that can be shown so far.
    package var last: Int64
    /// The instant from which times are counted. In a live run, instants before `first` are no longer kept.
    package var origin: Int64
    /// Whether recording continues, so that `last` is the present and not the end.
    package var isLive = false
    /// The number of sessions live in the present, while the past of a live run is shown.
    package var livePresent = 0
    /// The number of snapshots dropped early because there was no room for them.
    package var dropped: UInt64 = 0
    /// The instant that is shown, or `nil` for the last one.
    package var shown: Int64?
    /// The time of the event before the shown instant.
    package var previousEvent: Int64?
    /// The time of the next event.
    package var nextEvent: Int64?

    package init(first: Int64, last: Int64, shown: Int64? = nil) {
        (self.first, self.last, self.shown, origin) = (first, last, shown, first)
    }

    /// The moment of two sources that are shown together.
    package func joined(with other: SnapshotMoment) -> SnapshotMoment {
        var both = SnapshotMoment(
            first: min(first, other.first), last: max(last, other.last), shown: shown ?? other.shown)
        both.origin = min(origin, other.origin)
        both.previousEvent = [previousEvent, other.previousEvent].compactMap { $0 }.max()
        both.nextEvent = [nextEvent, other.nextEvent].compactMap { $0 }.min()
        return both
    }
}
