/// Where in its history a source is that can be rewound. Times are of day: nanoseconds since 1970 (UTC).
package struct SnapshotMoment: Hashable, Sendable, Codable {
    /// The first instant that can be shown.
    package var first: Int64
    /// The last one, so far.
    package var last: Int64
    /// The instant that is shown; `nil`: the last one.
    package var shown: Int64?
    /// When the event before what is shown was.
    package var previousEvent: Int64?
    /// When the next event is.
    package var nextEvent: Int64?

    package init(first: Int64, last: Int64, shown: Int64? = nil) {
        (self.first, self.last, self.shown) = (first, last, shown)
    }

    /// The moment of two sources that are shown together.
    package func joined(with other: SnapshotMoment) -> SnapshotMoment {
        var both = SnapshotMoment(
            first: min(first, other.first), last: max(last, other.last), shown: shown ?? other.shown)
        both.previousEvent = [previousEvent, other.previousEvent].compactMap { $0 }.max()
        both.nextEvent = [nextEvent, other.nextEvent].compactMap { $0 }.min()
        return both
    }
}
