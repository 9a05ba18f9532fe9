/// Bytes that are lent for the duration of one call.
///
/// Holds an address instead of a pointer, since Swift lets no pointer pass into or out of `withLock`.
///
/// Proof: it is made from a buffer and returns that buffer. As an argument, it is valid because the caller owns the buffer and
/// waits for the call to return, and no callee keeps it. As a result there is one, `TLSSession.outgoing`: it is valid until the
/// session encrypts, decrypts or counts bytes as sent, and the connection sends and tapes the bytes before it asks for that.
struct LentBytes: Sendable {
    private let address: UInt
    let count: Int

    static let none = LentBytes(UnsafeRawBufferPointer(start: nil, count: 0))

    init(_ bytes: UnsafeRawBufferPointer) {
        (address, count) = (UInt(bitPattern: bytes.baseAddress), bytes.count)
    }

    init(_ bytes: UnsafeMutableRawBufferPointer) {
        self.init(UnsafeRawBufferPointer(bytes))
    }

    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: count)
    }

    var room: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: UnsafeMutableRawPointer(bitPattern: address), count: count)
    }
}
