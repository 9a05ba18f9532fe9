import SocketCore

/// A verdict in JSON, with the names of a `warning` line. See docs/json.md.
extension HostVerdict {
    package func json(_ naming: CommandNaming) -> [JSON.Member] {
        let remedy = naming(remedy)
        return [
            JSON.Member("lint", JSON(lint)), JSON.Member("severity", JSON(severity.name)),
            JSON.Member("evidence", JSON(verdict.evidence.rawValue)), JSON.Member("subject", JSON(verdict.subject)),
            JSON.Member("for_seconds", JSON(seconds: verdict.lasting)), JSON.Member("sentence", JSON(sentence)),
            JSON.Member("remedy", JSON(remedy)), JSON.Member("next", JSON(verdict.next ?? remedy)),
            JSON.Member("sockets", .array(sockets.prefix(Self.mostSockets).map { JSON(HostSocket.cookie(of: $0)) })),
            JSON.Member("processes", .array(processes.map { JSON(Int($0.number)) })),
            JSON.Member("more", JSON(more)),
        ]
    }

    private static let mostSockets = 1_000
}
