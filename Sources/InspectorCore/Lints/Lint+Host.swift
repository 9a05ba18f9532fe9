/// Problems that can only be found from outside, in sockets of any program on the host. See `HostRules`.
extension Lint {
    static let host: [Lint] = [
        Lint(
            host: "unread-unasked", after: .seconds(5),
            "a program has left bytes unread for %time, and none of its threads or event loops asks for them",
            remedy: "look at what its threads do instead; only a note for a client of a pool"
        ).gathered(),
        Lint(
            host: "edge-unread", after: .seconds(5),
            "bytes have been unread for %time: epoll reported them once, edge-triggered, and no read has followed",
            remedy: "with EPOLLET, read until EAGAIN each time"
        ).gathered(),
        Lint(
            host: "loop-stuck", after: .seconds(5),
            "bytes have been unread for %time: an event loop listens for them, but no thread waits in that loop",
            remedy: "look at what the loop's thread does instead: it must not block"
        ).gathered(),
        Lint(
            host: "slow-reader", as: .note,
            "a reader on this host reads less than 1 MB/s, and its window holds the sender back most of the time",
            remedy: "nothing, if it limits its rate on purpose"),
        Lint(
            host: "zero-window", after: .seconds(5),
            "a peer on another host has accepted no bytes for %time: its window is 0",
            remedy: "look at the program at the other end: it does not read"),
        Lint(
            host: "accept-full", "a listener's queue is full, and no program accepts: further connections are dropped",
            remedy: "look at what the program does instead of accepting; raise the backlog if it is only busy"),
        Lint(
            host: "accept-stuck", after: .seconds(5),
            "a connection has waited for accept for %time, and no program accepts",
            remedy: "look at what the program does instead of accepting"),
        Lint(
            host: "inherited", as: .note,
            "a program holds a socket that it inherited and does not use: the peer will not see the close",
            remedy: "in the program that started it, open sockets with SOCK_CLOEXEC"
        ).gathered(),
        Lint(
            host: "udp-dropped", "the kernel has dropped datagrams for a socket within the last 10s",
            remedy: "read faster, or raise the receive buffer (SO_RCVBUF, net.core.rmem_max)"),
        Lint(
            host: "retransmitting", "a segment has been sent at least three times without an answer",
            remedy: "the path to the peer loses segments, or the peer is gone"),
        Lint(
            host: "ports-exhausted", "over 90 % of the local ports are taken by connections to one address",
            remedy: "keep connections open instead of making new ones, or widen net.ipv4.ip_local_port_range"),
    ]
}
