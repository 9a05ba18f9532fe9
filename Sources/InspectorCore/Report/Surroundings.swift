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

extension SocketJSON {
    /// Returns the program that runs through the relay.
    static func child(_ child: ChildState) -> [JSON.Member] {
        var (state, status, signal, problem): (JSON, JSON, JSON, JSON) = ("starting", .null, .null, .null)
        var connections = JSON.null
        switch child.phase {
        case .starting: break
        case .running: state = "running"
        case .ended(let ending, _, let count):
            (state, connections) = ("ended", JSON(count))
            switch ending {
            case .exit(let number): status = JSON(Int(number))
            case .signal(let number): signal = JSON(SignalWords.name(number))
            case .notStarted(let sentence, _): problem = JSON(sentence)
            }
        }
        return [
            JSON.Member("name", JSON(child.name)), JSON.Member("process", JSON(child.process)),
            JSON.Member("via", JSON(child.via.rawValue)), JSON.Member("state", state),
            JSON.Member("status", status), JSON.Member("signal", signal), JSON.Member("connections", connections),
            JSON.Member("not_shown", JSON(child.passed.total)), JSON.Member("problem", problem),
        ]
    }

    /// Returns an attached program and its state.
    static func program(_ program: ProgramInfo) -> [JSON.Member] {
        let (state, problem): (JSON, String?) =
            switch program.state {
            case .live: ("live", nil)
            case .silent: ("silent", nil)
            case .ended(let why), .failed(let why): ("ended", why)
            }
        return [
            JSON.Member("process", JSON(program.process)), JSON.Member("name", JSON(program.name)),
            JSON.Member("rights", JSON(program.rights.rawValue)), JSON.Member("state", state),
            JSON.Member("problem", JSON(problem)), JSON.Member("dropped_packets", JSON(program.dropped)),
        ]
    }
}
