/// A request to the shell for dissecting packets.
package enum DissectionRequest: Equatable, Sendable {
    /// Start a dissector. `rules` assign protocols to traffic.
    case begin(run: Int, rules: [String])
    /// Append these bytes to its capture file.
    case packets(run: Int, [UInt8])
    /// End the file.
    case finish(run: Int)
    /// Dissect these frames in full.
    case tree(run: Int, item: UInt64, frames: [Int])
    /// Stop all dissectors.
    case stop
}

/// The output of a dissector. All of its text is foreign.
package enum DissectionNews: Equatable, Sendable {
    /// Lines with a frame's number, protocol and description, separated by tabs. `cut` is the number of shortened
    /// lines.
    case lines(run: Int, [String], cut: Int)
    /// One item in full. `more` is the number of lines left out.
    case tree(run: Int, item: UInt64, [String], more: Int)
    /// It has ended. The value is the reason, or `nil` if it has processed all of its input.
    case ended(run: Int, String?)

    package var run: Int {
        switch self {
        case .lines(let run, _, _), .tree(let run, _, _, _), .ended(let run, _): run
        }
    }
}
