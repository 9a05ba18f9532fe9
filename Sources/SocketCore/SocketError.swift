/// An error: the operation that failed, the reason, and the result of each connect attempt.
public struct SocketError: Error, Sendable {
    /// The reason for a failure. The cases keep the (domain, code) pairs of GCDAsyncSocket; see `domain` and `code`.
    public enum Reason: Hashable, Sendable {
        /// The socket is not in a state that allows the call (GCDAsyncSocketBadConfigError).
        case badConfiguration
        /// An argument is invalid. The detail names it and a valid one (GCDAsyncSocketBadParamError).
        case badParameter
        /// The connect took longer than its timeout.
        case connectTimeout
        /// The current read took longer than its timeout, which was not extended.
        case readTimeout
        /// The current write took longer than its timeout, which was not extended.
        case writeTimeout
        /// A datagram could not be sent within its timeout (GCDAsyncUdpSocketSendTimeoutError).
        case sendTimeout
        /// No byte was sent or received during the idle timeout.
        case idleTimeout
        /// A delimiter read reached its limit without its delimiter.
        case readMaxedOut
        /// The peer ended its stream (FIN).
        case closedByPeer
        /// This side closed the socket before the operation completed.
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
        /// A WebSocket did not open, or failed.
        indirect case webSocket(WebSocketProblem)
        /// Another reason, given in the detail.
        case other
    }

    /// One address that a connect tried, and the result.
    public struct Attempt: Hashable, Sendable {
        /// The address tried.
        public var address: SocketAddress
        /// The errno of the failure, or `nil` if the attempt was abandoned for another.
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

    /// The shared storage of an error and its copies. An error is large, and ends every operation of its connection.
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

    /// The reason for the failure.
    public var reason: Reason {
        get { box.facts.reason }
        set { change { $0.reason = newValue } }
    }

    /// The system call or operation that failed, such as `connect` or `read`.
    public var operation: String {
        get { box.facts.operation }
        set { change { $0.operation = newValue } }
    }

    /// The parts of `detail`.
    package var subject: Subject {
        get { box.facts.subject }
        set { change { $0.subject = newValue } }
    }

    /// Every address that a failed connect tried, in order, or empty for other errors.
    public var attempts: [Attempt] {
        get { box.facts.attempts }
        set { change { $0.attempts = newValue } }
    }

    /// For an awaited read or write that failed, the number of its bytes that were transferred, or `nil` for other
    /// errors. For a write, these bytes were sent, or still will be. A read whose bytes returned to the stream for the
    /// next read has 0.
    public var transferred: Int? {
        get { box.facts.transferred }
        set { change { $0.transferred = newValue } }
    }

    /// For an awaited read that failed with its connection, the bytes it had, which are delivered nowhere else. It is
    /// `nil` if there were none, or if they returned to the stream.
    public var received: [UInt8]? {
        get { box.facts.received }
        set { change { $0.received = newValue } }
    }

    /// Creates an error.
    public init(_ reason: Reason, operation: String, detail: String, attempts: [Attempt] = []) {
        self.init(reason, operation: operation, subject: .sentence(detail), attempts: attempts)
    }

    /// Creates an error whose text is created only on request.
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

/// The values from which Foundation creates an `NSError`: the same domain and code. `localizedDescription` can't be
/// provided without Foundation. `detail` is the sentence for the user, and `description` includes the operation.
extension SocketError {
    /// The domain, for `(error as NSError).domain`.
    public var _domain: String { domain }
    /// The code, for `(error as NSError).code`.
    public var _code: Int { code }
}

extension SocketError: CustomStringConvertible {
    /// The text `operation: detail`.
    public var description: String { "\(operation): \(detail)" }
}
