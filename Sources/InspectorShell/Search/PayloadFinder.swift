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

    /// Starts a search and drops the previous one. Opened files are searched first.
    package func start(_ request: FindRequest) {
        current.withLock { $0 = request.number }
        let progress = FindProgress(number: request.number)
        let files = sources.openedFiles.filter(\.file.canReadAgain)
        guard !files.isEmpty else { return step(request, from: 0, progress, reported: .now) }
        queue.async { @Sendable [self] in searchFiles(files, request, progress) }
    }

    package func stop() { current.withLock { $0 = 0 } }

    private func searchFiles(
        _ files: [(file: OpenedSource, ordinal: Int)], _ request: FindRequest, _ progress: FindProgress
    ) {
        var (progress, reported) = (progress, ContinuousClock.now)
        for (file, ordinal) in files {
            var search = FileSearch(request, of: ordinal)
            let isWanted = search.run(in: file, &progress) { progress in
                guard current.withLock({ $0 == request.number }) else { return false }
                guard .now - reported >= Self.pause else { return true }
                inbox.post(.found(progress))
                (progress.matches, reported) = ([], .now)
                return true
            }
            guard isWanted else { return }
        }
        progress.share = nil
        var rest = request
        let ordinals = Set(files.map(\.ordinal))
        rest.sockets.removeAll { ordinals.contains($0.ordinal) }
        step(rest, from: 0, progress, reported: reported)
    }

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
