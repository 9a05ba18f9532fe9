import SocketKit
import Synchronization

/// Counts lines and their bytes; a line of one dot makes it answer with both, and begin anew.
final class LinesDelegate: AsyncSocketDelegate {
    private struct Counts {
        var lines = 0
        var bytes = 0
    }

    private let counts = Mutex(Counts())
    private let held = Mutex<AsyncSocket?>(nil)
    private let request: ReadRequest

    init(_ way: Way) {
        request =
            way == .borrowed
            ? .borrowing(upTo: [13, 10]) : ReadRequest(.delimiter([13, 10], limit: nil), isStanding: way != .inline)
    }

    func serve(_ socket: AsyncSocket) {
        socket.userData = self
        socket.delegate = self
        held.withLock { $0 = socket }
        socket.read(request)
    }

    func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {
        count(bytes.count, isDot: bytes.count == 3 && bytes[0] == 0x2E, socket)
        if !request.isStanding { socket.read(request) }
    }

    func socket(_ socket: AsyncSocket, didBorrow bytes: RawSpan, tag: Int) {
        let isDot = bytes.byteCount == 3 && bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self) == 0x2E
        count(bytes.byteCount, isDot: isDot, socket)
    }

    private func count(_ length: Int, isDot: Bool, _ socket: AsyncSocket) {
        let answer: Counts? = counts.withLock { counts in
            guard isDot else {
                counts.lines += 1
                counts.bytes += length - 2
                return nil
            }
            defer { counts = Counts() }
            return counts
        }
        if let answer { socket.write(Numbers.bytes(answer.lines) + Numbers.bytes(answer.bytes)) }
    }

    func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {
        held.withLock { $0 = nil }
        socket.userData = nil
    }
}
