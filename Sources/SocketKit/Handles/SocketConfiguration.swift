import Dispatch
import SocketCore

/// How an engine is set up.
public struct EngineConfiguration: Sendable {
    /// A name for people, shown by the inspector.
    public var name = "SocketKit"
    /// The queue that everything of the engine runs on; nil: one of its own. It must be serial: a global queue traps, and
    /// another concurrent one is not noticed. Several engines may share a queue, and the queue may have a target. Turns
    /// enter it by `sync` from the engine's thread, so work that blocks it delays every socket of the engine.
    /// GCDAsyncSocket: `initWithSocketQueue:`.
    public var queue: DispatchQueue?
    /// How many events the ring holds before it overwrites its oldest; 0: none are recorded.
    public var eventCapacity = 4_096
    /// How many closed sessions stay listed.
    public var closedLimit = 512
    /// How long a closed session stays listed.
    public var closedRetention = Duration.seconds(60)
    /// How many bytes messages that have not come whole may take up in all, those of every WebSocket of the engine
    /// together; 256 MiB. The first 64 KiB of each do not count. A WebSocket whose message would go over it fails with code
    /// 1013.
    public var unfinishedMessageBytes = 256 << 20
    /// Whether bytes of traffic are kept for a user to look at. Off by default, since payloads are nobody else's business.
    public var capturesTraffic = false
    /// How many bytes of traffic are kept of one session; 4 MiB. Each operation counts its bytes and 1 KiB. When there is
    /// no more room, long messages keep their beginning and their end, and then the oldest operations go; both are counted.
    /// Less than 0 is 0, and the latest operation is kept in any case.
    public var trafficLimit = 4 << 20
    /// How many bytes of traffic are kept of all sessions of the engine together, closed ones included; 64 MiB. When there
    /// is no more room, the sessions that keep most give some up, until all of those keep equally much.
    public var totalTrafficLimit = 64 << 20

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
    /// How long a connect waits for one address before it tries the next one as well; 250 ms (RFC 8305, section 5). A
    /// refused attempt is followed by the next one at once. A negative time is refused as that of `idleTimeout` is.
    /// GCDAsyncSocket: `alternateAddressDelay`.
    public var attemptDelay = Duration.milliseconds(250)
    /// Whether the connection stays open for writing after the peer's FIN (GCDAsyncSocket:
    /// `autoDisconnectOnClosedReadStream`, reversed).
    public var allowsHalfOpen = false
    /// The verdict on an operation that timed out, where no delegate gives one, as for sockets that are only awaited. The
    /// default closes the connection; after `failOperation` the bytes of an awaited read are in the stream again, and of a
    /// write those that left stay sent, so that the peer sees the next write in the middle of this one.
    public var timeoutVerdict = TimeoutVerdict.close
    /// Closes the connection with `idleTimeout` when no byte has passed either way for so long; nil: never. It must be more
    /// than zero, else connect, adopt and listen throw `badParameter`.
    public var idleTimeout: Duration?
    /// How long a close after writing waits for the peer's FIN, so that no reset destroys what the peer has not read.
    /// The engine waits, not the kernel: SO_LINGER would make close(2) block every socket of the engine. A negative time
    /// is refused as that of `idleTimeout` is.
    public var lingerTime = Duration.seconds(2)
    /// Marks for the bytes queued for writing; nil: no report.
    public var writeWatermarks: Watermarks?
    /// Our end of a connect, as GCDAsyncSocket's `viaInterface:` has it: `[interface][:port]`, the interface by its name
    /// or numeric IPv4 address, `localhost` or `loopback` for the loopback ones. nil: the system chooses.
    public var interface: String?
    /// Called with each descriptor before it connects, or as soon as it was accepted, and with the peer's address: the
    /// place to set options that are not named here. It runs on the engine's queue and must not block. Messages that such
    /// options put into the descriptor's error queue (transmit timestamps, zero-copy notices) are thrown away.
    public var prepareDescriptor: (@Sendable (Int32, SocketAddress) -> Void)?
    /// Options of the descriptor.
    public var options = SocketOptions()

    /// Of a listener: whether it begins with accepting paused. Connections then wait in the kernel's backlog until
    /// `SocketCommand.answerConnection` or `SocketCommand.pauseReading`.
    public var startsWithAcceptingPaused = false

    /// Of a relay's leg: whether the peer's end without close_notify is reported as an end, of which `wasCutOff` tells, and
    /// not as an error. It can come as soon as the handshake is done, before the legs are linked.
    package var passesCuts = false

    /// The defaults above.
    public init() {}
}

extension SocketConfiguration {
    /// What is wrong with it, in words that name the setting; nil: nothing.
    var fault: String? {
        if let idleTimeout, idleTimeout <= .zero {
            return "idleTimeout \(idleTimeout): must be more than zero; nil means none"
        }
        if attemptDelay < .zero { return "attemptDelay \(attemptDelay): must not be negative" }
        return lingerTime < .zero ? "lingerTime \(lingerTime): must not be negative" : nil
    }
}

/// Options of the descriptor, set before it connects, or as soon as it was accepted.
public struct SocketOptions: Sendable {
    /// SO_SNDBUF in bytes, as asked for: Linux doubles it and holds it within its limits. nil: the system's.
    public var sendBuffer: Int?
    /// SO_RCVBUF in bytes, likewise. nil: the system's.
    public var receiveBuffer: Int?
    /// TCP_NODELAY: small writes leave at once instead of waiting for acknowledgements. Ignored for Unix sockets.
    public var noDelay = false
    /// SO_KEEPALIVE: probes for peers that have gone without a word. nil: off. Ignored for Unix sockets.
    public var keepAlive: KeepAlive?
    /// SO_REUSEPORT: several listeners share a port, and the kernel spreads connections over them.
    public var reusePort = false
    /// How many connections may wait for accept. At least 1; held by net.core.somaxconn.
    public var backlog: Int32 = 1_024

    /// Times of SO_KEEPALIVE, each held to whole seconds, at least 1.
    public struct KeepAlive: Sendable, Equatable {
        /// Silence before the first probe (TCP_KEEPIDLE).
        public var idle: Duration
        /// Time between probes (TCP_KEEPINTVL).
        public var interval: Duration
        /// Probes without answer before the connection is given up (TCP_KEEPCNT).
        public var count: Int

        /// Sets all three.
        public init(idle: Duration, interval: Duration, count: Int) {
            self.idle = idle
            self.interval = interval
            self.count = count
        }
    }

    /// The defaults above.
    public init() {}
}
