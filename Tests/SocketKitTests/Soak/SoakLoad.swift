import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// An engine that is made to begin and end sessions in every way, in bounded numbers.
final class SoakLoad {
    /// Sessions that are under way at a time, at most.
    private static let width = 50
    private let kernel = FaultyKernel()
    private let engine: SocketEngine
    private let server = QuietServer()
    private let listener: SocketListener
    private let port: UInt16
    /// Listens, but takes nobody any more: what connects to it waits.
    private let full: (address: SocketAddress, descriptors: [Int32])
    private let closedPort: UInt16
    /// How many of each kind were begun.
    private(set) var done = (cycles: 0, refused: 0, timedOut: 0, bindFailures: 0)

    init() throws {
        engine = SocketEngine(
            EngineConfiguration(), kernel: kernel, clock: SystemClock(), reactor: EpollReactor(),
            resolver: SystemResolver())
        listener = SocketListener(engine: engine, delegate: server)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        port = try #require(listener.localAddress?.port)
        full = try Self.fullListener()
        closedPort = try Peer.freePort()
    }

    deinit {
        full.descriptors.forEach { close($0) }
    }

    /// Descriptors of the engine's sockets.
    var openDescriptors: Int { kernel.openDescriptors.count }

    private static func fullListener() throws -> (SocketAddress, [Int32]) {
        let kernel = LinuxKernel()
        let descriptors = try (0..<2).map { _ in
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            return try #require(descriptor >= 0 ? descriptor : nil)
        }
        try #require(kernel.bind(descriptors[0], to: .v4(host: "127.0.0.1", port: 0)) == 0)
        try #require(kernel.listen(descriptors[0], backlog: 0) == 0)
        let address = try #require(kernel.localAddress(descriptors[0]))
        try #require(kernel.connect(descriptors[1], to: address) == 0)
        return (address, descriptors)
    }

    /// Begins and ends so many connections, in each of the ways in which one may end.
    func cycle(_ count: Int) throws {
        try inGroups(of: count) { size in
            let tally = Tally()
            var sockets = try (0..<size).map { _ in try connect("127.0.0.1", port, tally) }
            sockets.forEach { $0.write([1, 2, 3]) }
            try #require(eventually { tally.connected == size && server.count == size })
            switch done.cycles / Self.width % 3 {
            case 0: zip(sockets, 0...).forEach { $0.disconnect(CloseMode.allCases[$1 % CloseMode.allCases.count]) }
            case 1: server.sockets.forEach { $0.disconnect() }
            default: sockets = []
            }
            // A handle that is gone hears of nothing.
            try #require(eventually { sockets.isEmpty || tally.ended == size })
            try #require(eventually { server.count == 0 && openDescriptors == 1 })
            done.cycles += size
        }
    }

    /// Connects so many times to a port where nobody listens, by an address and by a name that has two.
    func beRefused(_ count: Int) throws {
        try inGroups(of: count) { size in
            let tally = Tally()
            let hosts = ["127.0.0.1", "::1", "localhost"]
            let sockets = try (0..<size).map { try connect(hosts[$0 % hosts.count], closedPort, tally) }
            try #require(eventually { tally.ended(.system(errno: ECONNREFUSED)) == size })
            #expect(sockets.allSatisfy { $0.isDisconnected })
            done.refused += size
        }
    }

    /// Connects so many times to a listener that does not answer, for a millisecond each.
    func timeOut(_ count: Int) throws {
        let port = try #require(full.address.port)
        try inGroups(of: count) { size in
            let tally = Tally()
            let sockets = try (0..<size).map { _ in
                try connect("127.0.0.1", port, tally, timeout: .milliseconds(1))
            }
            try #require(eventually { tally.ended(.connectTimeout) == size })
            #expect(sockets.allSatisfy { $0.isDisconnected })
            done.timedOut += size
        }
    }

    /// Fails to bind so many times: a listener to a port that is taken and to an address of another machine, and our end
    /// of a connect to a port that is taken.
    func failToBind(_ count: Int) throws {
        try inGroups(of: count) { size in
            let tally = Tally()
            var sockets: [AsyncSocket] = []
            for index in 0..<size {
                switch index % 3 {
                case 0: #expect(bindError(.tcp(host: "127.0.0.1", port: port)) == .system(errno: EADDRINUSE))
                case 1: #expect(bindError(.tcp(host: "192.0.2.1", port: 0)) == .system(errno: EADDRNOTAVAIL))
                default:
                    var configuration = SocketConfiguration()
                    configuration.interface = "localhost:\(port)"
                    sockets.append(try connect("127.0.0.1", closedPort, tally, configuration))
                }
            }
            try #require(eventually { tally.ended(.system(errno: EADDRINUSE)) == sockets.count })
            done.bindFailures += size
        }
    }

    private func bindError(_ endpoint: Endpoint) -> SocketError.Reason? {
        do throws(SocketError) {
            try SocketListener(engine: engine).listen(on: endpoint)
            return nil
        } catch {
            return error.reason
        }
    }

    private func connect(
        _ host: String, _ port: UInt16, _ tally: Tally, _ configuration: SocketConfiguration = SocketConfiguration(),
        timeout: Duration? = nil
    ) throws -> AsyncSocket {
        let socket = AsyncSocket(engine: engine, delegate: tally, configuration: configuration)
        try socket.connect(toHost: host, port: port, timeout: timeout)
        return socket
    }

    private func inGroups(of count: Int, _ body: (Int) throws -> Void) throws {
        var left = count
        while left > 0 {
            try body(min(left, Self.width))
            left -= Self.width
        }
    }
}
