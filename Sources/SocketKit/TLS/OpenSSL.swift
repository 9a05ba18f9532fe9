import CSocketKitOpenSSL

/// The library, as this process uses it.
enum OpenSSL {
    /// Whether it may be used. Contexts and digests ask this first; everything else needs a context.
    ///
    /// On its own it registers a handler with `atexit` that frees what its functions and the ends of threads still use. An
    /// engine's thread is detached, so a process that exits just then would crash. What it would free, the kernel frees.
    /// Only the first call in a process counts: a program that uses OpenSSL itself decides for us. See
    /// OPENSSL_init_crypto(3).
    static let isReady = OPENSSL_init_ssl(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
