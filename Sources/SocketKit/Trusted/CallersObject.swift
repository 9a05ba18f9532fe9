/// An object of the caller's whose class need not be `Sendable`, on its way to the queue that the caller named for it.
///
/// Delegates of an API from before Swift 6 are such objects: their protocols promise nothing about isolation.
///
/// Proof: this struct never touches the object; only its reference is copied, and reference counts are atomic. What is done
/// with the object is done on the queue that the caller gave together with it, which is the contract of those APIs.
package struct CallersObject<Object>: @unchecked Sendable {
    /// The object, to be used on the caller's queue only.
    package let object: Object

    /// Refers to an object, which is retained.
    package init(_ object: Object) { self.object = object }
}

/// The same, not retained.
///
/// Proof: as above; and a weak reference may be read on any thread, as long as it is not written at the same time, which its
/// owner's lock prevents.
package struct WeakCallersObject<Object>: @unchecked Sendable {
    private weak var reference: AnyObject?

    /// Refers to an object of a class, or to nothing.
    package init(_ object: Object? = nil) { reference = object.map { $0 as AnyObject } }

    /// The object, retained, to be used on the caller's queue only; `nil` once it is gone.
    package var object: Object? { reference as? Object }
}
