import SocketCore

/// What is known around the sessions of a snapshot: who owns them, and who is at their other ends.
package struct Surroundings: Sendable {
    /// The process that writes the report, whose own sessions those are that no attached program has.
    package var process: Int
    /// The programs attached to.
    package var programs: [ProgramInfo]
    /// The other ends of connections, where they are on this host.
    package var peers: [SocketID: PeerEnd]

    package init(process: Int = 0, programs: [ProgramInfo] = [], peers: [SocketID: PeerEnd] = [:]) {
        (self.process, self.programs, self.peers) = (process, programs, peers)
    }

    /// The program that owns a session, as the subject of a finding; `nil`: it is not known.
    func owner(of id: SocketID) -> String? {
        if let program = programs.first(where: { $0.ordinal == id.ordinal }) { return program.title }
        return process > 0 ? "socktui[\(process)]" : nil
    }

    /// The process that owns a session.
    func process(of id: SocketID) -> Int { programs.first { $0.ordinal == id.ordinal }?.process ?? process }
}

extension SocketJSON {
    /// An attached program and how it is doing.
    static func program(_ program: ProgramInfo) -> [JSON.Member] {
        let (state, problem): (JSON, String?) =
            switch program.state {
            case .live: ("live", nil)
            case .silent: ("silent", nil)
            case .ended(let why): ("ended", why)
            }
        return [
            JSON.Member("process", JSON(program.process)), JSON.Member("name", JSON(program.name)),
            JSON.Member("rights", JSON(program.rights.rawValue)), JSON.Member("state", state),
            JSON.Member("problem", JSON(problem)), JSON.Member("dropped_packets", JSON(program.dropped)),
        ]
    }
}
