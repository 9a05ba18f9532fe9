/// The pointer to an object of a C library, on its way from one function to another.
///
/// Swift lets no pointer into a lock or out of it, since it does not know whose the memory is. This holds the address.
///
/// Proof: it is made from a pointer, and gives that pointer back; nothing is computed with it. Whether the library's object may
/// be used on another thread is the library's contract: those that pass here are a BIO_METHOD, which never changes, and
/// contexts and sessions of OpenSSL, each of which is used under the lock that owns it.
struct LibraryPointer: Sendable {
    private let address: UInt

    /// `nil`: what a library returns when it is out of memory.
    init(_ pointer: OpaquePointer?) { address = UInt(bitPattern: pointer) }

    /// The pointer that this was made from.
    var pointer: OpaquePointer? { OpaquePointer(bitPattern: address) }
}
