import SocketCore

/// One of several hosts that are looked at, as it is now. What its host says is not sanitized.
package struct HostStatus: Equatable, Sendable {
    package enum State: Equatable, Sendable {
        /// It has told nothing yet.
        case connecting
        case live
        /// It has been silent for longer than it should.
        case late
        /// It is not connected, for this reason, as a sentence.
        case lost(String)
    }

    package var name: String
    package var state: State
    /// The time since its last look arrived, in whole seconds, or `nil` before the first.
    package var age: Int?
    /// The time until it is connected again, in whole seconds.
    package var retry: Int?
    package var sockets = 0
    /// How often the connection to it was lost.
    package var losses = 0
    /// How far the clock here is ahead of its clock. Both count from the start of their machine.
    package var distance: Duration?
    /// What it has sent.
    package var bytes: UInt64 = 0
    /// The version of its agent.
    package var version: String?
    /// The last line that ssh, or what was started in its place, wrote to standard error.
    package var said: String?

    package init(name: String, state: State) { (self.name, self.state) = (name, state) }

    /// `live`, `lost`
    package var word: String {
        switch state {
        case .connecting: "connecting"
        case .live: "live"
        case .late: "late"
        case .lost: "lost"
        }
    }

    package var isLost: Bool { reason != nil }

    /// Why it is not connected, and when it will be tried again.
    package var reason: String? {
        guard case .lost(let why) = state else { return nil }
        return why + (retry.map { "; next try in \($0)s" } ?? "")
    }

    /// `web1 live 1s`, with the reason if it is lost.
    package var words: String { shortWords + (reason.map { ": \($0)" } ?? "") }

    /// The same without the reason.
    package var shortWords: String { "\(name) \(word)" + (age.map { " \($0)s" } ?? "") }
}
