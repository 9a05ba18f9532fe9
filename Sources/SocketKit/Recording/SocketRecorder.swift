import Dispatch
import SocketCore
import SocketRecords

/// Records the traffic of an engine in a pcapng file, which Wireshark reads and socktui opens.
///
/// `init(_:to:_:)` writes a file while things happen. `init(_:keeping:bytes:_:)` keeps the last seconds in memory and
/// writes a file on request. Either has a thread of its own and never holds up the engine: what it cannot take in time
/// is counted, in the file too. Each TCP segment in the file is one read or write, with synthetic headers. Traffic
/// under TLS is written as plaintext, so a recording is as confidential as the traffic.
///
/// An engine can have several recorders at once. One that is released without `stop()` keeps recording.
public final class SocketRecorder: Sendable {
    /// The options of a recording.
    public struct Options: Hashable, Sendable {
        /// The most bytes that the file and its predecessor (FILE.1) take together, or `nil` for no limit. Has no
        /// effect on a recording in memory.
        public var limit: Int?
        /// The payload bytes that are kept of each packet, or `nil` for all. 0 keeps none.
        public var snapLength: Int?
        /// Whether an existing file is replaced.
        public var replaces = false
        /// How often the state of every session is recorded, or `nil` to leave that to the caller. Each time takes
        /// about a kibibyte for each session.
        public var interval: Duration? = .seconds(1)

        /// Records all traffic, without a limit.
        public init() {}
    }

    /// The status of a recorder.
    public struct Status: Hashable, Sendable {
        /// The number of bytes written.
        public var written: UInt64 = 0
        /// Reads and writes that were not recorded because they came faster than they were taken.
        public var dropped: UInt64 = 0
        /// Events that were not recorded because they came faster than they were taken.
        public var droppedEvents: UInt64 = 0
        /// The approximate number of bytes kept in memory.
        public var kept = 0
        /// When the recording in memory begins, or `nil` if nothing is kept.
        public var keptSince: MonotonicTime?
        /// Why the recording ended without `stop()`, as a sentence, or `nil` if it did not.
        public var problem: String?
        /// Whether everything that the recorder will write has been written.
        public var hasEnded = false
    }

    private let engine: SocketEngine?
    let tape: RecordingTape
    private let bell = DispatchSemaphore(value: 0)
    private let state = Lock(Status())
    private let isStopping = Lock(false)
    private let ended = DispatchSemaphore(value: 0)
    private let options: Options
    /// The capture that is recorded, or `nil` if an engine is.
    private let capture: RecordedCapture?
    /// The recording in memory, or `nil` if a file is written.
    private let memory: Lock<RecordedMemory?>
    /// Nanoseconds since 1970 at the zero of the engine's clock.
    private let zero: Int64

    /// Starts recording an engine in a file, until `stop()`.
    /// - Parameter engine: the engine whose sockets are recorded, including those that are already open.
    /// - Parameter options: how much is kept.
    /// - Parameter path: the file, which gets mode 0600 and is not opened through a symbolic link, or `-` for standard
    ///   output.
    /// - Throws: `badParameter` with a sentence that names the path, if it cannot be written.
    public convenience init(_ engine: SocketEngine, to path: String, _ options: Options = Options()) throws(SocketError)
    {
        try self.init(recording: engine, to: path, options)
    }

    /// Starts keeping an engine's traffic in memory, until `stop()`, so that `write(to:)` can write what happened
    /// before a failure.
    /// - Parameter engine: the engine whose sockets are recorded, including those that are already open.
    /// - Parameter span: how far back the recording reaches at most.
    /// - Parameter bytes: about the most memory that the recording takes. With more traffic it reaches less far back.
    /// - Parameter options: how much is kept of each packet, and how often the state is recorded.
    /// - Throws: `badParameter` if the time or the memory is not more than zero; `system` if no thread can be started.
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

    /// Starts recording an engine. Without one, records the snapshots that the caller adds, or the packets of a
    /// capture.
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
            .system(errno: status), operation: "record", detail: "cannot start a thread: \(SocketError.words(status))")
    }

    /// The current status.
    public var status: Status {
        var status = state.withLock { $0 }
        status.dropped &+= tape.lost
        status.droppedEvents = tape.lostEvents
        (status.kept, status.keptSince) = memory.withLock { ($0?.weight ?? 0, $0?.earliest) }
        return status
    }

    /// Writes the recording in memory to a file, which is complete: it starts with the state of every session. The
    /// recording stays in memory, so this can be called again, also after `stop()`. Waits until the file is written.
    /// May be called on any thread.
    /// - Parameter path: the file, with the same rules as in `init(_:to:_:)`; `-` is standard output.
    /// - Throws: `badParameter` with a sentence that names the path, if it cannot be written, or if this recorder
    ///   writes its own file.
    public func write(to path: String) throws(SocketError) {
        guard let entries = recollected else {
            throw SocketError(
                .badParameter, operation: "record",
                detail: "\(path): this recorder already writes to a file of its own")
        }
        var file = try RecordingFile(path, limit: nil, replaces: options.replaces)
        defer { file.close() }
        var writer = makeWriter()
        for entry in entries {
            writer.add(entry)
            if writer.pending > blockSize { try file.write(writer.takeParts()) { false } }
        }
        writer.finish()
        try file.write(writer.takeParts()) { false }
        let total = file.total
        state.withLock { $0.written &+= total }
    }

    /// Ends the recording. Waits until it is written, but at most two seconds if nothing reads the output. A recording
    /// in memory is kept.
    public func stop() {
        engine?.stopRecording(on: tape)
        isStopping.withLock { $0 = true }
        tape.close(at: SystemClock().now)
        if ended.wait(timeout: .now() + .seconds(2)) == .success { ended.signal() }
    }

    /// Adds a snapshot that was shown, and the traffic kept for its sessions.
    package func note(_ snapshot: EngineSnapshot, _ traffic: [SocketID: TrafficSnapshot]) {
        tape.snapshot(snapshot, traffic)
    }

    /// Adds a packet of a capture.
    package func note(_ packet: CapturedPacket) { tape.packet(packet) }

    /// Adds the kernel's counts of a capture.
    package func note(_ counts: CaptureCounts) {
        tape.counts(counts, nanoseconds: SystemClock().wallNanoseconds)
    }

    /// Adds what another program reported about its sockets.
    package func note(_ entries: [RecordedEntry]) {
        for entry in entries { tape.add(entry) }
    }

    // MARK: The thread

    /// The number of pending bytes at which blocks are written. The limit is exceeded by no more than that.
    private var blockSize: Int { min(1 << 20, (options.limit ?? .max) / 8) }
    /// How long to wait for more entries after the first one, so that all of them take one wake-up.
    private static let gathering = DispatchTimeInterval.milliseconds(4)

    /// The state of the thread that writes a file.
    private struct Work {
        var writer: RecordingWriter
        var file: RecordingFile
        /// The entries to write, and the first that is not in a block yet.
        var entries: [RecordedEntry] = []
        var next = 0
        /// Reads and writes in blocks that are not in the file yet.
        var unwritten: UInt64 = 0
        var snapshots = Snapshots()
    }

    /// The next event to request, and when to request it.
    private struct Snapshots {
        var events: UInt64 = 0
        var due = ContinuousClock.now
    }

    private func makeWriter() -> RecordingWriter {
        // What the next file repeats must not fill it.
        RecordingWriter(
            application: "socktui", zero: zero, snap: options.snapLength ?? .max,
            repeats: min(1 << 20, (options.limit ?? .max) / 8), of: capture)
    }

    /// Waits for entries, 200 ms at most.
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
                work.next = 0
                if isClosed { break }
                askForSnapshot(&work.snapshots)
            }
            work.writer.finish()
            try flush(&work)
            try work.file.checkPlace()
        } catch {
            breakOff(work, error.detail)
        }
        work.file.close()
        end()
    }

    /// Keeps new entries in memory.
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

    /// Takes and keeps entries in one step, so that no other thread adds later ones first.
    private func takeIntoMemory() -> (entries: [RecordedEntry], isClosed: Bool) {
        memory.withLock { memory in
            let (entries, isClosed) = tape.take()
            for entry in entries { memory?.add(entry) }
            let lost = entries.reduce(UInt64(0)) { $0 &+ $1.missing }
            state.withLock { $0.dropped &+= lost }
            return (entries, isClosed)
        }
    }

    /// Everything that is kept in memory now, or `nil` if a file is written.
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

    /// Ends the recording because the file cannot be written. What was not written yet is counted as dropped.
    private func breakOff(_ work: Work, _ why: String) {
        engine?.stopRecording(on: tape)
        tape.close(at: SystemClock().now)
        let rest = Array(work.entries[work.next...]) + tape.take().entries
        let missing = rest.reduce(work.writer.dropped &+ work.unwritten) { $0 &+ $1.operations }
        state.withLock { ($0.problem, $0.dropped) = ("the recording ended: \(why)", missing) }
    }
}

extension SocketEngine {
    func record(on tape: RecordingTape) { enter { $0.record(on: tape) } }

    func stopRecording(on tape: RecordingTape) { enter { $0.stopRecording(on: tape) } }
}
