import Dispatch
import SocketCore

/// Records what passes through an engine in a pcapng file, which Wireshark reads and socktui opens.
///
/// `init(_:to:_:)` writes a file while things happen; `init(_:keeping:bytes:_:)` keeps the last seconds in memory and
/// writes a file when it is asked to. Either has a thread of its own and never holds up the engine: what it cannot take in
/// time is counted, in the file too. Each TCP segment in the file is one read or write; headers are synthetic. What passes
/// under TLS is written as plaintext, so that a recording is as confidential as what passed.
///
/// An engine can have several recorders at once. One that is released without `stop()` goes on.
public final class SocketRecorder: Sendable {
    /// How to record.
    public struct Options: Hashable, Sendable {
        /// The most bytes that the file and its predecessor (FILE.1) take together, or `nil` for no limit. Of no effect
        /// where what is recorded is kept in memory.
        public var limit: Int?
        /// Payload that is kept of each packet, or `nil` for all; 0 keeps none.
        public var snapLength: Int?
        /// Whether a file that exists is replaced.
        public var replaces = false
        /// How often the state of every session is noted, or `nil` to leave that to the caller. Each time takes about a
        /// kibibyte for each session.
        public var interval: Duration? = .seconds(1)

        /// All that passes, without a limit.
        public init() {}
    }

    /// How it is doing.
    public struct Status: Hashable, Sendable {
        /// Bytes written.
        public var written: UInt64 = 0
        /// Reads and writes that were not recorded, since they came faster than they were taken.
        public var dropped: UInt64 = 0
        /// About the bytes that are kept in memory.
        public var kept = 0
        /// How far back they reach, or `nil` if nothing is kept.
        public var keptSince: MonotonicTime?
        /// Why it ended by itself, as a sentence, or `nil` if it did not.
        public var problem: String?
        /// Whether everything that it will write has been written.
        public var hasEnded = false
    }

    private let engine: SocketEngine?
    let tape: RecordingTape
    private let bell = DispatchSemaphore(value: 0)
    private let state = Lock(Status())
    private let isStopping = Lock(false)
    private let ended = DispatchSemaphore(value: 0)
    private let options: Options
    /// What is captured; `nil`: what an engine does is recorded.
    private let capture: RecordedCapture?
    /// What is kept in memory; `nil`: a file is written.
    private let memory: Lock<RecordedMemory?>
    /// Nanoseconds since 1970 at the zero of the engine's clock.
    private let zero: Int64

    /// Begins to record an engine in a file, until `stop()`.
    /// - Parameter engine: whose sockets are recorded, those that are open already included.
    /// - Parameter options: how much is kept.
    /// - Parameter path: the file, which gets mode 0600 and is not made through a symbolic link, or `-` for standard output.
    /// - Throws: `badParameter` with a sentence that names the path, if it cannot be written.
    public convenience init(_ engine: SocketEngine, to path: String, _ options: Options = Options()) throws(SocketError)
    {
        try self.init(recording: engine, to: path, options)
    }

    /// Begins to keep what passes through an engine in memory, until `stop()`, so that `write(to:)` can write down what
    /// happened before a failure.
    /// - Parameter engine: whose sockets are recorded, those that are open already included.
    /// - Parameter span: how far back it reaches at most.
    /// - Parameter bytes: about the memory that it takes at most; where more passes it reaches less far back.
    /// - Parameter options: how much is kept of each packet, and how often the state is noted.
    /// - Throws: `badParameter` if the time or the memory is not more than zero; `system` if there is no thread.
    public convenience init(
        _ engine: SocketEngine, keeping span: Duration, bytes: Int = 64 << 20, _ options: Options = Options()
    ) throws(SocketError) {
        guard span > .zero, bytes > 0 else {
            throw SocketError(
                .badParameter, operation: "record", detail: "\(span) in \(bytes) bytes; both must be more than zero")
        }
        self.init(engine, options, RecordedMemory(span: span, limit: bytes))
        try start("flight recorder") { $0.keep() }
    }

    /// Begins to record an engine, or without one the snapshots that the caller gives, or the packets of a capture.
    package convenience init(
        recording engine: SocketEngine?, to path: String, _ options: Options, of capture: RecordedCapture? = nil
    ) throws(SocketError) {
        if let limit = options.limit, limit < 1 << 16 || path == "-" {
            throw SocketError(
                .badParameter, operation: "record",
                detail: path == "-"
                    ? "standard output has no limit" : "a limit of \(limit) bytes; at least 64K is needed")
        }
        let file = try RecordingFile(path, limit: options.limit, replaces: options.replaces)
        self.init(engine, options, nil, of: capture)
        do throws(SocketError) {
            try start("recorder") { $0.run(file) }
        } catch {
            file.close()
            throw error
        }
    }

    private init(
        _ engine: SocketEngine?, _ options: Options, _ memory: RecordedMemory?, of capture: RecordedCapture? = nil
    ) {
        (self.engine, self.options, self.capture) = (engine, options, capture)
        self.memory = Lock(memory)
        let bell = bell
        tape = RecordingTape(keepsBytes: options.snapLength != 0) { bell.signal() }
        let clock = SystemClock()
        zero = clock.wallNanoseconds - clock.now.nanoseconds
    }

    private func start(_ name: String, _ body: @escaping @Sendable (SocketRecorder) -> Void) throws(SocketError) {
        engine?.record(on: tape)
        let status = ReactorThread.start(name: name) { @Sendable [self] in body(self) }
        guard status != 0 else { return }
        engine?.stopRecording(on: tape)
        throw SocketError(
            .system(errno: status), operation: "record", detail: "no thread: \(SocketError.words(status))")
    }

    /// How it is doing now.
    public var status: Status {
        var status = state.withLock { $0 }
        status.dropped &+= tape.lost
        (status.kept, status.keptSince) = memory.withLock { ($0?.weight ?? 0, $0?.earliest) }
        return status
    }

    /// Writes a file of what is kept in memory, complete by itself: it begins with the state of every session. What is kept
    /// stays, so that it can be called again, also after `stop()`. Waits until the file is written, on any thread.
    /// - Parameter path: the file, under the same rules as that of `init(_:to:_:)`; `-` is standard output.
    /// - Throws: `badParameter` with a sentence that names the path, if it cannot be written, or if this recorder writes a
    ///   file by itself.
    public func write(to path: String) throws(SocketError) {
        guard let entries = recollected else {
            throw SocketError(
                .badParameter, operation: "record",
                detail: "\(path): this recorder writes its own file as things happen")
        }
        var file = try RecordingFile(path, limit: nil, replaces: options.replaces)
        defer { file.close() }
        var writer = makeWriter()
        for entry in entries {
            writer.add(entry)
            if writer.pending > blockSize { try file.write(writer.takeParts()) { false } }
        }
        try file.write(writer.takeParts()) { false }
        let total = file.total
        state.withLock { $0.written &+= total }
    }

    /// Ends the recording. Waits until it is written, two seconds at most where nobody takes it. What is kept in memory
    /// stays.
    public func stop() {
        engine?.stopRecording(on: tape)
        isStopping.withLock { $0 = true }
        tape.close(at: SystemClock().now)
        if ended.wait(timeout: .now() + .seconds(2)) == .success { ended.signal() }
    }

    /// Adds a snapshot that was shown, and what was kept of the traffic of its sessions.
    package func note(_ snapshot: EngineSnapshot, _ traffic: [SocketID: TrafficSnapshot]) {
        tape.snapshot(snapshot, traffic)
    }

    /// Adds a packet of a capture.
    package func note(_ packet: CapturedPacket) { tape.packet(packet) }

    /// Adds what the kernel has counted of a capture.
    package func note(_ counts: CaptureCounts) {
        tape.counts(counts, nanoseconds: SystemClock().wallNanoseconds)
    }

    /// Adds what another program told of its sockets.
    package func note(_ entries: [RecordedEntry]) {
        for entry in entries { tape.add(entry) }
    }

    // MARK: The thread

    /// Blocks are written when there are so many bytes of them; by no more than that the limit is exceeded.
    private var blockSize: Int { min(1 << 20, (options.limit ?? .max) / 8) }
    /// From the first entry on, others are waited for so long: one wake-up for all of them.
    private static let gathering = DispatchTimeInterval.milliseconds(4)

    /// What the thread that writes a file works on.
    private struct Work {
        var writer: RecordingWriter
        var file: RecordingFile
        /// Those of an earlier turn, and the first that is not in a block yet.
        var entries: [RecordedEntry] = []
        var next = 0
        /// Reads and writes of blocks that are not in the file yet.
        var unwritten: UInt64 = 0
        var snapshots = Snapshots()
    }

    /// The next event to ask for, and when.
    private struct Snapshots {
        var events: UInt64 = 0
        var due = ContinuousClock.now
    }

    private func makeWriter() -> RecordingWriter {
        // The next file must not be full of what it repeats.
        RecordingWriter(
            application: "socktui", zero: zero, snap: options.snapLength ?? .max,
            repeats: min(1 << 20, (options.limit ?? .max) / 8), of: capture)
    }

    /// Waits for entries, until a deadline at most.
    private func wait() {
        if bell.wait(timeout: .now() + .milliseconds(200)) == .success {
            _ = bell.wait(timeout: .now() + Self.gathering)
        }
    }

    private func run(_ opened: RecordingFile) {
        var work = Work(writer: makeWriter(), file: opened)
        do throws(SocketError) {
            while true {
                wait()
                var isClosed = false
                (work.entries, isClosed) = tape.take()
                work.next = 0
                note(work.entries, in: &work.snapshots)
                try write(&work)
                tape.reuse(&work.entries)
                if isClosed { break }
                askForSnapshot(&work.snapshots)
            }
        } catch {
            breakOff(work, error.detail)
        }
        work.file.close()
        end()
    }

    /// Keeps what comes in memory.
    private func keep() {
        var snapshots = Snapshots()
        while true {
            wait()
            let (entries, isClosed) = takeIntoMemory()
            note(entries, in: &snapshots)
            if isClosed { break }
            askForSnapshot(&snapshots)
        }
        end()
    }

    /// In one step, so that no other thread adds what came later first.
    private func takeIntoMemory() -> (entries: [RecordedEntry], isClosed: Bool) {
        memory.withLock { memory in
            let (entries, isClosed) = tape.take()
            for entry in entries { memory?.add(entry) }
            let lost = entries.reduce(UInt64(0)) { $0 &+ $1.missing }
            state.withLock { $0.dropped &+= lost }
            return (entries, isClosed)
        }
    }

    /// All that is kept now; `nil`: a file is written.
    private var recollected: [RecordedEntry]? {
        guard memory.withLock({ $0 != nil }) else { return nil }
        _ = takeIntoMemory()
        return memory.withLock { $0 }?.recording
    }

    private func end() {
        state.withLock { $0.hasEnded = true }
        ended.signal()
    }

    private func write(_ work: inout Work) throws(SocketError) {
        while work.next < work.entries.count {
            work.writer.add(work.entries[work.next])
            work.unwritten += work.entries[work.next].isOperation ? 1 : 0
            work.next += 1
            if work.writer.pending > blockSize { try flush(&work) }
        }
        try flush(&work)
    }

    private func note(_ entries: [RecordedEntry], in snapshots: inout Snapshots) {
        for case .snapshot(let snapshot, _) in entries.lazy.map(\.content) {
            snapshots.events = max(snapshots.events, snapshot.nextEvent)
        }
    }

    private func askForSnapshot(_ snapshots: inout Snapshots) {
        guard let engine, let interval = options.interval, .now >= snapshots.due else { return }
        snapshots.due = .now + interval
        engine.requestSnapshot(SnapshotRequest(eventsFrom: snapshots.events)) { [tape] in tape.snapshot($0, [:]) }
    }

    private func flush(_ work: inout Work) throws(SocketError) {
        try work.file.write(work.writer.takeParts()) { isStopping.withLock { $0 } }
        work.unwritten = 0
        let (written, dropped) = (work.file.total, work.writer.dropped)
        state.withLock { ($0.written, $0.dropped) = (written, dropped) }
        guard work.file.isFull else { return }
        try work.file.rotate()
        work.writer.begin()
    }

    /// Ends the recording for want of room; what was still to be written is missing.
    private func breakOff(_ work: Work, _ why: String) {
        engine?.stopRecording(on: tape)
        tape.close(at: SystemClock().now)
        let rest = Array(work.entries[work.next...]) + tape.take().entries
        let missing = rest.reduce(work.writer.dropped &+ work.unwritten) { $0 &+ $1.operations }
        state.withLock { ($0.problem, $0.dropped) = ("the recording ended: \(why)", missing) }
    }
}

extension SocketEngine {
    /// Begins to tell a recording what passes.
    func record(on tape: RecordingTape) { enter { $0.record(on: tape) } }

    /// Ends it.
    func stopRecording(on tape: RecordingTape) { enter { $0.stopRecording(on: tape) } }
}
