import Dispatch
import InspectorCore
import SocketKit

extension SourceList {
    /// Closes the program's own sockets, each once.
    package struct Closing {
        private var asked: Set<SocketID> = []

        package init() {}

        /// Closes those that were not closed yet. Returns how many of this snapshot are still open.
        package mutating func step(_ snapshot: EngineSnapshot, _ sources: SourceList) -> Int {
            guard let ordinal = sources.present?.ordinal else { return 0 }
            let open = snapshot.sockets.filter { $0.id.ordinal == ordinal && $0.phase != .closed }
            for socket in open where asked.insert(socket.id).inserted {
                sources.perform(SocketCommand(socket.id, .close(.now)))
            }
            return open.count
        }
    }

    /// Makes room for the endings of the program's own sockets, which may all come at once.
    package func makeRoomForEndings() { (present?.source as? EngineSource)?.makeRoomForEndings() }

    /// Stops what brings more to show: listeners and a capture. What a capture has received is in the next snapshot.
    package func stopAccepting() {
        present?.source.close()
        capture?.close()
    }

    /// Records the endings of the program's own sockets, which it closes, and ends the recording. Removes what other
    /// programs could see, such as socket files.
    package func close() {
        let recording = recording.withLock { $0 }
        if let recording, !recording.recorder.status.hasEnded { recordEnd() }
        for entry in entries { entry.source.close() }
        (present?.source as? EngineSource)?.engine.stopInspections()
        recording?.end()
    }

    /// How long the program's own sockets have to close.
    private static let patience = Duration.milliseconds(500)

    /// The recorder gets every snapshot that is taken.
    private func recordEnd() {
        stopAccepting()
        var closing = Closing()
        let end = ContinuousClock.now + Self.patience
        while let snapshot = takeState(eventsFrom: 0), closing.step(snapshot, self) > 0, .now < end {}
    }

    /// Takes the present state, which may be later than the last one shown, and, unless `eventsFrom` is `nil`, the
    /// events that were not taken yet. Waits at most a second.
    @discardableResult
    func takeState(eventsFrom: UInt64?) -> EngineSnapshot? {
        let taken = Lock<EngineSnapshot?>(nil)
        let isAnswered = DispatchSemaphore(value: 0)
        var request = SnapshotRequest(kernel: .all, eventsFrom: eventsFrom)
        request.jump = jump
        requestSnapshot(request) { snapshot in
            taken.withLock { $0 = snapshot }
            isAnswered.signal()
        }
        _ = isAnswered.wait(timeout: .now() + .seconds(1))
        return taken.withLock { $0 }
    }
}
