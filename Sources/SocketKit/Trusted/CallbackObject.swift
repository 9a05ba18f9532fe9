/// An object as the pointer that a C library keeps, and passes to the callbacks that it makes.
///
/// Proof: whoever makes one says what retains the object for as long as the library has the pointer. There is one:
/// - The exchange of a TLS session, for OpenSSL's session and for its BIO. `TLSSession` owns both sessions and frees OpenSSL's
///   before it releases the exchange.
///
/// The type is that of the object that was lent, since each of these pointers is read with the same type that it was made with;
/// in a debug build the class is checked.
enum CallbackObject<Object: AnyObject> {
    /// The pointer for the library. It is not retained.
    static func lend(_ object: Object) -> UnsafeMutableRawPointer { Unmanaged.passUnretained(object).toOpaque() }

    /// The object of such a pointer.
    static func object(_ pointer: UnsafeMutableRawPointer) -> Object {
        let object = Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
        assert(object is Object, "a callback's object is no \(Object.self)")
        return unsafeDowncast(object, to: Object.self)
    }
}
