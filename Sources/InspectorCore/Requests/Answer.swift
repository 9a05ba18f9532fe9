import SocketCore

/// What a request brings at once: what all sources show, and the news of what else runs. What is `nil` is not new.
package struct Answer: Sendable {
    package var snapshot: EngineSnapshot?
    /// The attached programs.
    package var programs: ProgramNews?
    /// The program that runs through the relay. Its exit comes after the end of its relays, in the snapshot.
    package var child: ChildNews?
    /// The recording of this run, or `nil` if nothing is recorded.
    package var recording: RecordingState?

    package init(
        _ snapshot: EngineSnapshot? = nil, programs: ProgramNews? = nil, child: ChildNews? = nil,
        recording: RecordingState? = nil
    ) {
        (self.snapshot, self.programs, self.child, self.recording) = (snapshot, programs, child, recording)
    }
}
