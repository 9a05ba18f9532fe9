/// An object as the context pointer that a C library keeps and passes to its callbacks.
///
/// Proof: something retains the object for as long as the library has the pointer. There is one such object, the exchange of
/// a TLS session, for OpenSSL's SSL and its BIO. `TLSSession` owns the SSL and the exchange, and frees the SSL before it
/// releases the exchange. Each pointer is read as the type it was made from; a debug build checks the class.
enum CallbackObject<Object: AnyObject> {
    /// Returns the pointer for the library. The object is not retained.
    static func lend(_ object: Object) -> UnsafeMutableRawPointer { Unmanaged.passUnretained(object).toOpaque() }

    /// Returns the object that a pointer of `lend(_:)` stands for.
    static func object(_ pointer: UnsafeMutableRawPointer) -> Object {
        let object = Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
        assert(object is Object, "a callback's object is not a \(Object.self)")
        return unsafeDowncast(object, to: Object.self)
    }
}
