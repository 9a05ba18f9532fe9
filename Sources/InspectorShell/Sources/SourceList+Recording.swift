import Dispatch
import InspectorCore
import SocketKit

extension SourceList {
    package func startCapture() { capture?.start() }

    /// The capture, if there is one.
    package var capture: CaptureSource? { entries.lazy.compactMap { $0.source as? CaptureSource }.first }

    /// A recording of a run, until it is stopped. It stores the packets of a capture, and otherwise every snapshot.
    package final class Recording: Sendable {
        package let path: String
        package let recorder: SocketRecorder
        package let capture: CaptureSource?

        fileprivate init(_ path: String, _ recorder: SocketRecorder, of capture: CaptureSource?) {
            (self.path, self.recorder, self.capture) = (path, recorder, capture)
        }

        /// Waits until the recording is written.
        package func end() {
            capture?.record(on: nil)
            recorder.stop()
        }

        fileprivate var state: RecordingState {
            let status = recorder.status
            var state = RecordingState(
                path: path, written: status.written, dropped: status.dropped, problem: status.problem)
            state.droppedEvents = status.droppedEvents
            if capture != nil { state.unit = "packets" }
            return state
        }
    }

    /// Starts recording every snapshot of all sources, and the traffic of the program's own engine. For a capture it
    /// records the packets, from which everything else follows.
    package func startRecording(_ request: RecordingRequest, ofOwnEngine: Bool) throws(SocketError) {
        var options = request.options
        options.interval = nil
        let capture = capture
        let engine = ofOwnEngine && capture == nil ? (own.source as? EngineSource)?.engine : nil
        let recorder = try SocketRecorder(recording: engine, to: request.path, options, of: capture?.recorded)
        capture?.record(on: recorder)
        recording.withLock { $0 = Recording(request.path, recorder, of: capture) }
        // The file also gets the traffic kept before this.
        trafficVersions.withLock { $0.startOver() }
        if capture == nil { recordAttached(by: recorder) }
    }

    /// Records the traffic of the attached programs, as far as they reveal it.
    package func recordAttached(_ only: AttachedSource? = nil, by recorder: SocketRecorder?) {
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

    /// Starts recording to a new file during the run.
    package func startRecording(_ path: String) throws(SocketError) {
        if let current = recording.withLock({ $0 }), !current.recorder.status.hasEnded {
            throw SocketError(
                .badParameter, operation: "record",
                detail: "\(current.path) is already being written; :record off stops it")
        }
        var request = RecordingRequest()
        request.path = ReadFile.expanded(path)
        try startRecording(request, ofOwnEngine: usesOwnEngine)
    }

    /// Stops the recording. Returns `nil` if there is none.
    package func stopRecording() -> RecordingState? {
        guard let current = recording.withLock({ $0 }), !current.recorder.status.hasEnded else { return nil }
        // An attached program sends each event only once, to the screen.
        if hasOwnOnly { takeState(eventsFrom: nil) }
        recording.withLock { $0 = nil }
        recordAttached(by: nil)
        current.end()
        return current.state
    }

    /// The status of the recording, or `nil` if nothing is recorded.
    package var recordingStatus: SocketRecorder.Status? { recording.withLock { $0 }?.recorder.status }
    package var recordingState: RecordingState? { recording.withLock { $0 }?.state }
}
