import Dispatch
import SocketCore

/// Writes what passes through an engine into a pcapng file, which Wireshark reads and socktui opens.
///
/// It has a thread of its own and never holds up the engine: what it cannot write in time is counted, in the file too.
/// Each TCP segment in the file is one read or write; headers are synthetic. What passes under TLS is written as
/// plaintext, so that a recording is as confidential as what passed.
public final class SocketRecorder: Sendable {
    /// How to record.
    public struct Options: Hashable, Sendable {
        /// The most bytes that the file and its predecessor (FILE.1) take together, or `nil` for no limit.
        public var limit: Int?
        /// Payload that is kept of each packet, or `nil` for all; 0 keeps none.
        public var snapLength: Int?
        /// Whether a file that exists is replaced.
        public var replaces = false
        /// How often the state of every session is written, or `nil` to leave that to the caller.
        public var interval: Duration? = .seconds(1)

        /// All that passes, without a limit.
        public init() {}
    }

    /// How it is doing.
    public struct Status: Hashable, Sendable {
        /// Bytes written.
        public var written: UInt64 = 0
        /// Reads and writes that are missing from the file.
        public var dropped: UInt64 = 0
        /// Why it ended by itself, as a sentence, or `nil` if it did not.
        public var problem: String?
        /// Whether everything that it will write has been written.
        public var hasEnded = false
    }

    private let engine: SocketEngine?
    private let tape = RecordingTape()
    private let state = Lock(Status())
    private let isStopping = Lock(false)
    private let ended = DispatchSemaphore(value: 0)
    private let options: Options

    /// Begins to record an engine, until `stop()`.
    /// - Parameter engine: whose sockets are recorded, those that are open already included.
    /// - Parameter options: how much is kept.
    /// - Parameter path: the file, which gets mode 0600 and is not made through a symbolic link, or `-` for standard output.
    /// - Throws: `badParameter` with a sentence that names the path, if it cannot be written.
    public convenience init(_ engine: SocketEngine, to path: String, _ options: Options = Options()) throws(SocketError)
    {
        try self.init(recording: engine, to: path, options)
    }

    /// Begins to record an engine, or without one the snapshots that the caller gives, or the packets of a capture.
    package init(
        recording engine: SocketEngine?, to path: String, _ options: Options, of capture: RecordedCapture? = nil
    ) throws(SocketError) {
        if let limit = options.limit, limit < 1 << 16 || path == "-" {
            throw SocketError(
                .badParameter, operation: "record",
                detail: path == "-"
                    ? "standard output has no limit" : "a limit of \(limit) bytes; at least 64K is needed")
        }
        (self.engine, self.options) = (engine, options)
        let file = try RecordingFile(path, limit: options.limit, replaces: options.replaces)
        let clock = SystemClock()
        let zero = clock.wallNanoseconds - clock.now.nanoseconds
        engine?.record(on: tape)
        let status = ReactorThread.start(name: "recorder") { @Sendable [self] in
            run(
                RecordingWriter(
                    application: "socktui", zero: zero, snap: options.snapLength ?? .max, of: capture), file)
        }
        guard status == 0 else {
            engine?.record(on: nil)
            file.close()
            throw SocketError(
                .system(errno: status), operation: "record", detail: "no thread: \(SocketError.words(status))")
        }
    }

    /// How it is doing now.
    public var status: Status {
        var status = state.withLock { $0 }
        status.dropped &+= tape.lost
        return status
    }

    /// Ends the recording. Waits until it is written, two seconds at most where nobody takes it.
    public func stop() {
        engine?.record(on: nil)
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

    // MARK: The thread

    /// What the thread works on.
    private struct Work {
        var writer: RecordingWriter
        var file: RecordingFile
        var entries: ArraySlice<RecordedEntry> = []
        /// Reads and writes of blocks that are not in the file yet.
        var unwritten: UInt64 = 0
        /// The next event to ask for, and when.
        var events: UInt64 = 0
        var due = ContinuousClock.now
    }

    private func run(_ writer: RecordingWriter, _ opened: RecordingFile) {
        var work = Work(writer: writer, file: opened)
        do throws(SocketError) {
            while true {
                let (entries, isClosed) = tape.take(until: .now() + .milliseconds(200))
                work.entries = entries[...]
                try write(&work)
                if isClosed { break }
                askForSnapshot(&work)
            }
        } catch {
            breakOff(work, error.detail)
        }
        work.file.close()
        state.withLock { $0.hasEnded = true }
        ended.signal()
    }

    private func write(_ work: inout Work) throws(SocketError) {
        while let entry = work.entries.popFirst() {
            if case .snapshot(let snapshot, _) = entry.content { work.events = max(work.events, snapshot.nextEvent) }
            work.writer.add(entry)
            if entry.isOperation { work.unwritten += 1 }
            if work.writer.pending > 1 << 18 { try flush(&work) }
        }
        try flush(&work)
    }

    private func askForSnapshot(_ work: inout Work) {
        guard let engine, let interval = options.interval, .now >= work.due else { return }
        work.due = .now + interval
        engine.requestSnapshot(SnapshotRequest(eventsFrom: work.events)) { [tape] in tape.snapshot($0, [:]) }
    }

    private func flush(_ work: inout Work) throws(SocketError) {
        try work.file.write(work.writer.take()) { isStopping.withLock { $0 } }
        work.unwritten = 0
        let (written, dropped) = (work.file.total, work.writer.dropped)
        state.withLock { ($0.written, $0.dropped) = (written, dropped) }
        guard work.file.isFull else { return }
        try work.file.rotate()
        work.writer.begin()
    }

    /// Ends the recording for want of room; what was still to be written is missing.
    private func breakOff(_ work: Work, _ why: String) {
        engine?.record(on: nil)
        tape.close(at: SystemClock().now)
        let rest = Array(work.entries) + tape.take(until: .now()).entries
        let missing = rest.reduce(work.writer.dropped &+ work.unwritten) { $0 &+ $1.operations }
        state.withLock { ($0.problem, $0.dropped) = ("the recording ended: \(why)", missing) }
    }
}

extension SocketEngine {
    /// Begins to tell a recording what passes, or ends it.
    func record(on tape: RecordingTape?) { enter { $0.tape = tape } }
}
