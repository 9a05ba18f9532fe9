import Glibc

/// Waits until `condition` holds, looking again every few milliseconds; false when it does not within `limit`.
/// The only place in the tests that pauses.
package func eventually(within limit: Duration = .seconds(10), _ condition: () throws -> Bool) rethrows -> Bool {
    let end = ContinuousClock.now + limit
    while try !condition() {
        guard ContinuousClock.now < end else { return try condition() }
        usleep(2_000)
    }
    return true
}
