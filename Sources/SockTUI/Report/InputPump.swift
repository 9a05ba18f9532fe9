import Glibc
import InspectorCore
import InspectorShell
import SocketKit

/// Sends standard input to one connection, piece by piece, and FIN at its end.
///
/// A piece is read once the kernel has accepted the previous one, so a peer that does not read stops the pump.
final class InputPump: Sendable {
    private let sources: SourceList
    private let executor = QueueExecutor()
    private let problems = Lock<String?>(nil)

    private static let pieceLength = 64 << 10

    init(sources: SourceList) { self.sources = sources }

    /// The reason why standard input was not sent in full, or `nil` if no problem is known.
    var problem: String? { problems.withLock { $0 } }

    /// Whether standard input is a pipe with bytes that nobody has read. A file may be what a shell's loop reads.
    static var hasBytes: Bool {
        var (facts, count) = (stat(), Int32(0))
        guard fstat(STDIN_FILENO, &facts) == 0, facts.st_mode & S_IFMT == S_IFIFO else { return false }
        return ioctl(STDIN_FILENO, UInt(FIONREAD), &count) == 0 && count > 0
    }

    /// Starts sending. Returns before anything is sent.
    func start(_ id: SocketID) {
        Task(executorPreference: executor) { [self] in
            do {
                while let piece = read() { try await send(piece, to: id) }
                sources.perform(.halfClose(id))
            } catch {
                problems.withLock { $0 = "standard input: the connection ended before all of it was sent" }
            }
        }
    }

    /// Never inlined, because the Swift 6.3.1 optimizer crashes on loops that contain such a call.
    @inline(never)
    private func send(_ piece: [UInt8], to id: SocketID) async throws {
        try await sources.opener(of: id).write(WriteRequest(piece), to: id.own)
    }

    /// Returns the available bytes, or `nil` at the end.
    private func read() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: Self.pieceLength)
        while true {
            let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
            if count > 0 { return Array(buffer[..<count]) }
            if count == 0 { return nil }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // Another process that shares the descriptor made it nonblocking.
                var polled = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                poll(&polled, 1, -1)
            case let number:
                problems.withLock { $0 = "standard input: \(String(cString: strerror(number)))" }
                return nil
            }
        }
    }
}
