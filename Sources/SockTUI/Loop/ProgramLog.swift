import Glibc
import InspectorCore
import SocketKit

/// What the program has to say about itself: on the events' screen, and in a file where one was asked for. Never on
/// stderr, which is the screen's while there is one.
final class ProgramLog: Sendable {
    private let inbox: Inbox
    private let file: Int32

    /// - Parameter path: the file, to which lines are added; empty: none. One that cannot be opened is said so in the log.
    init(_ path: String, _ inbox: Inbox) {
        self.inbox = inbox
        file = path.isEmpty ? -1 : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        if !path.isEmpty, file < 0 { note("the log \(path) cannot be opened: \(String(cString: strerror(errno)))") }
    }

    deinit {
        if file >= 0 { close(file) }
    }

    /// Adds a line; from any thread.
    func note(_ text: String) {
        inbox.post(.note(text, at: SystemClock().now))
        guard file >= 0 else { return }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let time = Format.instant(wallNanoseconds: Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec))
        FileOutput.write("\(time) \(Sanitizer(isASCII: false).text(text))\n", to: file)
    }
}
