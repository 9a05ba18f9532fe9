/// How the recording of this run is doing.
package struct RecordingState: Hashable, Sendable {
    /// The file.
    package var path: String
    /// Bytes written.
    package var written: UInt64
    /// Reads and writes, or what else `unit` calls them, that are missing from the file.
    package var dropped: UInt64
    package var unit = "reads and writes"
    /// Why it ended before anybody ended it, in one sentence; `nil` while it goes on.
    package var problem: String?

    package init(path: String, written: UInt64 = 0, dropped: UInt64 = 0, problem: String? = nil) {
        (self.path, self.written, self.dropped, self.problem) = (path, written, dropped, problem)
    }

    /// For the header: `REC 12M`.
    var chip: String {
        "REC \(Format.size(written))" + (dropped > 0 ? ", \(dropped) lost" : "")
    }

    /// What there is to say when it ends as it was asked to.
    package var farewell: String {
        "recorded \(Format.size(written)) to \(path)"
            + (dropped > 0 ? "; \(dropped) \(unit) are missing from it" : "")
    }
}

extension Model {
    /// Takes in how the recording is doing; `nil`: nothing is recorded.
    mutating func take(_ recording: RecordingState?) {
        if let problem = recording?.problem {
            if shared.recording != nil { notice = error(problem) }
            shared.recording = nil
        } else {
            shared.recording = recording
        }
    }
}
