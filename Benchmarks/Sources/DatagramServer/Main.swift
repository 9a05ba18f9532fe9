import Glibc
import SocketKit

/// Receives datagrams by SocketKit's public API, as `Yardstick/datagrams.c receive` does by recvmmsg, and prints the same
/// lines: `DatagramServer [-w batch|each|queue]`
@main
struct Main {
    static func main() throws {
        let way = Way(rawValue: CommandLine.arguments.dropFirst(2).first ?? "batch")
        guard let way, CommandLine.arguments.count != 2 else {
            print("usage: DatagramServer [-w batch|each|queue]")
            exit(2)
        }
        let counter = Counter(way)
        let engine = SocketEngine()
        let socket = DatagramSocket(engine: engine, delegate: counter, delegateQueue: way.queue)
        try socket.bind(to: .udp(host: "127.0.0.1", port: 0))
        try socket.beginReceiving()
        print("ready \(socket.localAddress?.port ?? 0)")
        fflush(nil)
        let before = processorTime()
        // A line on stdin: the sender has ended.
        _ = readLine()
        while let kernel = picture(of: socket)?.kernel, kernel.receiveQueue != 0 { usleep(1_000) }
        let spent = processorTime() - before
        guard let facts = picture(of: socket)?.datagrams else { exit(1) }
        print(
            "received \(facts.counters.received) delivered \(counter.count) bytes \(counter.bytes) "
                + "drops \(facts.kernelDrops ?? 0) own \(facts.counters.dropped) cpu \(spent)")
    }

    private static func picture(of socket: DatagramSocket) -> SocketSnapshot? {
        socket.engine.snapshot(SnapshotRequest(kernel: .all)).sockets.first { $0.id == socket.session }
    }

    /// Nanoseconds, user and system, of all threads.
    private static func processorTime() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
