import Glibc
import SocketKit
import SocketTestSupport
import Testing

extension Soak {
    @Suite(.timeLimit(.minutes(10))) struct StreamTests {
        /// 25 streams of 4 MiB in a long run, one otherwise.
        static let seeds = Array(1...UInt64(isFull ? 25 : 1))

        @Test(arguments: seeds)
        func readsOfEveryKindGiveTheStreamByteForByteHoweverItIsWritten(_ seed: UInt64) throws {
            let start = ContinuousClock.now
            let folder = try TemporaryFolder()
            let script = StreamScript(seed: seed, length: 4 << 20)
            let reader = StreamReader(script)
            let (listener, endpoint) = try listen(for: reader, seed, folder)
            defer { listener.stop() }
            let kernel = FaultyKernel()
            let writer = StreamWriter(script, through: kernel)
            let engine = SocketEngine(
                EngineConfiguration(), kernel: kernel, clock: SystemClock(), reactor: EpollReactor(),
                resolver: SystemResolver())
            var configuration = SocketConfiguration()
            configuration.options.noDelay = true
            // Not of TCP, whose window would be smaller than one segment of loopback: it would wait for probes.
            if seed % 4 == 0 { configuration.options.sendBuffer = 4_096 }
            let socket = AsyncSocket(engine: engine, delegate: writer, configuration: configuration)
            try socket.connect(to: endpoint)
            #expect(eventually(within: .seconds(120)) { reader.ending != nil }, "seed \(seed)")
            #expect(reader.complaint == nil, "seed \(seed)")
            #expect(writer.complaint == nil, "seed \(seed)")
            #expect(reader.position == script.bytes.count, "seed \(seed)")
            #expect(reader.ending == .some(.closedByPeer), "seed \(seed)")
            if isFull {
                print("stream \(seed): \(script.bytes.count) bytes, \(reader.reads) reads, \(seconds(since: start))")
                fflush(nil)
            }
        }

        /// By TCP for odd seeds, else by a Unix-domain socket.
        private func listen(
            for reader: StreamReader, _ seed: UInt64, _ folder: TemporaryFolder
        ) throws -> (SocketListener, Endpoint) {
            let listener = SocketListener(engine: SocketEngine(), delegate: reader)
            guard seed % 2 == 1 else {
                try listener.listen(on: .unix(path: folder.path + "/s"))
                return (listener, .unix(path: folder.path + "/s"))
            }
            try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
            return (listener, .tcp(host: "127.0.0.1", port: try #require(listener.localAddress?.port)))
        }
    }
}
