import InspectorCore

/// The hosts that are looked at, which replace the rows. What they are is in the news of the programs.
package struct HostsPane: Hashable, Sendable {
    /// The row with the cursor.
    package private(set) var cursor = 0
    /// The first visible row.
    package private(set) var top = 0

    mutating func choose(_ row: Int, of count: Int) { cursor = min(max(0, row), max(0, count - 1)) }

    mutating func keepInSight(height: Int) {
        top = max(min(top, cursor), cursor - max(1, height) + 1)
    }
}

extension Shared {
    /// The hosts, if several were asked for.
    var hosts: [HostStatus] { programs.flatMap(\.hosts) }
}
