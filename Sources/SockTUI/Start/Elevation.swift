import Glibc
import SocketKit

/// Whether this program has more rights than the user at its keys, as under sudo. Then it must not become a shell, nor a
/// way to read and write files: it reads and writes none that the user names, keeps nothing and starts no editor.
enum Elevation {
    private static let state = Lock(false)

    /// - Parameter isWanted: whether the command line asks for it (`--secure`).
    static func judge(isWanted: Bool) {
        let user = getenv("SUDO_UID").flatMap { UInt32(String(cString: $0)) }
        // What is not a number says nothing good about who set it.
        let isSudo = geteuid() == 0 && getenv("SUDO_UID") != nil && user != 0
        state.withLock { $0 = isWanted || isSudo }
    }

    /// Who ran this program through sudo, as sudo says; `nil`: nobody did.
    static var sudoUser: UInt32? {
        geteuid() == 0 ? getenv("SUDO_UID").flatMap { UInt32(String(cString: $0)) } : nil
    }

    static var isRestricted: Bool { state.withLock { $0 } }

    /// Why no file is read or written and no editor started; `nil`: they are.
    static var refusal: String? {
        isRestricted ? "files and editors are off under sudo and with --secure" : nil
    }
}
