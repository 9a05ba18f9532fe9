/// Problems that can only be found from outside, in sockets of any program on the host. See `HostRules`.
extension Lint {
    static let acceptStuck = Lint(
        "accept-stuck", after: .seconds(5), "a connection has waited to be accepted for %time, and no program accepts",
        remedy: "find out what the program does instead of accepting",
        host: { rules, _ in rules.unaccepted(.stuck) })

    static let waitChain = Lint(
        "wait-chain", after: .seconds(5),
        "a request has been unanswered for %time: who waits for whom, and what the last program does. A note, since a long "
            + "poll looks the same; a warning if that program is stopped",
        remedy: "see what the last program does (socktui why)",
        host: { rules, _ in rules.waiting() })

    static let mutualWait = Lint(
        "mutual-wait", after: .seconds(5),
        "programs have waited for each other's answer for %time; only a note unless proven for each of them",
        remedy: "one of them must answer before it sends a request",
        host: { rules, _ in rules.mutualWaits() })

    static let host: [Lint] = [
        Lint(
            "unread-unasked", after: .seconds(5),
            "a program has left bytes unread for %time, and none of its threads or event loops is waiting for them",
            remedy: "find out what its threads do instead; only a note for a pooled client",
            host: { $0.unread([.unasked, .stopped, .unseen], $1) }
        ).gathered(),
        Lint(
            "edge-unread", after: .seconds(5),
            "bytes have been unread for %time: epoll reported them once, edge-triggered, and no read has followed",
            remedy: "with EPOLLET, read until EAGAIN each time",
            host: { $0.chains([.edge], $1) + $0.unread([.edge], $1) }
        ).gathered(),
        Lint(
            "loop-stuck", after: .seconds(5),
            "a peer has waited for %time for an event loop that no thread waits in, or whose thread never stops running",
            remedy: "find out what the loop's thread does instead: it must not block",
            host: { $0.loops($1) }
        ).gathered(),
        Lint(
            "slow-reader", as: .note,
            "a reader on this host reads less than 1 MB/s, and its receive window limits the sender most of the time",
            remedy: "nothing, if the rate is limited on purpose",
            host: { rules, _ in rules.slowReaders() }),
        Lint(
            "zero-window", after: .seconds(5),
            "a peer on another host has accepted no bytes for %time: its window is 0",
            remedy: "find out why the program at the other end does not read",
            host: { $0.closedWindows($1) }),
        Lint(
            "accept-full", "a listener's queue is full, and no program accepts: further connections are dropped",
            remedy: "find out what the program does instead of accepting; raise the backlog if it is only busy",
            host: { rules, _ in rules.unaccepted(.full) }),
        acceptStuck,
        waitChain,
        mutualWait,
        Lint(
            "inherited", as: .note,
            "a program holds an inherited socket that it does not use: the peer will not see a FIN",
            remedy: "in the program that started it, open sockets with SOCK_CLOEXEC",
            host: { rules, _ in rules.inherited() }
        ).gathered(),
        Lint(
            "udp-dropped", "the kernel has dropped datagrams for a socket within the last 10s",
            remedy: "read faster, or raise the receive buffer (SO_RCVBUF, net.core.rmem_max)",
            host: { rules, _ in rules.drops() }),
        Lint(
            "retransmitting", "a segment has been sent at least three times without an ACK",
            remedy: "check the path to the peer for packet loss, and whether the peer is up",
            host: { rules, _ in rules.retransmitting() }),
        Lint(
            "ports-exhausted", "over 90 % of the local ports are in use for connections to one address",
            remedy: "reuse connections instead of opening new ones, or widen net.ipv4.ip_local_port_range",
            host: { rules, _ in rules.exhaustedPorts() }),
    ]
}
