/// Why something failed: what was tried, what went wrong, and how each attempt of a connect ended.
public struct SocketError: Error, Sendable {
    /// What went wrong. The cases keep the (domain, code) pairs of GCDAsyncSocket; see `domain` and `code`.
    public enum Reason: Hashable, Sendable, Codable {
        /// The socket is not in a state that allows the call (GCDAsyncSocketBadConfigError).
        case badConfiguration
        /// An argument is wrong; the detail names it and what would be right (GCDAsyncSocketBadParamError).
        case badParameter
        /// The connect took longer than its timeout.
        case connectTimeout
        /// The read in hand took longer than its timeout, and nobody extended it.
        case readTimeout
        /// The write in hand took longer than its timeout, and nobody extended it.
        case writeTimeout
        /// A datagram could not be sent within its timeout (GCDAsyncUdpSocketSendTimeoutError).
        case sendTimeout
        /// No byte passed either way for the idle timeout.
        case idleTimeout
        /// A delimiter read reached its limit without its delimiter.
        case readMaxedOut
        /// The peer ended its stream (FIN).
        case closedByPeer
        /// This side closed the socket before the operation was done.
        case disconnected
        /// The operation was cancelled.
        case cancelled
        /// The socket was not connected, so the operation could not be queued.
        case notConnected
        /// A system call failed with this errno.
        case system(errno: Int32)
        /// getaddrinfo failed with this code (`EAI_...`).
        case resolver(code: Int32)
        /// TLS failed.
        case tls(TLSFailure)
        /// A WebSocket did not come about, or broke.
        indirect case webSocket(WebSocketProblem)
        /// None of the above; the detail says it.
        case other
    }

    /// One address that a connect tried, and how it ended.
    public struct Attempt: Hashable, Sendable, Codable {
        /// The address tried.
        public var address: SocketAddress
        /// The errno it ended with; nil when it was given up for another.
        public var errno: Int32?
        /// How long it took.
        public var duration: Duration

        /// Describes an attempt.
        public init(address: SocketAddress, errno: Int32?, duration: Duration) {
            self.address = address
            self.errno = errno
            self.duration = duration
        }
    }

    private struct Facts: Sendable {
        var reason: Reason
        var operation: String
        var subject: Subject
        var attempts: [Attempt]
        var transferred: Int?
        var received: [UInt8]?
    }

    /// An error is large, and ends every operation of its connection: its copies share one piece of memory.
    private final class Box: Sendable {
        let facts: Facts
        init(_ facts: Facts) { self.facts = facts }
    }

    private var box: Box

    private mutating func change(_ body: (inout Facts) -> Void) {
        var facts = box.facts
        body(&facts)
        box = Box(facts)
    }

    /// What went wrong.
    public var reason: Reason {
        get { box.facts.reason }
        set { change { $0.reason = newValue } }
    }

    /// What was being done: the name of the system call or of the operation, such as `connect` or `read`.
    public var operation: String {
        get { box.facts.operation }
        set { change { $0.operation = newValue } }
    }

    /// What `detail` is made of.
    package var subject: Subject {
        get { box.facts.subject }
        set { change { $0.subject = newValue } }
    }

    /// Every address that a failed connect tried, in order; empty elsewhere.
    public var attempts: [Attempt] {
        get { box.facts.attempts }
        set { change { $0.attempts = newValue } }
    }

    /// Of an awaited read or write that failed: how many of its bytes had passed. Of a write, these went out, or still go
    /// out; `nil` elsewhere. A read whose bytes went back to the stream, for the next read, has 0.
    public var transferred: Int? {
        get { box.facts.transferred }
        set { change { $0.transferred = newValue } }
    }

    /// Of an awaited read that failed with its connection: the bytes it had, which nothing else hands over. `nil`: none,
    /// or they went back to the stream.
    public var received: [UInt8]? {
        get { box.facts.received }
        set { change { $0.received = newValue } }
    }

    /// Describes a failure.
    public init(_ reason: Reason, operation: String, detail: String, attempts: [Attempt] = []) {
        self.init(reason, operation: operation, subject: .sentence(detail), attempts: attempts)
    }

    /// Describes a failure, of which nobody has to read a text.
    package init(_ reason: Reason, operation: String, subject: Subject, attempts: [Attempt] = []) {
        box = Box(Facts(reason: reason, operation: operation, subject: subject, attempts: attempts))
    }

    /// Whether both are copies of one error.
    func isCopy(of other: SocketError) -> Bool { box === other.box }

    /// The NSError domain that GCDAsyncSocket, or for datagrams GCDAsyncUdpSocket, would have used.
    public var domain: String {
        switch reason {
        case .system: "NSPOSIXErrorDomain"
        case .resolver: "kCFStreamErrorDomainNetDB"
        case .tls: "kCFStreamErrorDomainSSL"
        case .sendTimeout: "GCDAsyncUdpSocketErrorDomain"
        case .webSocket: "SRWebSocketErrorDomain"
        case .badConfiguration, .badParameter, .connectTimeout, .readTimeout, .writeTimeout, .idleTimeout,
            .readMaxedOut,
            .closedByPeer, .disconnected, .cancelled, .notConnected, .other:
            "GCDAsyncSocketErrorDomain"
        }
    }

    /// The code within `domain`.
    public var code: Int {
        switch reason {
        case .disconnected, .cancelled, .notConnected: 0
        case .badConfiguration: 1
        case .badParameter: 2
        case .connectTimeout, .sendTimeout: 3
        case .readTimeout: 4
        case .writeTimeout: 5
        case .readMaxedOut: 6
        case .closedByPeer: 7
        case .other, .idleTimeout: 8
        case .system(let errno): Int(errno)
        case .resolver(let code): Int(code)
        case .tls(let failure): failure.code
        case .webSocket(let problem): problem.code
        }
    }
}

/// What Foundation makes an `NSError` of: the same domain and code. Its `localizedDescription` cannot be given without
/// Foundation; `detail` is the sentence for a person, and `description` has the operation too.
extension SocketError {
    /// `domain`, for `(error as NSError).domain`.
    public var _domain: String { domain }
    /// `code`, for `(error as NSError).code`.
    public var _code: Int { code }
}

extension SocketError: CustomStringConvertible {
    /// `operation: detail`.
    public var description: String { "\(operation): \(detail)" }
}
