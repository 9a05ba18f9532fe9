import CSocketKitOpenSSL
import SocketCore

/// The data that OpenSSL's callbacks read and write during an OpenSSL call: encrypted bytes, the verdict on the peer's
/// certificate, and alerts. Each session owns one, and OpenSSL holds a pointer to it.
final class TLSExchange {
    let context: TLSContext
    /// The peer's key in the store of resumable sessions, or `nil` if its sessions aren't stored.
    let sessionKey: String?
    let askedName: String?
    let expectedName: String?

    /// Encrypted bytes from the peer, lent for the length of the call.
    var incoming = UnsafeRawBufferPointer(start: nil, count: 0)
    /// Encrypted bytes of an earlier call that OpenSSL has not consumed yet. They precede `incoming`.
    var leftover = PreBuffer()
    /// Encrypted bytes for the peer.
    var outgoing = OutgoingRecords()

    /// The user's verdict on the peer's certificate.
    var isAcceptedByHand: Bool?
    /// The pending question about the peer's certificate. It gets its identifier where it is asked.
    var question: TLSTrust?
    /// Why OpenSSL would have rejected the certificate in question.
    var askedProblem: String?
    /// OpenSSL's verification result, or `nil` if it has not verified the certificate yet.
    var verification: TLSVerification?

    /// The alerts sent and received since they were last taken, in order.
    var alerts: [(number: UInt8, isOurs: Bool)] = []

    /// The first bytes from the peer, until the handshake is complete.
    private(set) var opening: [UInt8] = []

    /// The key log lines since they were last taken, if there is a key log.
    var secrets: [String] = []

    init(context: TLSContext, sessionKey: String?, askedName: String?, expectedName: String?) {
        self.context = context
        self.askedName = askedName
        self.sessionKey = sessionKey
        self.expectedName = expectedName
    }

    /// Copies encrypted bytes to `room` until it is full. Returns the number copied, or 0 if there are none.
    func take(into room: UnsafeMutableRawBufferPointer) -> Int {
        if !leftover.isEmpty {
            let count = min(room.count, leftover.count)
            leftover.withUnsafeBytes { room.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            leftover.consume(count)
            return count
        }
        let count = min(room.count, incoming.count)
        guard count > 0 else { return 0 }
        room.copyMemory(from: UnsafeRawBufferPointer(rebasing: incoming[..<count]))
        incoming = UnsafeRawBufferPointer(rebasing: incoming[count...])
        return count
    }

    /// Keeps the first bytes from the peer, which say what it speaks instead of TLS.
    func noteOpening(_ bytes: UnsafeRawBufferPointer) {
        opening += bytes.prefix(PlainOpening.limit - opening.count)
    }

    /// Frees the first bytes.
    func forgetOpening() { opening = [] }

    /// Ends the loan: bytes that OpenSSL has not consumed are copied.
    func keepRest() {
        if !incoming.isEmpty { leftover.append(incoming) }
        incoming = UnsafeRawBufferPointer(start: nil, count: 0)
    }
}

// MARK: - The BIO

/// OpenSSL's connection to the wire: a BIO that never touches a descriptor.
enum TLSWire {
    /// The one BIO_METHOD, which lives as long as the process.
    static let method = Method()

    /// A BIO_METHOD, which is immutable once created.
    struct Method: Sendable {
        let address: LibraryPointer

        init() {
            let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "SocketKit")
            BIO_meth_set_read_ex(method) { bio, bytes, count, taken in
                guard let exchange = TLSWire.exchange(bio), let bytes else { return 0 }
                let got = exchange.take(into: UnsafeMutableRawBufferPointer(start: bytes, count: count))
                taken?.pointee = got
                if got == 0 { co_would_block(bio) } else { co_clear_retry(bio) }
                return got == 0 ? 0 : 1
            }
            BIO_meth_set_write_ex(method) { bio, bytes, count, written in
                guard let exchange = TLSWire.exchange(bio), let bytes else { return 0 }
                exchange.outgoing.append(UnsafeRawBufferPointer(start: bytes, count: count))
                written?.pointee = count
                return 1
            }
            BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
            BIO_meth_set_create(method) { bio in
                BIO_set_init(bio, 1)
                return 1
            }
            address = LibraryPointer(method)
        }
    }

    /// Returns a BIO over this exchange, which must outlive it.
    static func bio(_ exchange: TLSExchange) -> OpaquePointer? {
        let bio = BIO_new(method.address.pointer)
        BIO_set_data(bio, CallbackObject.lend(exchange))
        return bio
    }

    private static func exchange(_ bio: OpaquePointer?) -> TLSExchange? {
        BIO_get_data(bio).map { CallbackObject<TLSExchange>.object($0) }
    }
}
