import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// Runs that are long where `SOCKTUI_SOAK` is set, and a hundredth of that otherwise. One after the other, and those
/// that measure the whole process in a process of their own.
@Suite(.serialized) enum Soak {
    /// Whether the long runs were asked for.
    static let isFull = getenv("SOCKTUI_SOAK") != nil

    /// So many of something in a long run; a hundredth otherwise.
    static func count(_ full: Int) -> Int { isFull ? full : full / 100 }

    /// Lets this process have as many descriptors as it may, and says how many those are.
    @discardableResult
    static func raiseDescriptorLimit() -> Int {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(limit.rlim_cur)
    }

    /// The descriptors of this process.
    static func openDescriptors() -> Int {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        // Three are `.`, `..` and the folder itself.
        return sequence(state: folder) { readdir($0) }.reduce(-3) { count, _ in count + 1 }
    }

    /// The same once it stays the same: a process that begins has some open for a moment that are not ours.
    static func restingDescriptors() -> Int {
        var last = -1
        _ = eventually {
            let now = openDescriptors()
            defer { last = now }
            return now == last
        }
        return last
    }

    /// This process's resident memory in KiB.
    static func residentKiB() -> Int { (ProcessFacts.residentBytes(getpid()) ?? 0) >> 10 }

    /// A clock time as a person reads it.
    static func seconds(since start: ContinuousClock.Instant) -> String {
        let tenths = (ContinuousClock.now - start).wholeNanoseconds / 100_000_000
        return "\(tenths / 10).\(tenths % 10) s"
    }
}

/// Holds what a listener takes until it ends, and nothing of it after that.
final class QuietServer: SocketListenerDelegate, AsyncSocketDelegate {
    private let held = Lock<[ObjectIdentifier: AsyncSocket]>([:])
    private let echoes: Bool

    /// With `echoes` it sends back what comes; otherwise it throws it away.
    init(echoes: Bool = false) {
        self.echoes = echoes
    }

    /// The connections that stand.
    var sockets: [AsyncSocket] { held.withLock { Array($0.values) } }

    /// How many there are.
    var count: Int { held.withLock { $0.count } }

    func listener(_ listener: SocketListener, didAccept socket: AsyncSocket) {
        held.withLock { $0[ObjectIdentifier(socket)] = socket }
        socket.delegate = self
        socket.read(ReadRequest(.available(limit: nil), isStanding: true))
    }

    func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {
        if echoes { socket.write(bytes) }
    }

    func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {
        _ = held.withLock { $0.removeValue(forKey: ObjectIdentifier(socket)) }
    }
}

/// Counts how the sessions of many sockets went.
final class Tally: AsyncSocketDelegate {
    private struct State {
        var connected = 0
        var ended: [SocketError.Reason?: Int] = [:]
    }

    private let state = Lock(State())

    /// Sessions that stood.
    var connected: Int { state.withLock { $0.connected } }

    /// Sessions that ended.
    var ended: Int { state.withLock { $0.ended.values.reduce(0, +) } }

    /// Sessions that ended for this reason; nil: closed locally.
    func ended(_ reason: SocketError.Reason?) -> Int { state.withLock { $0.ended[reason, default: 0] } }

    func socket(_ socket: AsyncSocket, didConnectTo address: SocketAddress) {
        state.withLock { $0.connected += 1 }
    }

    func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {
        state.withLock { $0.ended[error?.reason, default: 0] += 1 }
    }
}
