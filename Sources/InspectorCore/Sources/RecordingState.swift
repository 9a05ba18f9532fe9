/// The state of this run's recording.
package struct RecordingState: Equatable, Sendable {
    /// The file's path.
    package var path: String
    /// The number of bytes written.
    package var written: UInt64
    /// The number of reads and writes missing from the file. `unit` can name something else than reads and writes.
    package var dropped: UInt64
    package var unit = "reads and writes"
    /// The reason why it ended before it was stopped, in one sentence, or `nil` if it has not.
    package var problem: String?

    package init(path: String, written: UInt64 = 0, dropped: UInt64 = 0, problem: String? = nil) {
        (self.path, self.written, self.dropped, self.problem) = (path, written, dropped, problem)
    }

    /// The text in the header: `REC 12M`.
    package var chip: String {
        "REC \(Format.size(written))" + (dropped > 0 ? ", \(dropped) lost" : "")
    }

    /// The text shown when it was stopped on request.
    package var farewell: String {
        "recorded \(Format.size(written)) to \(path)"
            + (dropped > 0 ? "; \(dropped) \(unit) are missing from it" : "")
    }
}
