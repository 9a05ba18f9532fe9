import Dispatch
import InspectorCore
import SocketKit

/// Searches the payloads of many connections, a few of them at a time: neither the engine nor the screen waits for it.
final class PayloadFinder: Sendable {
    private let sources: SourceList
    private let inbox: Inbox
    private let queue = DispatchQueue(label: "socktui.find", qos: .utility)
    /// The number of the search under way; 0: none is.
    private let current = Lock(0)

    /// Connections whose traffic is asked for at once.
    private static let slice = 16
    /// Between two reports of what was found.
    private static let pause = Duration.milliseconds(100)

    init(sources: SourceList, inbox: Inbox) {
        (self.sources, self.inbox) = (sources, inbox)
    }

    /// Begins a search and drops the one before.
    func start(_ request: FindRequest) {
        current.withLock { $0 = request.number }
        step(request, from: 0, FindProgress(number: request.number), reported: .now)
    }

    func stop() { current.withLock { $0 = 0 } }

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
