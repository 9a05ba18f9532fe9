import CSocketKitSystem
import SocketCore

/// The environment, as far as it can be trusted. In a program that has more rights than its caller (set-uid, set-gid,
/// capabilities), every variable is absent, because the caller must not choose where such a program writes, or what it
/// opens.
enum ProcessEnvironment {
    /// The value of a variable, or `nil` if it is not set or must not be trusted.
    static subscript(name: String) -> String? {
        csystem_secure_getenv(name).map { String(native: $0) }
    }
}
