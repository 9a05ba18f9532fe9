import Synchronization

/// Makes a type that holds one stay where it is: such a type is always passed by its address, where a call from another
/// module that only looks at it would otherwise copy all of it first.
struct InPlace: ~Copyable, Sendable {
    private let anchor = Atomic<UInt8>(0)
}
