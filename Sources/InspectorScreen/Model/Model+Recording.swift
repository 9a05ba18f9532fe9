import InspectorCore

extension Model {
    /// Handles the state of the recording, or `nil` if nothing is recorded.
    mutating func absorb(_ recording: RecordingState?) {
        if let problem = recording?.problem {
            if shared.recording != nil { notice = error(problem) }
            shared.recording = nil
        } else {
            shared.recording = recording
        }
    }
}
