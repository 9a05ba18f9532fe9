import CSocketKitOpenSSL

/// The OpenSSL library in this process.
enum OpenSSL {
    /// Whether OpenSSL can be used. Contexts and digests check this first, and everything else needs a context.
    ///
    /// By default OpenSSL registers a handler with `atexit` that frees memory still used by its functions and by ending
    /// threads. An engine's thread is detached, so a process that exits at that moment would crash. The kernel frees
    /// that memory anyway. Only the first call in a process counts, so a program that initializes OpenSSL itself
    /// overrides this choice. See OPENSSL_init_crypto(3).
    static let isReady = OPENSSL_init_ssl(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
