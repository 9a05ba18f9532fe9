import Dispatch
import Glibc
import InspectorCore
import SocketKit
import SocketRecords

/// The contents of a capture file: one of our recordings, or any pcapng or pcap. It is read on its own queue, and shown
/// as far as it has been read; what comes through a pipe is shown as it comes. The state at an earlier instant is rebuilt by reading again from a position before it.
package final class OpenedSource: SocketSource {
    private struct State {
        /// The state at the end of what was read.
        var capture: OpenedCapture
        var index: CaptureIndex
        var ending: String?
        /// What the contents lack, once they were read.
        var missing: String?
        var isClosing = false
        /// The reason why the file couldn't be read to its end, and whether it was reported.
        var problem: String?
        var hasTold = false
        /// Whether all that had come of a stream was read once. From then on it is shown live.
        var isLive = false
        /// Whether it was reported that a stream is no longer kept.
        var hasToldLoss = false
        /// The state at an earlier instant, while that is shown.
        var past: OpenedCapture?
        /// The last instant jumped to whose history was reported. See `SnapshotRequest.jump`.
        var toldJump: UInt64?

        /// The state that is shown.
        var shown: OpenedCapture { past ?? capture }

        /// Returns the start for rebuilding the state at a time of day or at the end, or `nil` before there is any.
        /// With `hasHistory`, the state includes what was shown before it.
        func aim(at wall: Int64?, hasHistory: Bool) -> Aim? {
            let wanted = wall.map(capture.time) ?? capture.latest
            guard capture.start != nil, let instant = wanted.map({ min($0, capture.latest) }) else { return nil }
            var from = hasHistory ? index.capture(withHistoryBefore: instant) : index.capture(before: instant)
            // While the past is played, continuing from the current state is shortest.
            if !hasHistory, let past, past.latest <= instant, past.length >= from.length { from = past }
            if hasHistory { from.passing = PassedSnapshots(before: instant) }
            return Aim(from: from, instant: instant, end: capture.length, isWhole: ending != nil)
        }

        /// Whether to report the earlier snapshots, because of a jump to another instant. Only our recordings have
        /// them. Their end is known once they were read.
        mutating func reportsHistory(_ request: SnapshotRequest) -> Bool {
            let isKnown = ending != nil || isLive || request.instant != nil
            guard capture.isOurs, isKnown, toldJump != request.jump else { return false }
            toldJump = request.jump
            return true
        }

        func moment(at instant: MonotonicTime) -> SnapshotMoment? {
            guard let first = capture.start.flatMap(capture.wall), let last = capture.wall(capture.latest) else {
                return nil
            }
            var moment = SnapshotMoment(first: first, last: last)
            let (previous, next) = index.neighbors(of: instant)
            moment.previousEvent = previous.flatMap(capture.wall)
            moment.nextEvent = next.flatMap(capture.wall)
            return moment
        }
    }

    /// An earlier instant, and a state before it from which reading reaches it.
    private struct Aim {
        var from: OpenedCapture
        var instant: MonotonicTime
        /// The offset at which reading ends. `isWhole` says whether that is the end of the file.
        var end: UInt64
        var isWhole: Bool
    }

    package let path: String
    private let name: String
    private let bytes: OpenedBytes
    private let zero: Int64?
    private let state: Lock<State>
    /// Finds earlier instants, even while still reading the file.
    private let seeking: DispatchQueue

    private static let chunk = 256 << 10
    /// The most bytes of traffic kept for the state at an earlier instant.
    private static let pastLimit = 32 << 20

    /// Opens the file, or `input` for `-`. `zero` is the time of day at which its clock is 0, if several files
    /// are opened; see `OpenedCapture`. At most `kept` bytes of a pipe can be read again.
    /// - Throws: a sentence that says why it can't be opened.
    package init(
        path: String, keeping limits: TrafficLimits, zero: Int64? = nil, input: Int32 = STDIN_FILENO,
        kept: UInt64 = OpenedBytes.mostKept
    ) throws(AttachError) {
        bytes = try OpenedBytes(path: path, input: input, limit: kept)
        self.path = path == Effect.standardInput ? "standard input" : path
        self.zero = zero
        name = self.path.split(separator: "/").last.map(String.init) ?? path
        var capture = OpenedCapture(keeping: limits.each, all: limits.all, zero: zero)
        let index = CaptureIndex(capture)
        capture.instants = []
        seeking = DispatchQueue(label: "rewind \(name)", qos: .userInitiated)
        state = Lock(State(capture: capture, index: index))
    }

    /// Starts reading.
    package func start() {
        DispatchQueue(label: "open \(name)", qos: .userInitiated).async { @Sendable [self] in read() }
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: Self.chunk)
        var offset: UInt64 = 0
        while !state.withLock({ $0.isClosing }) {
            if bytes.isDry { state.withLock { $0.isLive = true } }
            let count = bytes.readOn(&buffer, from: offset)
            guard count > 0 else { return end(count < 0 ? SocketError.words(errno) : nil) }
            offset += UInt64(count)
            do throws(CaptureError) {
                try state.withLock { state throws(CaptureError) in
                    try state.capture.absorb(buffer[..<count])
                    state.index.note(&state.capture)
                }
            } catch {
                return end(error.sentence)
            }
        }
    }

    private func end(_ problem: String?) {
        state.withLock { state in
            state.capture.finish()
            state.index.note(&state.capture)
            let problem = problem ?? state.capture.problemAtEnd
            state.problem = problem.map { "\(path): \($0)" }
            let shortcomings = state.capture.shortcomings.joined(separator: ", ")
            // Of a file in which nothing could be read, they are the problem.
            let isTold = problem.map { $0.hasSuffix(shortcomings) } ?? false
            state.missing = shortcomings.isEmpty || isTold ? nil : shortcomings
            state.ending = [problem ?? "end of file", state.missing].compactMap { $0 }.joined(separator: "; ")
        }
    }

    // MARK: Rewinding

    /// Answers with the state at a time of day, or at the end.
    private func rewind(
        _ request: SnapshotRequest, to wall: Int64?, hasHistory: Bool,
        then: @escaping @Sendable (EngineSnapshot?) -> Void
    ) {
        seeking.async { @Sendable [self] in
            guard let aim = state.withLock({ $0.aim(at: wall, hasHistory: hasHistory) }) else { return then(nil) }
            var past = aim.from
            past.limit(to: Self.pastLimit)
            seek(&past, aim)
            let before = hasHistory ? past.takePassed() : nil
            // The state rebuilt from a position may have less traffic than the one at the end.
            past.keepSnapshots()
            let shown = wall == nil ? state.withLock { $0.capture } : past
            guard var snapshot = shown.snapshot(request, named: name, at: aim.instant) else { return then(nil) }
            snapshot.before = before
            if let told = before?.last?.nextEvent { snapshot.events.removeAll { $0.sequence < told } }
            snapshot.moment = state.withLock { state in
                state.past = wall == nil ? nil : past
                var moment = state.moment(at: aim.instant)
                if wall != nil { moment?.shown = state.capture.wall(aim.instant) }
                return moment
            }
            then(snapshot)
        }
    }

    /// Reads on until an instant. Read errors and invalid contents were already detected by the first reading.
    private func seek(_ past: inout OpenedCapture, _ aim: Aim) {
        var buffer = [UInt8](repeating: 0, count: Self.chunk)
        while (try? past.advance(until: aim.instant)) == true {
            let most = min(UInt64(buffer.count), aim.end - min(aim.end, past.length))
            let count = most > 0 ? bytes.readAgain(&buffer, most: Int(most), from: past.length) : 0
            guard count > 0 else {
                if aim.isWhole { past.finish() }
                return
            }
            past.append(buffer[..<count])
        }
    }

    // MARK: Searching

    /// Reads the file from its beginning, on the calling thread, and passes on its items and how much of it was read,
    /// in percent. Stops once `take` returns `false`. Returns how many bytes of a stream are no longer kept.
    func readItems(_ take: ([PassedItem], Int) -> Bool) -> UInt64 {
        var capture = OpenedCapture(keeping: 0, all: 0, events: 0, zero: zero)
        capture.collectItems()
        let size = bytes.size ?? state.withLock { $0.capture.length }
        var buffer = [UInt8](repeating: 0, count: Self.chunk)
        while true {
            let count = bytes.readAgain(&buffer, most: buffer.count, from: capture.length)
            // Read errors and invalid contents were already told by the first reading.
            guard count > 0, (try? capture.absorb(buffer[..<count])) != nil else { break }
            guard take(capture.takeItems(), size > 0 ? Int(min(99, capture.length * 100 / size)) : 0) else { return 0 }
        }
        capture.finish()
        _ = take(capture.takeItems(), 100)
        return bytes.isKept ? 0 : size - min(size, capture.length)
    }

    /// Whether `readItems` has everything that was read.
    var canReadAgain: Bool { bytes.isKept }

    /// The reason why the file couldn't be read to its end, or `nil`.
    package var problem: String? { state.withLock { $0.problem } }

    // MARK: SocketSource

    package func info(ordinal: Int) -> ProgramInfo {
        let (ending, missing, length) = state.withLock { ($0.ending, $0.missing, $0.capture.length) }
        var info = ProgramInfo(
            ordinal: ordinal, name: name, process: 0, rights: .payload, state: ending.map { .ended($0) } ?? .live)
        info.missing = missing
        if ending == nil, let size = bytes.size { info.progress = size > 0 ? Int(min(99, length * 100 / size)) : 0 }
        return info
    }

    package func requestSnapshot(_ request: SnapshotRequest, then: @escaping @Sendable (EngineSnapshot?) -> Void) {
        let hasHistory = bytes.isKept && state.withLock { $0.reportsHistory(request) }
        if hasHistory || request.instant != nil, bytes.isKept {
            return rewind(request, to: request.instant, hasHistory: hasHistory, then: then)
        }
        then(
            state.withLock { state in
                state.past = nil
                state.capture.keepSnapshots()
                guard var snapshot = state.capture.snapshot(request, named: name) else {
                    // A file without a packet has no time of its own.
                    return state.ending == nil ? nil : EngineSnapshot(engine: name, time: .zero, wallNanoseconds: 0)
                }
                if bytes.isKept { snapshot.moment = state.moment(at: state.capture.latest) }
                // While the file is being read there are more events than can be reported.
                if state.ending == nil, !state.isLive {
                    (snapshot.events, snapshot.nextEvent, snapshot.calls) = ([], 0, nil)
                }
                return snapshot
            })
    }

    package func requestTraffic(
        of sockets: [SocketID], then: @escaping @Sendable ([SocketID: TrafficSnapshot]?) -> Void
    ) {
        then(
            state.withLock { state in
                Dictionary(sockets.map { ($0, state.shown.traffic(of: $0)) }) { first, _ in first }
            })
    }

    package var isAwaited: Bool { state.withLock { $0.ending == nil && !$0.isClosing } }
    package var hasAnswered: Bool { state.withLock { $0.ending != nil } }

    package func perform(_ command: SocketCommand) {}
    package func takeNotices() -> [String] {
        let loss = bytes.loss
        return state.withLock { state in
            defer { (state.hasTold, state.hasToldLoss) = (state.problem != nil, loss != nil) }
            let lost = state.hasToldLoss ? nil : loss.map { "\(path) is shown, but cannot be rewound: \($0)" }
            return [state.hasTold ? nil : state.problem, lost].compactMap { $0 }
        }
    }
    package func close() { state.withLock { $0.isClosing = true } }
}
