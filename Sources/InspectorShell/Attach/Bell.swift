import Glibc

/// Wakes a thread that is waiting in poll.
package final class Bell: Sendable {
    /// The descriptor that the thread polls.
    package let readEnd: Int32
    private let writeEnd: Int32

    /// - Throws: the reason if no descriptor is available.
    package init() throws(AttachError) {
        var ends: [Int32] = [-1, -1]
        let kind = [SOCK_STREAM, SOCK_NONBLOCK, SOCK_CLOEXEC].reduce(0) { $0 | Int32($1.rawValue) }
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw AttachError(sentence: "no file descriptors are left")
        }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Wakes the thread. Can be called on any thread.
    package func ring() {
        var one: UInt8 = 1
        write(writeEnd, &one, 1)
    }

    /// Discards all rings so far.
    package func silence() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(readEnd, &bytes, bytes.count) > 0 {}
    }
}
