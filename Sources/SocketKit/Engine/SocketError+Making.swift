import Glibc
import SocketCore

extension SocketError {
    /// Returns the error of a failed system call: `connect 127.0.0.1:1: Connection refused`. If no descriptor is left,
    /// it names the limit.
    static func system(
        _ errno: Int32, operation: String, subject: Subject, attempts: [Attempt] = []
    ) -> SocketError {
        var error = SocketError(.system(errno: errno), operation: operation, subject: subject, attempts: attempts)
        var limit = rlimit()
        if errno == EMFILE, getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            let words = words(errno)
            error.detail = error.detail.replacing(words, with: "\(words); the limit is \(limit.rlim_cur)")
        }
        return error
    }

    static func system(_ errno: Int32, operation: String, subject: String) -> SocketError {
        .system(errno, operation: operation, subject: .name(subject))
    }

    static func system(_ errno: Int32, operation: String, subject: SocketAddress) -> SocketError {
        .system(errno, operation: operation, subject: .address(subject))
    }

    static func refused(_ operation: String, _ detail: String) -> SocketError {
        SocketError(.badParameter, operation: operation, detail: detail)
    }
}
