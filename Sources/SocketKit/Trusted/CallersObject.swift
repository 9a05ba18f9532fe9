/// A caller's object whose class need not be `Sendable`, in transit to the queue that the caller named for it.
///
/// Delegates of an API from before Swift 6 are such objects, since their protocols promise nothing about isolation.
///
/// Proof: this struct never uses the object. It copies only the reference, and reference counts are atomic. The object is used
/// on the queue that the caller passed with it, which is the contract of those APIs.
package struct CallersObject<Object>: @unchecked Sendable {
    /// The object, to be used on the caller's queue only.
    package let object: Object

    /// Refers to an object, which is retained.
    package init(_ object: Object) { self.object = object }
}

/// A `CallersObject` that is held weakly.
///
/// Proof: as for `CallersObject`. A weak reference may be read on any thread while nobody writes it, and the lock of its owner
/// prevents that.
package struct WeakCallersObject<Object>: @unchecked Sendable {
    private weak var reference: AnyObject?

    /// Refers to an object of a class, or to nothing.
    package init(_ object: Object? = nil) { reference = object.map { $0 as AnyObject } }

    /// The object, retained, to be used on the caller's queue only; `nil` once it is gone.
    package var object: Object? { reference as? Object }
}
