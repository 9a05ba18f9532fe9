import Dispatch
import InspectorCore
import SocketKit

extension SourceList {
    /// A recording of a run, until it is ended.
    final class Recording: Sendable {
        let path: String
        let recorder: SocketRecorder
        /// Bytes that had passed through each session at the last snapshot.
        fileprivate let passed = Lock<[SocketID: UInt64]>([:])
        /// Snapshots that wait for the traffic of their sessions.
        fileprivate let underWay = DispatchGroup()

        fileprivate init(_ path: String, _ recorder: SocketRecorder) { (self.path, self.recorder) = (path, recorder) }

        /// Waits until it is written. What was shown last may still wait for its traffic.
        func end() {
            _ = underWay.wait(timeout: .now() + .seconds(2))
            recorder.stop()
        }

        fileprivate var state: RecordingState {
            let status = recorder.status
            return RecordingState(
                path: path, written: status.written, dropped: status.dropped, problem: status.problem)
        }
    }

    /// Begins to record every snapshot of all sources, and what passes through the program's own engine.
    func startRecording(_ request: RecordingRequest, ofOwnEngine: Bool) throws(SocketError) {
        var options = request.options
        options.interval = nil
        let engine = ofOwnEngine ? (own.source as? EngineSource)?.engine : nil
        let recorder = try SocketRecorder(recording: engine, to: request.path, options)
        recording.withLock { $0 = Recording(request.path, recorder) }
        recordAttached(by: recorder)
    }

    /// Records what passes through the programs that are attached to, as far as they let it be seen.
    func recordAttached(_ only: AttachedSource? = nil, by recorder: SocketRecorder?) {
        for (program, ordinal) in attachedPrograms where only == nil || program === only {
            guard let recorder else {
                program.record(nil)
                continue
            }
            program.record { records in
                let now = SystemClock().now
                recorder.note(
                    records.compactMap { $0.entry(as: SocketID($0.session.number, of: ordinal), now: now) })
            }
        }
    }

    /// Begins to record in a file that is not there yet, while the run goes on.
    func startRecording(_ path: String) throws(SocketError) {
        if let current = recording.withLock({ $0 }), !current.recorder.status.hasEnded {
            throw SocketError(
                .badParameter, operation: "record", detail: "\(current.path) is being written; :record off ends it")
        }
        var request = RecordingRequest()
        request.path = ReadFile.expanded(path)
        try startRecording(request, ofOwnEngine: usesOwnEngine)
    }

    /// Ends the recording; `nil`: there is none.
    func stopRecording() -> RecordingState? {
        guard let current = recording.withLock({ $0 }), !current.recorder.status.hasEnded else { return nil }
        // An attached program tells each event once, to the screen.
        if hasOwnOnly { recordLastState() }
        recording.withLock { $0 = nil }
        recordAttached(by: nil)
        current.end()
        return current.state
    }

    /// How the recording is doing; `nil`: nothing is recorded.
    var recordingStatus: SocketRecorder.Status? { recording.withLock { $0 }?.recorder.status }
    var recordingState: RecordingState? { recording.withLock { $0 }?.state }

    /// Records how everything is at the end, which may be later than what was shown last. `takesEvents`: whether nobody else
    /// wants the events since.
    func recordLastState(takesEvents: Bool = false) {
        let isAnswered = DispatchSemaphore(value: 0)
        requestSnapshot(SnapshotRequest(kernel: .all, eventsFrom: takesEvents ? 0 : nil)) { _ in isAnswered.signal() }
        _ = isAnswered.wait(timeout: .now() + .seconds(1))
    }

    /// Records a snapshot that was shown.
    func note(_ snapshot: EngineSnapshot, on recording: Recording) {
        let changed = recording.passed.withLock { passed in
            let former = passed
            passed = Dictionary(snapshot.sockets.map { ($0.id, $0.sent &+ $0.received) }) { first, _ in first }
            return snapshot.sockets.map(\.id).filter { former[$0] != passed[$0] }
        }
        recording.underWay.enter()
        requestTraffic(of: changed) { @Sendable traffic in
            defer { recording.underWay.leave() }
            var traffic = traffic
            if let id = snapshot.trafficOf, let shown = snapshot.traffic { traffic[id] = shown }
            recording.recorder.note(snapshot, traffic)
        }
    }
}
