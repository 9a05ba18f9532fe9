import SocketCore

/// What is known beyond the sessions of a snapshot: their owners, and the programs at their other ends.
package struct Surroundings: Sendable {
    /// The process that writes the report. It owns all sessions that no attached program has.
    package var process: Int
    /// The attached programs.
    package var programs: [ProgramInfo]
    /// The other ends of connections, if they are on this host.
    package var peers: [SocketID: PeerEnd]
    /// The program that runs through the relay.
    package var child: ChildState?

    package init(
        process: Int = 0, programs: [ProgramInfo] = [], peers: [SocketID: PeerEnd] = [:], child: ChildState? = nil
    ) {
        (self.process, self.programs, self.peers, self.child) = (process, programs, peers, child)
    }

    /// Returns the program that owns a session, as the subject of a finding, or `nil` if it is not known.
    func owner(of id: SocketID) -> String? {
        if let program = programs.first(where: { $0.ordinal == id.ordinal }) { return program.title }
        return process > 0 ? "socktui[\(process)]" : nil
    }

    /// Returns the process that owns a session.
    func process(of id: SocketID) -> Int { programs.first { $0.ordinal == id.ordinal }?.process ?? process }
}
