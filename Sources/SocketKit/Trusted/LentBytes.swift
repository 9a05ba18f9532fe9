/// Bytes that are lent for the length of one call, or until the next call of whoever lends them.
///
/// It holds an address and no pointer, since a lock's content may not be handed a pointer that the compiler sees staying with
/// the caller.
///
/// Proof: it is made from a buffer and gives that buffer back. It is passed down the stack only: the caller, who owns the
/// buffer, waits until the call has returned, and nobody keeps it.
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
