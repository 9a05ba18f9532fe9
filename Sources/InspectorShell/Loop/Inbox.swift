import Glibc
import InspectorCore
import SocketKit

/// Messages from other threads for the run loop, and the pipe that wakes it. A zero byte announces messages. Any other
/// byte is a signal number.
package final class Inbox: Sendable {
    /// The end that signal handlers write to.
    package let writeEnd: Int32
    /// The end that the run loop polls.
    package let readEnd: Int32
    private let messages = Lock<[Message]>([])

    /// Throws if no descriptors are left.
    package init() throws(SocketError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw SocketError(.system(errno: errno), operation: "pipe", detail: "pipe: \(SocketError.words(errno))")
        }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Posts a message and wakes the run loop. Never waits. Can be called on any thread.
    package func post(_ message: Message) {
        let wasEmpty = messages.withLock {
            $0.append(message)
            return $0.count == 1
        }
        if wasEmpty { wake() }
    }

    /// Wakes the run loop. Never waits. Can be called on any thread.
    package func wake() {
        var zero: UInt8 = 0
        write(writeEnd, &zero, 1)
    }

    /// Returns all messages posted since the last call, in order.
    package func take() -> [Message] {
        messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }

    /// Empties the pipe. Returns the signals that were in it, in order.
    package func takeSignals() -> [Int32] {
        var signals: [Int32] = []
        var bytes = [UInt8](repeating: 0, count: 64)
        while case let count = read(readEnd, &bytes, bytes.count), count > 0 {
            signals += bytes[..<count].filter { $0 != 0 }.map(Int32.init)
        }
        return signals
    }
}
