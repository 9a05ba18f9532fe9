import CSocketKitSystem

/// A reference that does not retain its object, as `weak` is, but faster.
///
/// A `weak` reference moves the counts of its object to a side table for good, after which every strong reference costs several
/// times as much. This one counts in the object itself.
///
/// Proof: the unowned count, taken while the caller retained the object, keeps its memory until this value is destroyed. So the
/// address is that of an object of this type, alive or not. `swift_tryRetain` retains it unless its `deinit` has begun, as
/// `weak` does, and the caller receives that retain. Both counts are atomic and nothing here changes, so any thread may ask.
/// `Reference` is one word, or two words of which the second is a conformance; anything else traps.
///
/// Other modules inline it, since they would otherwise look up the memory layout of `Reference` at each call.
@usableFromInline package struct UnretainedReference<Reference>: ~Copyable {
    /// Words as they lie in memory; 0: no object.
    @usableFromInline typealias Words = (object: UInt, conformance: UInt)
    @usableFromInline let words: Words

    /// Refers to an object, or to nothing.
    @inlinable package init(_ reference: Reference? = nil) {
        var words = Words(0, 0)
        if let reference {
            assert(type(of: reference as Any) is AnyClass, "\(Reference.self) is not a reference")
            withUnsafeMutablePointer(to: &words) {
                let place = UnsafeMutableRawPointer($0).assumingMemoryBound(to: Reference.self)
                place.initialize(to: reference)
                _ = swift_unownedRetain(UnsafeMutableRawPointer(bitPattern: $0.pointee.object))
                place.deinitialize(count: 1)
            }
        }
        self.words = words
    }

    @inlinable deinit {
        if words.object != 0 { swift_unownedRelease(UnsafeMutableRawPointer(bitPattern: words.object)) }
    }

    /// The object, retained; `nil` once its `deinit` has begun.
    @inlinable package var reference: Reference? {
        @inline(__always) get {
            guard words.object != 0, swift_tryRetain(UnsafeMutableRawPointer(bitPattern: words.object)) != nil else {
                return nil
            }
            var words = words
            return withUnsafeMutablePointer(to: &words) {
                UnsafeMutableRawPointer($0).assumingMemoryBound(to: Reference.self).move()
            }
        }
    }
}

extension UnretainedReference: Sendable where Reference: Sendable {}
