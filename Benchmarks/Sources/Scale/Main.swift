import Glibc
import SocketKit

/// What being looked at costs the engine's queue: a snapshot of many connections, and an event:
/// `Scale [CONNECTIONS [SNAPSHOTS]]`
///
/// The connections are socket pairs, so that they need half the descriptors that the system allows; 9,900 unless said.
@main
struct Main {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        let (connections, snapshots) = (arguments.first ?? 9_900, arguments.dropFirst().first ?? 101)
        raiseDescriptorLimit()
        let engine = SocketEngine()
        let held = try (0..<connections).map { _ in try Pair(engine) }
        // The first one makes what later ones use again.
        _ = engine.snapshot()
        for busy in [0, min(1_000, connections)] {
            let costs = (0..<snapshots).map { _ -> Double in
                for pair in held.prefix(busy) { pair.exchange() }
                // It is taken on the engine's queue by the thread that asks for it.
                let began = processorTime()
                let snapshot = engine.snapshot()
                let cost = processorTime() - began
                precondition(snapshot.sockets.count == connections)
                return cost
            }.sorted()
            print(
                "snapshot of \(connections) connections, \(busy) of them changed: "
                    + "\(Int(costs[costs.count / 2])) us of CPU [\(Int(costs[0]))-\(Int(costs[costs.count - 1]))]")
        }
        withExtendedLifetime(held) {}
        try Events.report()
    }

    /// Microseconds that this thread has used.
    static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }

    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

/// A connection, and the descriptor at its other end.
struct Pair {
    let socket: AsyncSocket
    let peer: Int32

    init(_ engine: SocketEngine, reads request: ReadRequest = ReadRequest(.available(limit: nil))) throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
            preconditionFailure("no more socket pairs: errno \(errno)")
        }
        peer = ends[1]
        socket = AsyncSocket(engine: engine)
        try socket.adopt(descriptor: ends[0])
        socket.read(request)
    }

    /// The peer says something, which the read in hand takes; another read is queued.
    func exchange() {
        var byte: UInt8 = 7
        precondition(send(peer, &byte, 1, 0) == 1)
        socket.read(ReadRequest(.available(limit: nil)))
    }
}
