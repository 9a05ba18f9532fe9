import Glibc
import SocketKit

/// Whether this program has more rights than its user, as under sudo. It must then not become a shell, nor a way to
/// read and write files: it reads and writes no file that the user names, keeps nothing and starts no editor.
package enum Elevation {
    private static let state = Lock(false)

    /// - Parameter isWanted: whether the command line requests it (`--secure`).
    package static func judge(isWanted: Bool) {
        let user = EnvironmentVariables.value(of: "SUDO_UID").flatMap { UInt32($0) }
        // A value that isn't a number is suspicious, so it counts as another user.
        let isSudo = geteuid() == 0 && getenv("SUDO_UID") != nil && user != 0
        state.withLock { $0 = isWanted || isSudo }
    }

    /// The user who ran this program through sudo, as reported by sudo, or `nil` if there is none.
    package static var sudoUser: UInt32? {
        geteuid() == 0 ? EnvironmentVariables.value(of: "SUDO_UID").flatMap { UInt32($0) } : nil
    }

    package static var isRestricted: Bool { state.withLock { $0 } }

    /// The reason why files and editors are disabled, or `nil` if they are not.
    package static var refusal: String? {
        isRestricted ? "files and editors are off under sudo and with --secure" : nil
    }
}
