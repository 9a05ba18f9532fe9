/// The state of this run's recording.
package struct RecordingState: Equatable, Sendable {
    /// The file's path.
    package var path: String
    /// The number of bytes written.
    package var written: UInt64
    /// The number of reads and writes missing from the file. `unit` can name something else than reads and writes.
    package var dropped: UInt64
    package var unit = "reads and writes"
    /// The number of events missing from the file.
    package var droppedEvents: UInt64 = 0
    /// The reason why it ended before it was stopped, in one sentence, or `nil` if it has not.
    package var problem: String?

    package init(path: String, written: UInt64 = 0, dropped: UInt64 = 0, problem: String? = nil) {
        (self.path, self.written, self.dropped, self.problem) = (path, written, dropped, problem)
    }

    /// The text in the header: `REC 12M`.
    package var chip: String {
        "REC \(Format.size(written))" + (lost > 0 ? ", \(lost) lost" : "")
    }

    /// The text shown when it was stopped on request.
    package var farewell: String {
        "recorded \(Format.size(written)) to \(path)"
            + (missing.map { "; \($0) are missing from it" } ?? "")
    }

    private var lost: UInt64 { dropped &+ droppedEvents }

    /// What is missing from the file, or `nil` if it is complete.
    package var missing: String? {
        let counts = [(dropped, unit), (droppedEvents, "events")].filter { $0.0 > 0 }
        return counts.isEmpty ? nil : counts.map { "\($0) \($1)" }.joined(separator: " and ")
    }
}
