import SocketKit

/// What to record of a run.
package struct RecordingRequest: Equatable {
    package var path = ""
    package var options = SocketRecorder.Options()

    package init() {}
}
