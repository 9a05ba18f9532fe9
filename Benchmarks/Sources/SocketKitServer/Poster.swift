import Dispatch
import Glibc
import SocketKit

/// A thread that is none of the engine's and asks it for something again and again: it writes to a connection of its own, waits
/// for the bytes at the other end, and pauses as long as a hundred echoes take.
final class Poster: Sendable {
    private static let pause: UInt32 = 500
    private let socket: AsyncSocket
    private let peer: Int32

    init(_ engine: SocketEngine) {
        var ends: [Int32] = [-1, -1]
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
        peer = ends[1]
        socket = AsyncSocket(engine: engine)
        do { try socket.adopt(descriptor: ends[0]) } catch { fatalError("\(error)") }
    }

    func start() {
        DispatchQueue(label: "posting").async { [self] in
            let message = [UInt8](repeating: 7, count: 64)
            var buffer = message
            while true {
                socket.write(message)
                guard recv(peer, &buffer, buffer.count, Int32(MSG_WAITALL)) == buffer.count else { return }
                usleep(Self.pause)
            }
        }
    }
}
