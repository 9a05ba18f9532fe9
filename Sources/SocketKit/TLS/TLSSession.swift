import CSocketKitOpenSSL
import SocketCore

/// One TLS session without a socket: it turns encrypted bytes into plaintext and plaintext into encrypted bytes.
///
/// It has a lock because a connection can move to another engine, although only one engine uses it at a time. Bytes are
/// lent to it for the length of a call.
final class TLSSession: Sendable {
    /// How a call ended.
    enum Outcome: Equatable {
        /// It succeeded, up to the room that was given. There may be more.
        case done
        /// It needs more bytes from the peer, and has consumed those it was given.
        case wantsBytes
        /// The peer's certificate needs a verdict. Call `answer`, then continue the handshake.
        case asks(TLSTrust)
        /// The peer has ended its stream with close_notify.
        case closed
        case failed(TLSFailure)
    }

    /// The facts about a session whose handshake is complete.
    struct Facts {
        var version: String
        var cipher: String
        var group: String?
        var applicationProtocol: String?
        var serverName: String?
        var chain: [TLSCertificate]
        var verification: TLSVerification
        var isResumed: Bool
    }

    /// An alert that was sent or received.
    struct Alert: Equatable {
        var number: UInt8
        var isOurs: Bool
    }

    fileprivate struct State: ~Copyable {
        let ssl: OpaquePointer
        let exchange: TLSExchange
        /// The error that ended the session. Later calls fail with it.
        var failure: TLSFailure?

        init(_ ssl: OpaquePointer, _ exchange: TLSExchange) {
            self.ssl = ssl
            self.exchange = exchange
        }

        deinit {
            SSL_free(ssl)
        }
    }

    private let state: Lock<State>

    /// Creates a session. Returns `nil` if memory runs out.
    init?(_ context: TLSContext, askedName: String?, expectedName: String?, sessionKey: String?) {
        let exchange = TLSExchange(
            context: context, sessionKey: sessionKey, askedName: askedName, expectedName: expectedName)
        guard let ssl = context.makeSSL(exchange)?.pointer else { return nil }
        state = Lock(State(ssl, exchange))
    }

    /// The peer's certificates in DER, its own first, or empty if it presented none.
    var peerCertificates: [[UInt8]] { state.withLock { TLSCertificates.encodedChain(of: $0.ssl) } }

    // MARK: The pump

    /// Continues the handshake with `bytes`, which follow all earlier ones. Returns `done` when it is complete.
    func handshake(_ bytes: LentBytes) -> Outcome {
        state.withLock { state in
            state.exchange.incoming = bytes.bytes
            state.exchange.noteOpening(bytes.bytes)
            defer { state.exchange.keepRest() }
            ERR_clear_error()
            let status = SSL_do_handshake(state.ssl)
            if let question = state.exchange.question.take() {
                state.exchange.askedProblem = question.problem
                return .asks(question)
            }
            guard status == 1 else { return state.outcome(status) }
            state.exchange.forgetOpening()
            return .done
        }
    }

    /// Records the verdict on the peer's certificate.
    func answer(_ accept: Bool) {
        state.withLock { state in
            state.exchange.isAcceptedByHand = accept
            if accept { state.exchange.verification = .acceptedByHand(state.exchange.askedProblem) }
        }
    }

    /// Decrypts into `room` until it is full or `bytes`, which follow all earlier ones, are consumed.
    func decrypt(_ bytes: LentBytes, into room: LentBytes) -> (count: Int, outcome: Outcome) {
        state.withLock { state in
            state.exchange.incoming = bytes.bytes
            defer { state.exchange.keepRest() }
            var filled = 0
            while filled < room.count {
                var count = 0
                ERR_clear_error()
                let status = SSL_read_ex(state.ssl, room.room.baseAddress! + filled, room.count - filled, &count)
                guard status == 1 else { return (filled, state.outcome(status)) }
                filled += count
            }
            return (filled, .done)
        }
    }

    /// The most plaintext that one record holds.
    private static let recordLimit = 16_384

    /// Encrypts the buffers in order, up to `records` records. Small buffers share a record, through `scratch`. The
    /// returned count is in bytes of plaintext.
    func encrypt(
        _ buffers: UnsafeBufferPointer<UnsafeRawBufferPointer>, scratch: LentBytes, records: Int
    ) -> (count: Int, outcome: Outcome) {
        let list = LentBytes(UnsafeRawBufferPointer(buffers))
        return state.withLock { state in
            var cursor = BufferCursor(list.bytes.assumingMemoryBound(to: UnsafeRawBufferPointer.self))
            var taken = 0
            for _ in 0..<records {
                let piece = cursor.next(atMost: Self.recordLimit, scratch: scratch.room)
                guard !piece.isEmpty else { break }
                var count = 0
                ERR_clear_error()
                let status = SSL_write_ex(state.ssl, piece.baseAddress, piece.count, &count)
                guard status == 1 else { return (taken, state.outcome(status)) }
                state.exchange.outgoing.mark(plain: count)
                taken += count
            }
            return (taken, .done)
        }
    }

    /// Writes close_notify to `outgoing`, once.
    func sendCloseNotify() {
        state.withLock { state in
            guard state.failure == nil, SSL_in_init(state.ssl) == 0 else { return }
            ERR_clear_error()
            SSL_shutdown(state.ssl)
            ERR_clear_error()
        }
    }

    // MARK: The wire

    /// Encrypted bytes for the peer, lent until the next call.
    var outgoing: LentBytes {
        state.withLock { state in state.exchange.outgoing.count == 0 ? .none : LentBytes(state.exchange.outgoing.bytes)
        }
    }

    /// Removes `count` encrypted bytes that the kernel accepted. Returns the number of plaintext bytes whose records it
    /// now has completely.
    func sent(_ count: Int) -> Int {
        state.withLock { $0.exchange.outgoing.consume(count) }
    }

    /// Frees the memory of `outgoing`, since nothing more is sent for now.
    func releaseOutgoing() {
        state.withLock { $0.exchange.outgoing.release() }
    }

    // MARK: Facts

    /// Returns the alerts that were sent or received since the last call.
    func takeAlerts() -> [Alert] {
        state.withLock { state in
            let alerts = state.exchange.alerts.map { Alert(number: $0.number, isOurs: $0.isOurs) }
            if !alerts.isEmpty { state.exchange.alerts = [] }
            return alerts
        }
    }

    /// Returns the key log lines added since the last call.
    func takeSecrets() -> [String] {
        state.withLock { state in
            defer { if !state.exchange.secrets.isEmpty { state.exchange.secrets = [] } }
            return state.exchange.secrets
        }
    }

    /// Whether the user asked for a key log.
    var logsSecrets: Bool { state.withLock { $0.exchange.context.keyLog != nil } }

    var hasSentCloseNotify: Bool { state.withLock { SSL_get_shutdown($0.ssl) & co_close_notify_sent != 0 } }
    var hasReceivedCloseNotify: Bool { state.withLock { SSL_get_shutdown($0.ssl) & co_close_notify_received != 0 } }

    /// The chain that the peer has presented so far, and its verification result.
    var certificates: (chain: [TLSCertificate], verification: TLSVerification?) {
        state.withLock { (TLSCertificates.chain(of: $0.ssl), $0.exchange.verification) }
    }

    /// The facts about the session. Valid once the handshake is complete.
    var facts: Facts {
        state.withLock { state in
            let ssl = state.ssl
            var name: UnsafePointer<UInt8>?
            var length: UInt32 = 0
            SSL_get0_alpn_selected(ssl, &name, &length)
            let alpn = UnsafeBufferPointer(start: name, count: Int(length))
            return Facts(
                version: String(cString: SSL_get_version(ssl)),
                cipher: SSL_CIPHER_get_name(SSL_get_current_cipher(ssl)).map { String(cString: $0) } ?? "-",
                group: co_group(ssl).map { String(cString: $0) },
                applicationProtocol: alpn.isEmpty ? nil : String(decoding: alpn, as: UTF8.self),
                serverName: SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) },
                chain: TLSCertificates.chain(of: ssl), verification: state.verification,
                isResumed: SSL_session_reused(ssl) == 1)
        }
    }
}

extension TLSSession.State {
    /// The verification result of the peer's certificate. A resumed session keeps the result of its first handshake.
    fileprivate var verification: TLSVerification {
        if let verification = exchange.verification { return verification }
        guard SSL_get0_peer_certificate(ssl) != nil else { return .none }
        let code = SSL_get_verify_result(ssl)
        if code == 0 {
            if case .pinned = exchange.context.settings.trust { return .pinned }
            return .passed
        }
        return .notRequired(code: code, text: String(cString: X509_verify_cert_error_string(code)))
    }

    /// Returns the outcome of an OpenSSL call that did not succeed.
    fileprivate mutating func outcome(_ status: Int32) -> TLSSession.Outcome {
        if let failure { return .failed(failure) }
        switch SSL_get_error(ssl, status) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .wantsBytes
        case SSL_ERROR_ZERO_RETURN: return .closed
        default:
            let found = reason
            failure = found
            return .failed(found)
        }
    }

    private var reason: TLSFailure {
        let text = TLSReasons.take()
        if case .failed(let code, let problem)? = exchange.verification {
            return exchange.isAcceptedByHand == false ? .refused : .untrusted(code: code, text: problem)
        }
        if let alert = exchange.alerts.last(where: { !$0.isOurs && $0.number != 0 }) {
            return .alert(alert.number, name: TLSFailure.alertName(alert.number))
        }
        return .library(reason: PlainOpening.sentence(exchange.opening) ?? text)
    }
}

/// Walks over buffers in pieces of a bounded size.
struct BufferCursor {
    private let buffers: UnsafeBufferPointer<UnsafeRawBufferPointer>
    private var index = 0
    private var offset = 0

    init(_ buffers: UnsafeBufferPointer<UnsafeRawBufferPointer>) {
        self.buffers = buffers
    }

    /// Returns the next piece, or an empty one at the end. It borrows the current buffer if that fills the piece or is
    /// the last, and otherwise copies from several buffers into `scratch`, which has room for `limit` bytes.
    mutating func next(atMost limit: Int, scratch: UnsafeMutableRawBufferPointer) -> UnsafeRawBufferPointer {
        skipEmpty()
        guard index < buffers.count else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let rest = UnsafeRawBufferPointer(rebasing: buffers[index][offset...])
        if rest.count >= limit || index + 1 == buffers.count {
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(limit))
            offset += piece.count
            return piece
        }
        var filled = 0
        while filled < limit, index < buffers.count {
            let rest = buffers[index][offset...].prefix(limit - filled)
            UnsafeMutableRawBufferPointer(rebasing: scratch[filled...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: rest))
            filled += rest.count
            offset += rest.count
            skipEmpty()
        }
        return UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(scratch)[..<filled])
    }

    private mutating func skipEmpty() {
        while index < buffers.count, offset == buffers[index].count {
            index += 1
            offset = 0
        }
    }
}
