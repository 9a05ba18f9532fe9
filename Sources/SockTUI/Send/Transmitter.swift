import Dispatch
import InspectorCore
import SocketKit

/// Sends what takes more than one write: files piece by piece, messages with macros, repetitions, dribbles. One
/// transmission per connection, each in its own task; its progress goes to the inbox.
///
/// Every piece is waited for until the kernel has it, so that our queue never holds more than one of them and the peer
/// that does not read is felt at once.
final class Transmitter: Sendable {
    private let sources: SourceList
    private let inbox: Inbox
    private let executor = QueueExecutor()
    private let running = Lock(Running())

    /// The long ones, and how far each was when it was last told.
    private struct Running {
        var number = 0
        var entries: [SocketID: Entry] = [:]
    }

    private struct Entry {
        var number: Int
        var task: Task<Void, Never>?
        var progress: TransmissionProgress
        /// Whether what is known here will be told without another report.
        var isReportDue = false
    }

    /// Bytes of a piece of a file.
    static let pieceLength = 256 << 10
    /// Between two reports.
    private static let reportTime = DispatchTimeInterval.milliseconds(100)

    init(sources: SourceList, inbox: Inbox) {
        self.sources = sources
        self.inbox = inbox
    }

    deinit {
        for entry in running.withLock({ Array($0.entries.values) }) { entry.task?.cancel() }
    }

    /// Begins to send; nothing of it is done when this returns.
    func start(_ transmission: Transmission) {
        let id = transmission.socket
        let progress = TransmissionProgress(transmission)
        let number = running.withLock { running in
            running.number += 1
            if transmission.isLong { running.entries[id] = Entry(number: running.number, progress: progress) }
            return running.number
        }
        let task = Task(executorPreference: executor) { [sources, weak self] in
            var sender = Sender(progress, sources) { self?.report($0, number, atOnce: $1) }
            let ending = await sender.run()
            self?.ended(sender.progress, number, ending)
        }
        running.withLock { if $0.entries[id]?.number == number { $0.entries[id]?.task = task } }
    }

    /// Stops sending at once. A write that has begun goes on: a peer that does not read would be waited for for ever.
    func stop(_ id: SocketID) {
        guard let entry = running.withLock({ $0.entries.removeValue(forKey: id) }) else { return }
        entry.task?.cancel()
        inbox.post(.transmissionEnded(entry.progress, .stopped))
    }

    /// Remembers how far it is. The inbox is told at once, or within `reportTime`, also where nothing goes out meanwhile.
    private func report(_ progress: TransmissionProgress, _ number: Int, atOnce: Bool) {
        let id = progress.transmission.socket
        let (isWanted, isFirst) = running.withLock { running in
            guard let entry = running.entries[id], entry.number == number else { return (false, false) }
            running.entries[id]?.progress = progress
            if !atOnce { running.entries[id]?.isReportDue = true }
            return (true, !entry.isReportDue)
        }
        guard isWanted else { return }
        guard !atOnce else { return inbox.post(.transmission(progress)) }
        guard isFirst else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.reportTime) { @Sendable [weak self] in
            self?.reportLatest(of: id, number)
        }
    }

    private func reportLatest(of id: SocketID, _ number: Int) {
        let latest = running.withLock { running -> TransmissionProgress? in
            guard let entry = running.entries[id], entry.number == number else { return nil }
            running.entries[id]?.isReportDue = false
            return entry.progress
        }
        if let latest { inbox.post(.transmission(latest)) }
    }

    /// What was stopped has been told of already.
    private func ended(_ progress: TransmissionProgress, _ number: Int, _ ending: TransmissionEnding) {
        let id = progress.transmission.socket
        guard progress.transmission.isLong else {
            if case .failed(let sentence) = ending { inbox.post(.refused(sentence)) }
            return
        }
        let wasRunning = running.withLock { running in
            guard running.entries[id]?.number == number else { return false }
            running.entries[id] = nil
            return true
        }
        if wasRunning { inbox.post(.transmissionEnded(progress, ending)) }
    }

    /// One transmission on its way.
    private struct Sender {
        var progress: TransmissionProgress
        let sources: SourceList
        let tell: (TransmissionProgress, _ atOnce: Bool) -> Void

        init(
            _ progress: TransmissionProgress, _ sources: SourceList,
            tell: @escaping (TransmissionProgress, _ atOnce: Bool) -> Void
        ) {
            self.progress = progress
            self.sources = sources
            self.tell = tell
        }

        private var pace: Pace { progress.transmission.pace }

        mutating func run() async -> TransmissionEnding {
            do {
                repeat {
                    try await once()
                    progress.rounds += 1
                    report(atOnce: true)
                    if let interval = pace.interval { try await Task.sleep(for: interval) }
                } while pace.interval != nil && !Task.isCancelled
                return Task.isCancelled ? .stopped : .done
            } catch let error as MessageText.Unsendable {
                return .failed(error.sentence)
            } catch let error as SocketError {
                return Task.isCancelled ? .stopped : .failed("\(progress.transmission.socket): \(error.detail)")
            } catch {
                return .stopped
            }
        }

        private mutating func once() async throws {
            progress.done = 0
            switch progress.transmission.source {
            case .message(let pieces, let first):
                let bytes = try MessageText.bytes(pieces, .now(sequence: first + progress.rounds))
                progress.total = bytes.count
                try await send(bytes)
            case .file(let path):
                let file = try ReadFile(path)
                progress.total = file.size
                // Before the first piece, which may have to wait for what was queued before.
                report(atOnce: true)
                if progress.transmission.isMessages { return try await stream(file) }
                while let piece = try file.next(Transmitter.pieceLength) { try await send(piece) }
            }
        }

        /// The file as one binary message, whose parts wait for room.
        private mutating func stream(_ file: ReadFile) async throws {
            let id = progress.transmission.socket
            let stream = try await sources.opener(of: id).stream(to: id.own)
            // Stopped, or cut short by a file that cannot be read, the message still has to end.
            defer { stream.finish() }
            while let piece = try file.next(Transmitter.pieceLength) {
                try Task.checkCancellation()
                try await stream.send(piece)
                progress.done += piece.count
                report(atOnce: false)
            }
        }

        private mutating func send(_ bytes: [UInt8]) async throws {
            guard let dribble = pace.dribble else { return try await write(bytes) }
            for start in stride(from: 0, to: bytes.count, by: dribble.bytes) {
                if progress.done > 0 { try await Task.sleep(for: dribble.interval) }
                try await write(Array(bytes[start..<min(start + dribble.bytes, bytes.count)]))
            }
        }

        /// Never inlined: the optimizer of Swift 6.3.1 crashes when it splits the loop of `send` with this in it.
        @inline(never)
        private mutating func write(_ bytes: [UInt8]) async throws {
            try Task.checkCancellation()
            let transmission = progress.transmission
            let (opener, id) = (try sources.opener(of: transmission.socket), transmission.socket.own)
            if transmission.isMessages {
                let type = transmission.isBinary ? .binary : WebSocketMessage.type(of: bytes)
                try await opener.send(WebSocketMessage(type, bytes), to: id)
            } else {
                try await opener.write(
                    WriteRequest(bytes, timeout: pace.timeout, tag: transmission.tag), to: id)
            }
            progress.done += bytes.count
            report(atOnce: false)
        }

        private func report(atOnce: Bool) {
            if progress.transmission.isLong { tell(progress, atOnce) }
        }
    }
}
