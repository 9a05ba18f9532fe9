import SocketCore

extension Verdict {
    /// Creates a verdict about sockets of the host. The row that reports it completes the sentence.
    init(
        _ claim: String, because reason: String? = nil, for lasting: Duration? = nil, on sockets: [HostSocket],
        by asking: HostAsking? = nil, atMost severity: Severity = .critical, evidence: Evidence = .queues
    ) {
        self.init(claim, lasting: lasting)
        (self.claim, self.reason, self.severity, self.evidence) = (claim, reason, severity, evidence)
        self.sockets = sockets.map(\.id)
        processes = asking?.process.map { [$0] } ?? []
    }

    /// The remedy of its lint.
    package var remedy: String { Lint.named(lint)?.remedy ?? "" }

    /// The remedy where it is about other programs' sockets. That of a lint which also judges our own connections may
    /// close them, which only suits those.
    package var hostRemedy: String? { Lint.named(lint)?.isOfHost == true ? remedy : nil }

    /// Returns the verdict with the program at the other end blamed.
    package func blaming(_ side: Side) -> Verdict {
        var verdict = self
        verdict.subject = side.reader
        verdict.next = side.end?.program?.stackCommand
        return verdict
    }

    /// The members in JSON, without the session.
    package func members(_ naming: CommandNaming) -> [JSON.Member] { members(remedy: naming(remedy)) }

    private func members(remedy: String?) -> [JSON.Member] {
        SocketJSON(clock: WallClock()).members(.verdict(self, remedy: remedy))
    }

    /// The same with the affected sockets of the host, for a line about a look.
    package func hostMembers(_ naming: CommandNaming) -> [JSON.Member] {
        members(remedy: hostRemedy.map { naming($0) }) + [
            JSON.Member("sockets", .array(sockets.prefix(Self.mostSockets).map { JSON(HostSocket.cookie(of: $0)) })),
            JSON.Member("processes", .array(processes.map { JSON(Int(HostOrdinal.kernelProcess($0.number))) })),
            JSON.Member("more", JSON(more)),
        ] + machineMembers
    }

    /// Only of verdicts about several hosts, or one of several.
    private var machineMembers: [JSON.Member] {
        guard !machines.isEmpty else { return [] }
        return [
            JSON.Member("machines", .array(machines.map { .string($0) })),
            JSON.Member("pairing", JSON(pairing?.rawValue)),
        ]
    }

    private static let mostSockets = 1_000
}

extension [Verdict] {
    /// Joins verdicts about sockets of the host with one name and one program, the longest first.
    func grouped() -> [Verdict] {
        var groups: [[String]: Int] = [:], told: [Verdict] = []
        for verdict in sorted(by: { $0.isBefore($1) }) {
            guard Lint.named(verdict.lint)?.isGathered == true, let process = verdict.processes.first else {
                told.append(verdict)
                continue
            }
            let key = [verdict.lint, verdict.severity.name, "\(process.number) \(process.start)"]
            guard let place = groups[key] else {
                groups[key] = told.count
                told.append(verdict)
                continue
            }
            told[place].more += verdict.count + verdict.more
            told[place].sockets += verdict.sockets
        }
        for place in told.indices where told[place].more > 0 {
            told[place].sentence += "; the same on \(told[place].more) more sockets"
        }
        return told
    }
}

extension Verdict {
    fileprivate func isBefore(_ other: Verdict) -> Bool {
        if severity != other.severity { return severity > other.severity }
        if lasting != other.lasting { return lasting ?? .zero > other.lasting ?? .zero }
        return sockets.first ?? 0 < other.sockets.first ?? 0
    }
}
