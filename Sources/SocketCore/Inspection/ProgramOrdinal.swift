// A viewer of several programs keeps in the upper 16 bits of a session's name which of them it is of: 0 for the first.
// An engine counts its sessions from 1 and never comes that far.

extension SocketID {
    /// The session that another program, the `ordinal`th that is looked at, calls `number`.
    package init(_ number: UInt64, of ordinal: Int) {
        self.init(number & Self.ownMask | UInt64(truncatingIfNeeded: ordinal) << 48)
    }

    private static let ownMask: UInt64 = 1 << 48 - 1

    /// Which of the programs that are looked at; 0: the first.
    package var ordinal: Int { Int(number >> 48) }
    /// The name that its own program has for it.
    package var own: SocketID { SocketID(number & Self.ownMask) }
    /// `7`, or `2.7` for the seventh of the second program.
    package var label: String { ordinal == 0 ? String(number) : "\(ordinal + 1).\(own.number)" }
}

extension SocketSnapshot {
    /// Puts that program's ordinal into every name.
    package mutating func belongs(to ordinal: Int) {
        guard ordinal > 0 else { return }
        id = SocketID(id.number, of: ordinal)
        parent = parent.map { SocketID($0.number, of: ordinal) }
        linked = linked.map { SocketID($0.number, of: ordinal) }
    }
}

extension SocketCommand {
    /// The same command in the words of the program that it is for.
    package var own: SocketCommand { SocketCommand(socket.own, action) }
}
