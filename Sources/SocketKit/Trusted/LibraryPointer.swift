/// A pointer to an object of OpenSSL that passes into or out of `withLock`, which Swift allows no pointer to do.
///
/// Proof: it is made from a pointer and returns that pointer; nothing is computed with the address. Which thread may use the
/// object is OpenSSL's contract. A BIO_METHOD never changes once it is made. An SSL_CTX, once set up, and an SSL_SESSION may be
/// shared, and their reference counts are atomic. An SSL has one user at a time: the function that makes it, and from then on
/// the code that holds the lock of its `TLSSession`.
struct LibraryPointer: Sendable {
    private let address: UInt

    /// Holds the pointer, which is `nil` if the library was out of memory.
    init(_ pointer: OpaquePointer?) { address = UInt(bitPattern: pointer) }

    /// The pointer this was made from.
    var pointer: OpaquePointer? { OpaquePointer(bitPattern: address) }
}
