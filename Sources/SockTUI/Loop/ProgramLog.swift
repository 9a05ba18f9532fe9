import Glibc
import InspectorCore
import InspectorShell
import SocketKit

/// The program's messages about itself, on the events screen and in a log file if one was requested. Never on stderr,
/// which the screen uses.
final class ProgramLog: Sendable {
    private let inbox: Inbox
    private let file: Int32

    /// - Parameter path: the file to append to, or an empty path for none. If it can't be opened, the log says so.
    init(_ path: String, _ inbox: Inbox) {
        self.inbox = inbox
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK
        file = path.isEmpty ? -1 : path.withNative { open($0, flags, 0o600) }
        if !path.isEmpty, file < 0 { note("the log \(path) cannot be opened: \(String(cString: strerror(errno)))") }
    }

    deinit {
        if file >= 0 { close(file) }
    }

    /// Adds a line. Can be called on any thread.
    func note(_ text: String) {
        inbox.post(.note(text, at: SystemClock().now))
        guard file >= 0 else { return }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let time = Format.instant(wallNanoseconds: Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec))
        FileOutput.write("\(time) \(Sanitizer(isASCII: false).text(text))\n", to: file)
    }
}
