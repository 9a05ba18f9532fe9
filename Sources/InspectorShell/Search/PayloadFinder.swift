import Dispatch
import InspectorCore
import SocketKit

/// Searches the payloads of many connections, a few at a time. Neither the engine nor the screen waits for it.
package final class PayloadFinder: Sendable {
    private let sources: SourceList
    private let inbox: Inbox
    private let queue = DispatchQueue(label: "socktui.find", qos: .utility)
    /// The number of the running search, or 0 if there is none.
    private let current = Lock(0)

    /// The number of connections whose traffic is requested at once.
    private static let slice = 16
    /// The interval between two reports of matches.
    private static let pause = Duration.milliseconds(100)

    package init(sources: SourceList, inbox: Inbox) {
        (self.sources, self.inbox) = (sources, inbox)
    }

    /// Starts a search and drops the previous one.
    package func start(_ request: FindRequest) {
        current.withLock { $0 = request.number }
        step(request, from: 0, FindProgress(number: request.number), reported: .now)
    }

    package func stop() { current.withLock { $0 = 0 } }

    private func step(
        _ request: FindRequest, from start: Int, _ progress: FindProgress, reported: ContinuousClock.Instant
    ) {
        let slice = Array(request.sockets.dropFirst(start).prefix(Self.slice))
        sources.requestTraffic(of: slice) { @Sendable [self] traffic in
            queue.async { @Sendable [self] in
                guard current.withLock({ $0 == request.number }) else { return }
                var progress = progress
                for id in slice { progress.search(traffic[id], of: id, for: request.search) }
                let next = start + slice.count
                progress.isOver = next >= request.sockets.count
                let isDue = progress.isOver || .now - reported >= Self.pause
                if isDue { inbox.post(.found(progress)) }
                guard !progress.isOver else { return }
                if isDue { progress.matches = [] }
                step(request, from: next, progress, reported: isDue ? .now : reported)
            }
        }
    }
}
