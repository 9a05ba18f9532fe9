import SocketCore

/// How an engine is set up.
public struct EngineConfiguration: Sendable {
    /// A name for people, shown by the inspector.
    public var name = "SocketKit"
    /// How many events the ring holds before it overwrites its oldest.
    public var eventCapacity = 4_096
    /// How many closed sessions stay listed.
    public var closedLimit = 512
    /// How long a closed session stays listed.
    public var closedRetention = Duration.seconds(60)
    /// Whether bytes of traffic are kept for a person to look at: at most 256 KiB and 512 operations a session, the
    /// first 16 KiB of each. Off by default, since payloads are nobody else's business.
    public var capturesTraffic = false

    /// The defaults above.
    public init() {}
}

/// Settings of one socket that outlive its sessions. A change takes effect at the next connect or listen; accepted
/// connections take over their listener's.
public struct SocketConfiguration: Sendable {
    /// A name for people, shown by the inspector.
    public var name = ""
    /// Whether IPv4 addresses are used (GCDAsyncSocket: `IPv4Enabled`).
    public var isIPv4Enabled = true
    /// Whether IPv6 addresses are used (GCDAsyncSocket: `IPv6Enabled`).
    public var isIPv6Enabled = true
    /// Which family a connect tries first (GCDAsyncSocket: `IPv4PreferredOverIPv6`, reversed).
    public var prefersIPv6 = false
    /// Whether the connection stays open for writing after the peer's FIN (GCDAsyncSocket:
    /// `autoDisconnectOnClosedReadStream`, reversed).
    public var allowsHalfOpen = false
    /// Options of the descriptor.
    public var options = SocketOptions()

    /// The defaults above.
    public init() {}
}

/// Options of the descriptor, set before it connects, or as soon as it was accepted.
public struct SocketOptions: Sendable {
    /// SO_SNDBUF in bytes, as asked for: Linux doubles it and holds it within its limits. nil: the system's.
    public var sendBuffer: Int?
    /// SO_RCVBUF in bytes, likewise. nil: the system's.
    public var receiveBuffer: Int?
    /// TCP_NODELAY: small writes leave at once instead of waiting for acknowledgements. Ignored for Unix sockets.
    public var noDelay = false
    /// How many connections may wait for accept. At least 1; held by net.core.somaxconn.
    public var backlog: Int32 = 1_024

    /// The defaults above.
    public init() {}
}
