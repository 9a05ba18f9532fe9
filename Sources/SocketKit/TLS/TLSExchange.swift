import CSocketKitOpenSSL
import SocketCore

/// What OpenSSL's callbacks read and write while one of its calls is under way: the bytes of the wire, the verdict on
/// the peer's certificate, and what was said in alerts. One for each session, which owns it; OpenSSL holds a pointer.
final class TLSExchange {
    let context: TLSContext
    /// Names the peer in the store of sessions to resume; nil: none is kept.
    let sessionKey: String?
    let askedName: String?
    let expectedName: String?

    /// Encrypted bytes from the peer, lent for the length of the call.
    var incoming = UnsafeRawBufferPointer(start: nil, count: 0)
    /// Encrypted bytes of an earlier call that OpenSSL has not taken yet; they come before `incoming`.
    var leftover = PreBuffer()
    /// Encrypted bytes for the peer.
    var outgoing = OutgoingRecords()

    /// What a person said of the peer's certificate.
    var isAcceptedByHand: Bool?
    /// What is to be asked about the peer's certificate; it gets its name where it is asked.
    var question: TLSTrust?
    /// Why OpenSSL would have refused the certificate that was asked about.
    var askedProblem: String?
    /// What OpenSSL found about the certificate; nil: it has not looked.
    var verification: TLSVerification?

    /// Alerts in the order in which they passed, since somebody last asked.
    var alerts: [(number: UInt8, isOurs: Bool)] = []

    /// Lines for a key log, where there is one, since somebody last asked.
    var secrets: [String] = []

    init(context: TLSContext, sessionKey: String?, askedName: String?, expectedName: String?) {
        self.context = context
        self.askedName = askedName
        self.sessionKey = sessionKey
        self.expectedName = expectedName
    }

    /// Gives OpenSSL what there is, at most `room`; 0: there is nothing.
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

    /// The loan is over: what OpenSSL has not taken is kept.
    func keepRest() {
        if !incoming.isEmpty { leftover.append(incoming) }
        incoming = UnsafeRawBufferPointer(start: nil, count: 0)
    }
}

// MARK: - The BIO

/// OpenSSL's way to the wire: a BIO that never touches a descriptor.
enum TLSWire {
    /// Made once for the process; it lives as long as that.
    static let method = Method()

    /// A BIO_METHOD, which never changes once made.
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

    /// A BIO over this exchange, which must outlive it.
    static func bio(_ exchange: TLSExchange) -> OpaquePointer? {
        let bio = BIO_new(method.address.pointer)
        BIO_set_data(bio, CallbackObject.lend(exchange))
        return bio
    }

    private static func exchange(_ bio: OpaquePointer?) -> TLSExchange? {
        BIO_get_data(bio).map { CallbackObject<TLSExchange>.object($0) }
    }
}
