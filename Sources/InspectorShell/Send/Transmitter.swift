import Dispatch
import InspectorCore
import SocketKit

/// Sends what takes more than one write: files piece by piece, messages with macros, repetitions, dribbles. Each
/// connection has at most one transmission, in its own task. Its progress is posted to the inbox.
///
/// Each piece waits until the kernel has accepted the one before. The write queue then never holds more than one piece,
/// and a peer that doesn't read stops the transmission at once.
package final class Transmitter: Sendable {
    private let sources: SourceList
    private let inbox: Inbox
    private let executor = QueueExecutor()
    private let running = Lock(Running())

    /// The long transmissions, and the last reported progress of each.
    private struct Running {
        var number = 0
        var entries: [SocketID: Entry] = [:]
    }

    private struct Entry {
        var number: Int
        var task: Task<Void, Never>?
        var progress: TransmissionProgress
        /// Whether a scheduled report will include the current state.
        var isReportDue = false
    }

    /// The length of a piece of a file in bytes.
    package static let pieceLength = 256 << 10
    /// The interval between two reports.
    private static let reportTime = DispatchTimeInterval.milliseconds(100)

    package init(sources: SourceList, inbox: Inbox) {
        self.sources = sources
        self.inbox = inbox
    }

    deinit {
        for entry in running.withLock({ Array($0.entries.values) }) { entry.task?.cancel() }
    }

    /// Starts sending. Returns before anything is sent.
    package func start(_ transmission: Transmission) {
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

    /// Stops sending at once. Doesn't wait for the current write, because a peer that doesn't read would block it
    /// forever.
    package func stop(_ id: SocketID) {
        guard let entry = running.withLock({ $0.entries.removeValue(forKey: id) }) else { return }
        entry.task?.cancel()
        inbox.post(.transmissionEnded(entry.progress, .stopped))
    }

    /// Notes the progress. The inbox gets it at once or within `reportTime`, even if nothing is sent meanwhile.
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

    /// A stopped transmission has already been reported.
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

    /// A transmission in progress.
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
                // Report before the first piece, which may have to wait for earlier writes.
                report(atOnce: true)
                if progress.transmission.isMessages { return try await stream(file) }
                while let piece = try file.next(Transmitter.pieceLength) { try await send(piece) }
            }
        }

        /// Sends the file as one binary message, whose parts wait for room.
        private mutating func stream(_ file: ReadFile) async throws {
            let id = progress.transmission.socket
            let stream = try await sources.opener(of: id).stream(to: id.own)
            // The message must end even if it was stopped or its file can't be read.
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

        /// Never inlined, because the Swift 6.3.1 optimizer crashes when it splits the loop of `send` that contains
        /// this.
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
