// A viewer of several programs keeps the program's ordinal in the upper 16 bits of a session's identifier, with 0 for
// the first. An engine counts its sessions from 1 and never gets that far. A recording of such a viewer keeps it in lower
// bits, because a viewer of several recordings needs the upper ones for the recordings' ordinals.

extension SocketID {
    /// Creates the identifier of the session that the inspected program with this ordinal calls `number`.
    package init(_ number: UInt64, of ordinal: Int) {
        self.init(number & Self.ownMask | UInt64(truncatingIfNeeded: ordinal) << 48)
    }

    private static let ownMask: UInt64 = 1 << 48 - 1

    /// The bits of the number itself in a recording, and the greatest ordinal there.
    private static let recordedBits: UInt64 = 36
    private static let lastRecorded: UInt64 = 1 << 12 - 1

    /// The ordinal of the session's program, 0 for the first.
    package var ordinal: Int { Int(number >> 48) }
    /// The session's identifier in its own program.
    package var own: SocketID { SocketID(number & Self.ownMask) }

    /// The identifier that stands for it in a recording.
    package var recorded: SocketID {
        guard ordinal > 0 else { return self }
        let number = own.number & (1 << Self.recordedBits - 1)
        return SocketID(min(UInt64(ordinal), Self.lastRecorded) << Self.recordedBits | number)
    }

    /// `7`, `2.7` for session 7 of the second program, or `2/7` where the second program is one of a recording.
    package var label: String {
        let (program, number) = (own.number >> Self.recordedBits, own.number & (1 << Self.recordedBits - 1))
        let recorded = program == 0 ? "\(number)" : "\(program + 1)/\(number)"
        return ordinal == 0 ? recorded : "\(ordinal + 1).\(recorded)"
    }

    /// Creates the identifier with this `label`, or returns `nil` if it is not one.
    package init?(label: some StringProtocol) {
        let parts = label.split(separator: ".", omittingEmptySubsequences: false)
        let own = (parts.last ?? "").split(separator: "/", omittingEmptySubsequences: false).map { UInt64($0) }
        guard parts.count <= 2, own.count <= 2, let number = own.last ?? nil else { return nil }
        let ordinal = parts.count == 2 ? UInt64(parts[0]) : 1
        guard let ordinal, (1...1 << 16).contains(ordinal) else { return nil }
        guard own.count == 2 else {
            self.init(number, of: Int(ordinal) - 1)
            return
        }
        guard let program = own[0], (2...Self.lastRecorded + 1).contains(program), number < 1 << Self.recordedBits
        else {
            return nil
        }
        self.init((program - 1) << Self.recordedBits | number, of: Int(ordinal) - 1)
    }

    /// Creates the identifier that stands in a recording for the session that had this label, or returns `nil` if it is
    /// no label.
    package init?(recorded label: Substring) {
        let parts = label.split(separator: ".", omittingEmptySubsequences: false).map { UInt64($0) }
        switch (parts.count, parts.first ?? nil, parts.last ?? nil) {
        case (1, let number?, _): self.init(number)
        case (2, let program?, let number?) where (1...1 << 16).contains(program):
            self = SocketID(number, of: Int(program) - 1).recorded
        default: return nil
        }
    }
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
