import Synchronization

/// Keeps a type that has a stored property of this type at a fixed address. Such a type is always passed by address.
/// Otherwise a call from another module that only reads it would copy the whole value first.
struct InPlace: ~Copyable, Sendable {
    private let anchor = Atomic<UInt8>(0)
}
