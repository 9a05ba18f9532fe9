import Glibc
import InspectorCore
import SocketKit

/// Sends standard input to one connection, piece by piece, and FIN at its end.
///
/// A piece is read once the kernel has the one before, so a peer that does not read stops it.
final class InputPump: Sendable {
    private let sources: SourceList
    private let executor = QueueExecutor()
    private let problems = Lock<String?>(nil)

    private static let pieceLength = 64 << 10

    init(sources: SourceList) { self.sources = sources }

    /// Why not all of it was sent; nil: nothing is known against it.
    var problem: String? { problems.withLock { $0 } }

    /// Begins; nothing of it is done when this returns.
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

    /// Never inlined: the optimizer of Swift 6.3.1 crashes on loops with such a call in them.
    @inline(never)
    private func send(_ piece: [UInt8], to id: SocketID) async throws {
        try await sources.opener(of: id).write(WriteRequest(piece), to: id.own)
    }

    /// What has come; nil at the end.
    private func read() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: Self.pieceLength)
        while true {
            let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
            if count > 0 { return Array(buffer[..<count]) }
            if count == 0 { return nil }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // Another process that shares the descriptor made it so.
                var polled = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                poll(&polled, 1, -1)
            case let number:
                problems.withLock { $0 = "standard input: \(String(cString: strerror(number)))" }
                return nil
            }
        }
    }
}
