import SocketCore

extension SocketJSON {
    /// Returns the ends of a captured connection that are on this host.
    func ends(_ ends: CapturedEnds) -> JSON {
        func end(_ end: CapturedEnds.End) -> JSON {
            [
                "host": host(end.host), "kernel": end.kernel.map(kernel) ?? .null,
                "fd": JSON(end.descriptor.map(Int.init)),
            ]
        }
        return ["client": ends.local.map(end) ?? .null, "server": ends.peer.map(end) ?? .null]
    }

    /// Returns what only a socket of another program has, which is inspected from outside.
    func host(_ host: HostSnapshot) -> JSON {
        [
            "program": JSON(host.program), "process": JSON(host.process.map(Int.init)),
            "other_processes": JSON(host.others), "user": JSON(Int(host.user)),
            "transport": JSON(host.transport.rawValue), "inode": JSON(host.inode),
            "unread_bytes": JSON(host.unread.map(Int.init)),
            "unsent_bytes": host.transport.isUnix ? .null : JSON(host.unsent.map(Int.init)),
            "waiting": JSON(host.waiting.map(Int.init)), "waiting_limit": JSON(host.waitingLimit.map(Int.init)),
            "asks": JSON(host.asks), "asks_for_s": JSON(seconds: host.asksFor),
            "evidence": JSON(host.evidence?.rawValue), "container": JSON(host.container),
            "netns": JSON(host.namespace?.label), "netns_inode": JSON(host.namespace?.inode),
            "peer_id": JSON(host.peer?.number),
            "peer_program": JSON(host.peerProgram), "blocking": host.blocks.map { .bool($0) } ?? .null,
            "cloexec": host.closesOnExec.map { .bool($0) } ?? .null,
        ]
    }
}
