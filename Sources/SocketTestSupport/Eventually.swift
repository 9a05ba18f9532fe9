import Glibc

/// Waits until `condition` holds, looking again every few milliseconds; false when it does not within `limit`.
/// With its twin below, the only place in the tests that pauses.
package func eventually(within limit: Duration = .seconds(30), _ condition: () throws -> Bool) rethrows -> Bool {
    let end = ContinuousClock.now + limit
    while try !condition() {
        guard ContinuousClock.now < end else { return try condition() }
        usleep(2_000)
    }
    return true
}

/// The same for tests that await: it lends its thread to the tasks that it waits for, of which there may be no other.
package func eventually(within limit: Duration = .seconds(30), _ condition: () throws -> Bool) async rethrows -> Bool {
    let end = ContinuousClock.now + limit
    while try !condition() {
        guard ContinuousClock.now < end else { return try condition() }
        try? await Task.sleep(for: .milliseconds(2))
    }
    return true
}
