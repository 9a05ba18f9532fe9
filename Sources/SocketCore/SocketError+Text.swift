import Glibc

/// The text of an error is created on request, since most errors only end a connection and are never read.
extension SocketError {
    /// The parts of an error's text.
    package enum Subject: Equatable, Sendable {
        /// The whole text.
        case sentence(String)
        /// The subject of a system call. The message of its errno follows.
        case name(String)
        /// The address of a system call. The message of its errno follows.
        case address(SocketAddress)
    }

    /// One sentence for the user that names the invalid argument or the address. It is created on each access.
    public var detail: String {
        get {
            switch subject {
            case .sentence(let sentence): sentence
            case .name(let name): "\(name): \(words)"
            case .address(let address): "\(address): \(words)"
            }
        }
        set { subject = .sentence(newValue) }
    }

    private var words: String {
        guard case .system(let errno) = reason else { return "\(reason)" }
        let others = attempts.count > 1 ? " (the last of \(attempts.count) addresses tried)" : ""
        return Self.words(errno) + others
    }

    /// Returns the C library's message for an errno.
    package static func words(_ errno: Int32) -> String { String(cString: strerror(errno)) }
}

extension SocketError: Hashable {
    /// Whether two errors report the same, however their texts were created.
    public static func == (left: SocketError, right: SocketError) -> Bool {
        if left.isCopy(of: right) { return true }
        return left.reason == right.reason && left.operation == right.operation && left.attempts == right.attempts
            && left.transferred == right.transferred && left.received == right.received
            && (left.subject == right.subject || left.detail == right.detail)
    }

    /// Hashes everything except the text.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(reason)
        hasher.combine(operation)
        hasher.combine(attempts)
        hasher.combine(transferred)
        hasher.combine(received)
    }
}
