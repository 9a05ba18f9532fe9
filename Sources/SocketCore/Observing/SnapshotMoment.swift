/// Where in its history a source is that can be rewound. Times are of day: nanoseconds since 1970 (UTC).
package struct SnapshotMoment: Hashable, Sendable, Codable {
    /// The first instant that can be shown.
    package var first: Int64
    /// The last one, so far.
    package var last: Int64
    /// From when times are counted. Of a live run what is earlier than `first` is no longer kept.
    package var origin: Int64
    /// Whether what goes on is kept too, so that the present is no end.
    package var isLive = false
    /// Sessions that live in the present, while the past of a live run is shown.
    package var livePresent = 0
    /// Snapshots that were dropped early, since there was no room for them.
    package var dropped: UInt64 = 0
    /// The instant that is shown; `nil`: the last one.
    package var shown: Int64?
    /// When the event before what is shown was.
    package var previousEvent: Int64?
    /// When the next event is.
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
