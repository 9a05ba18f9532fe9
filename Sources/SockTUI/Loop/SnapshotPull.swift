import Glibc
import InspectorCore
import InspectorShell
import SocketKit

/// Pulls snapshots and messages out of the shell, for the screen and for reports: one request at a time, because events
/// are sent only once, so that each answer must be used. Nobody waits for the engine, nor the engine for anybody.
struct SnapshotPull {
    private let runner: EffectRunner
    /// Whether a requested snapshot has not arrived yet.
    private(set) var isUnderWay = false

    /// Ten per second: fast enough to watch, slow enough to read.
    static let tick = Duration.milliseconds(100)

    init(_ runner: EffectRunner) { self.runner = runner }

    /// Requests a snapshot, unless one is pending. Returns whether it did.
    mutating func request(_ request: SnapshotRequest) -> Bool {
        guard !isUnderWay else { return false }
        isUnderWay = true
        runner.requestSnapshot(request)
        return true
    }

    /// Waits for a message or a signal, for input on another descriptor, or until `end`. Returns the events of that
    /// descriptor.
    func wait(until end: ContinuousClock.Instant, or descriptor: Int32? = nil) -> Int32 {
        // poll ignores a negative descriptor.
        var polled = [runner.inbox.readEnd, descriptor ?? -1].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let left = max(.zero, end - ContinuousClock.now)
        let count = poll(&polled, nfds_t(polled.count), Int32(left.wholeNanoseconds / 1_000_000) + 1)
        return count > 0 ? Int32(polled[1].revents) : 0
    }

    /// Returns the messages that have arrived.
    mutating func take() -> [Message] {
        let messages = runner.inbox.take()
        if messages.contains(where: \.isAnswer) { isUnderWay = false }
        return messages
    }
}

extension Message {
    var isAnswer: Bool { if case .answer = self { true } else { false } }
}
