import SocketCore

/// Why the connection to a host ended, as far as the program that made it tells.
package struct HostEnding: Sendable {
    /// The exit status of that program, or `nil` if it has none.
    package var status: Int32?
    /// Whether the agent had begun.
    package var hasBegun: Bool
    /// The last line that the program wrote to standard error. Not sanitized.
    package var said: String?
    package var place: HostPlace

    package init(status: Int32?, hasBegun: Bool, said: String?, place: HostPlace) {
        (self.status, self.hasBegun, self.said, self.place) = (status, hasBegun, said, place)
    }

    /// One sentence, without the host's name. Not sanitized.
    package var sentence: String {
        let told = said.map { ": \($0)" } ?? ""
        if hasBegun { return "the connection was lost, or its agent was killed\(told)" }
        let isSSH = place.through == nil && !place.isHere
        switch status {
        case 255? where isSSH: return "not connected\(told) (run \"ssh \(place.name)\" once in another terminal)"
        case 127?:
            return isSSH
                ? "socktui is not in the PATH there; write "
                    + "--through '\(place.name)=ssh \(place.name) /PATH/TO/socktui agent'"
                : "a command was not found\(told)"
        case 126?: return "a command cannot be executed\(told)"
        case let status?: return "its agent did not begin, status \(status)\(told)"
        case nil: return "its agent did not begin\(told)"
        }
    }
}
