import Glibc

/// The variables that this process was started with.
package enum EnvironmentVariables {
    /// Returns an environment variable, or `nil` if it is empty.
    package static func value(of name: String) -> String? { text(getenv(name)) }

    package static func text(_ text: UnsafePointer<CChar>?) -> String? {
        text.map { String(native: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
