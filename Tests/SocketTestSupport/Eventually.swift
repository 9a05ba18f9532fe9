import Glibc

/// Waits until `condition` holds, looking again every few milliseconds; false when it does not within `limit`.
/// With its twin below, the only place in the tests that pauses.
package func eventually(within limit: Duration = .seconds(100), _ condition: () throws -> Bool) rethrows -> Bool {
    let end = ContinuousClock.now + limit
    while try !condition() {
        guard ContinuousClock.now < end else { return try condition() }
        usleep(2_000)
    }
    return true
}

/// The same for tests that await: it lends its thread to the tasks that it waits for, of which there may be no other. Other
/// tests may hold all threads for long, so the limit is a number of looks: a look that waits for a thread counts once.
package func eventually(within limit: Duration = .seconds(100), _ condition: () throws -> Bool) async rethrows -> Bool {
    let pause = Duration.milliseconds(2)
    for _ in 0..<Int(limit / pause) {
        if try condition() { return true }
        try? await Task.sleep(for: pause)
    }
    return try condition()
}

/// Puts a timeout around an `await` as programs do, by a task group: when the time is over, `body` is cancelled. Returns
/// what came of `body`, so it ends only if `body` does.
package func cancelling<R: Sendable>(
    after time: Duration = .milliseconds(20), _ body: @escaping @Sendable () async throws -> R
) async -> Result<R, any Error> {
    await withTaskGroup(of: Result<R, any Error>?.self) { group in
        group.addTask {
            do { return .success(try await body()) } catch { return .failure(error) }
        }
        group.addTask {
            try? await Task.sleep(for: time)
            return nil
        }
        var result: Result<R, any Error>?
        while let ended = await group.next() {
            result = result ?? ended
            group.cancelAll()
        }
        return result ?? .failure(CancellationError())
    }
}
