/// A pointer to an object of a C library that passes into or out of `withLock`, which Swift allows no pointer to do.
///
/// Proof: it is made from a pointer and returns that pointer; nothing is computed with the address. Which thread may
/// use the object is the library's contract. OpenSSL: a BIO_METHOD never changes once it is made. An SSL_CTX, once set
/// up, and an SSL_SESSION may be shared, and their reference counts are atomic. An SSL has one user at a time: the
/// function that makes it, and from then on the code that holds the lock of its `TLSSession`. The calls of a traced
/// program have one reader at a time, which holds the lock of its `CallTap`.
package struct LibraryPointer: Sendable {
    private let address: UInt

    /// Holds the pointer, which is `nil` if the library was out of memory.
    package init(_ pointer: OpaquePointer?) { address = UInt(bitPattern: pointer) }

    /// The pointer this was made from.
    package var pointer: OpaquePointer? { OpaquePointer(bitPattern: address) }
}
