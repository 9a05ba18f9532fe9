import Dispatch
import SocketCore

/// The settings of an engine.
public struct EngineConfiguration: Sendable {
    /// A display name, shown by the inspector.
    public var name = "SocketKit"
    /// The engine's queue, or `nil` for one of its own. It must be serial: a global queue traps, and another concurrent
    /// queue isn't detected. Several engines can share a queue, and the queue can have a target. The engine's thread
    /// runs each turn on it by `sync`, so work that blocks the queue delays every socket of the engine. GCDAsyncSocket:
    /// `initWithSocketQueue:`.
    public var queue: DispatchQueue?
    /// How many events the ring holds before it overwrites the oldest, or 0 to record none.
    public var eventCapacity = 4_096
    /// How many closed sessions stay listed.
    public var closedLimit = 512
    /// How long a closed session stays listed.
    public var closedRetention = Duration.seconds(60)
    /// How many bytes incomplete messages can take up, summed over every WebSocket of the engine. Defaults to 256 MiB.
    /// The first 64 KiB of each message don't count. A WebSocket whose message would exceed the limit fails with code
    /// 1013.
    public var unfinishedMessageBytes = 256 << 20
    /// Whether bytes of traffic are kept for the user to inspect. Off by default, to keep payloads private.
    public var capturesTraffic = false
    /// How many bytes of traffic are kept of one session. Defaults to 4 MiB. Each operation counts its bytes and 1 KiB.
    /// When the limit is reached, long messages are cut to their beginning and end, then the oldest operations are
    /// dropped; both are counted. A negative limit counts as 0. The latest operation is always kept.
    public var trafficLimit = 4 << 20
    /// How many bytes of traffic are kept of all sessions of the engine together, including closed ones. Defaults to 64
    /// MiB. When the limit is reached, the sessions that keep the most give some up, until they all keep equally much.
    public var totalTrafficLimit = 64 << 20

    /// Creates the default configuration.
    public init() {}
}

/// Settings of one socket that outlive its sessions. A change takes effect at the next connect or listen. Accepted
/// connections inherit their listener's settings.
public struct SocketConfiguration: Sendable {
    /// A display name, shown by the inspector.
    public var name = ""
    /// Whether IPv4 addresses are used (GCDAsyncSocket: `IPv4Enabled`).
    public var isIPv4Enabled = true
    /// Whether IPv6 addresses are used (GCDAsyncSocket: `IPv6Enabled`).
    public var isIPv6Enabled = true
    /// Whether a connect tries IPv6 first (GCDAsyncSocket: `IPv4PreferredOverIPv6`, reversed).
    public var prefersIPv6 = false
    /// How long a connect waits for one address before it also tries the next. Defaults to 250 ms (RFC 8305, section
    /// 5). The next attempt follows a refused one at once. A negative time is rejected like an invalid `idleTimeout`.
    /// GCDAsyncSocket: `alternateAddressDelay`.
    public var attemptDelay = Duration.milliseconds(250)
    /// Whether the connection stays open for writing after the peer's FIN (GCDAsyncSocket:
    /// `autoDisconnectOnClosedReadStream`, reversed).
    public var allowsHalfOpen = false
    /// The verdict on an operation that timed out if no delegate gives one, as for sockets that are only awaited. The
    /// default closes the connection. After `failOperation`, the bytes of an awaited read are back in the stream. The
    /// bytes of a write that were sent stay sent, so the peer sees the next write in the middle of this one.
    public var timeoutVerdict = TimeoutVerdict.close
    /// How long the connection can go without a byte sent or received before it closes with `idleTimeout`, or `nil` for
    /// no limit. It must be more than zero, or connect, adopt and listen throw `badParameter`.
    public var idleTimeout: Duration?
    /// How long a close after writing waits for the peer's FIN, so that no reset destroys what the peer hasn't read.
    /// The engine waits, not the kernel, because SO_LINGER would make close(2) block every socket of the engine. A
    /// negative time is rejected like an invalid `idleTimeout`.
    public var lingerTime = Duration.seconds(2)
    /// The watermarks for bytes queued for writing, or `nil` for no reports.
    public var writeWatermarks: Watermarks?
    /// The local side of a connect as GCDAsyncSocket's `viaInterface:` has it, or `nil` if the system chooses:
    /// `[interface][:port]`, where the interface is a name, a numeric IPv4 address, or `localhost` or `loopback` for
    /// the loopback ones.
    public var interface: String?
    /// Called with each descriptor and the peer's address, before a connect or as soon as a connection is accepted. Use
    /// it to set options that have no API here. It runs on the engine's queue and must not block. Messages that such
    /// options put in the descriptor's error queue (transmit timestamps, zero-copy notices) are discarded.
    public var prepareDescriptor: (@Sendable (Int32, SocketAddress) -> Void)?
    /// Options of the descriptor.
    public var options = SocketOptions()

    /// For a listener, whether it starts with accepting paused. Connections then wait in the kernel's backlog until
    /// `SocketCommand.answerConnection` or `SocketCommand.pauseReading`.
    public var startsWithAcceptingPaused = false

    /// For a relay's leg, whether a peer's end without close_notify is reported as an end of stream, detectable by
    /// `wasCutOff`, instead of an error. It can arrive as soon as the handshake is done, before the legs are linked.
    package var passesCuts = false

    /// Creates the default configuration.
    public init() {}
}

extension SocketConfiguration {
    /// The problem with an invalid setting, which it names, or `nil` if there is none.
    var fault: String? {
        if let idleTimeout, idleTimeout <= .zero {
            return "idleTimeout \(idleTimeout): must be more than zero; nil means none"
        }
        if attemptDelay < .zero { return "attemptDelay \(attemptDelay): must not be negative" }
        return lingerTime < .zero ? "lingerTime \(lingerTime): must not be negative" : nil
    }
}

/// Options of the descriptor, set before it connects or as soon as it is accepted.
public struct SocketOptions: Sendable {
    /// The requested SO_SNDBUF in bytes, or `nil` for the system's default. Linux doubles it and clamps it to its
    /// limits.
    public var sendBuffer: Int?
    /// The requested SO_RCVBUF in bytes, or `nil` for the system's default. Linux doubles it and clamps it to its
    /// limits.
    public var receiveBuffer: Int?
    /// Whether small writes are sent at once instead of waiting for acknowledgments (TCP_NODELAY). Ignored for Unix
    /// sockets.
    public var noDelay = false
    /// The times of SO_KEEPALIVE, which probes for peers that vanished silently, or `nil` for off. Ignored for Unix
    /// sockets.
    public var keepAlive: KeepAlive?
    /// Whether several listeners can share a port, over which the kernel spreads connections (SO_REUSEPORT).
    public var reusePort = false
    /// For a relay's leg, whether urgent data (MSG_OOB) is received with the other bytes, and recorded as an event.
    /// Without it the kernel would take the urgent byte out of the stream.
    package var takesUrgentInLine = false
    /// How many connections can wait for accept. At least 1, and limited by net.core.somaxconn.
    public var backlog: Int32 = 1_024

    /// Settings of SO_KEEPALIVE, with times cut to whole seconds. Each is at least 1.
    public struct KeepAlive: Sendable, Equatable {
        /// The silence before the first probe (TCP_KEEPIDLE).
        public var idle: Duration
        /// The time between probes (TCP_KEEPINTVL).
        public var interval: Duration
        /// The number of unanswered probes after which the connection is dropped (TCP_KEEPCNT).
        public var count: Int

        /// Creates keepalive settings.
        public init(idle: Duration, interval: Duration, count: Int) {
            self.idle = idle
            self.interval = interval
            self.count = count
        }
    }

    /// Creates the default options.
    public init() {}
}
