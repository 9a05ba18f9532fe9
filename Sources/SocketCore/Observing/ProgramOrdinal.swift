// A viewer of several programs keeps the program's ordinal in the upper 16 bits of a session's identifier, with 0 for
// the first. An engine counts its sessions from 1 and never gets that far.

extension SocketID {
    /// Creates the identifier of the session that the inspected program with this ordinal calls `number`.
    package init(_ number: UInt64, of ordinal: Int) {
        self.init(number & Self.ownMask | UInt64(truncatingIfNeeded: ordinal) << 48)
    }

    private static let ownMask: UInt64 = 1 << 48 - 1

    /// The ordinal of the session's program, 0 for the first.
    package var ordinal: Int { Int(number >> 48) }
    /// The session's identifier in its own program.
    package var own: SocketID { SocketID(number & Self.ownMask) }
    /// `7`, or `2.7` for session 7 of the second program.
    package var label: String { ordinal == 0 ? String(number) : "\(ordinal + 1).\(own.number)" }
}

extension SocketSnapshot {
    /// Puts the program's ordinal into every identifier.
    package mutating func belongs(to ordinal: Int) {
        guard ordinal > 0 else { return }
        id = SocketID(id.number, of: ordinal)
        parent = parent.map { SocketID($0.number, of: ordinal) }
        linked = linked.map { SocketID($0.number, of: ordinal) }
    }
}

extension SocketCommand {
    /// The same command with its program's own identifiers.
    package var own: SocketCommand { SocketCommand(socket.own, action) }
}
