import HostSockets
import InspectorCore
import SocketKit

/// Looks at the host again and again, and tells what it saw as metrics.
package struct MetricsWatch {
    private var watch: HostWatch
    private var rows = HostRows(userNames: OwnUser.names())
    private var processorTime = Duration.zero
    private var pace = LookPace()
    private let version: String

    /// The time that a look may spend finding the owners of sockets.
    private static let ownersBudget = Duration.milliseconds(300)

    package init(_ options: HostOptions, _ lints: LintSettings, version: String) {
        watch = HostWatch(options, lints)
        self.version = version
    }

    /// The time to wait before the next look.
    package var pause: Duration { pace.pause }

    /// Looks until problems of stalled bytes are proven or cleared, as `host --check` does.
    package mutating func settle() throws(HostObserver.Problem) -> MetricsText {
        let began = HostObserver.processorTime
        try watch.settle(span: nil)
        return metrics(since: began)
    }

    /// Looks once. If memory or descriptors are short for a moment, returns `nil`, and the next look makes up for it.
    package mutating func look() throws(HostObserver.Problem) -> MetricsText? {
        let began = HostObserver.processorTime
        do throws(HostObserver.Problem) {
            try watch.see(readsPrograms: true, ownersBudget: Self.ownersBudget)
        } catch {
            guard error.isPassing else { throw error }
            return nil
        }
        let metrics = metrics(since: began)
        // The first look reads what later ones already know.
        if watch.judge.looks > 1 { pace.note(HostObserver.processorTime - began) }
        return metrics
    }

    /// - Parameter began: the processor time before the look.
    private mutating func metrics(since began: Duration) -> MetricsText {
        let found = watch.judge.verdicts().found
        let snapshot = rows.snapshot(
            of: watch.look, by: watch.judge, found, wallNanoseconds: SystemClock().wallNanoseconds)
        processorTime += HostObserver.processorTime - began
        return HostMetrics.metrics(
            of: snapshot, watch.look, by: watch.judge, found, processorTime: processorTime, version: version)
    }
}
