import CSockTUIRun
import Glibc
import SocketKit

/// What the engine tells the thread that answers a program's calls.
final class ConnectInbox: Sendable {
    enum Message: Sendable {
        case progress(cookie: UInt64, ConnectRelay.Progress)
        /// No call is answered any longer.
        case stop
    }

    private let messages = Lock<[Message]>([])
    /// Readable while there are messages.
    let event: Int32

    init() { event = crun_event() }

    deinit { close(event) }

    func post(_ message: Message) {
        messages.withLock { $0.append(message) }
        var one: UInt64 = 1
        _ = write(event, &one, MemoryLayout.size(ofValue: one))
    }

    func take() -> [Message] {
        var count: UInt64 = 0
        _ = read(event, &count, MemoryLayout.size(ofValue: count))
        return messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}
