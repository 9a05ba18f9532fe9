import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// Statement 127: whatever a thousand sessions end in, no descriptor is left.
@Suite(.timeLimit(.minutes(10))) struct DescriptorStatements {
    /// What every session comes to.
    enum Way: CaseIterable, CustomTestStringConvertible {
        case connected, refused, timedOut, unbound

        var testDescription: String { "\(self)" }
    }

    private let kernel = FaultyKernel()
    private let time = ManualTime()

    @Test(arguments: Way.allCases)
    func statement127_aThousandSessionsLeaveNoDescriptor(_ way: Way) throws {
        let engine = SocketEngine.with(kernel: kernel, time: time)
        let (held, hole) = (try HeldPort(), try BlackHole())
        let reception = try Reception(engine: engine, accepting: Recorder(onAccept: { $0.disconnect(.afterWriting) }))
        let baseline = kernel.openDescriptors
        #expect(baseline.count == 1)
        var configuration = SocketConfiguration()
        if way == .unbound { configuration.interface = "127.0.0.1:\(held.port)" }
        let recorder = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: recorder, configuration: configuration)
        for count in 1...1_000 {
            switch way {
            case .connected, .unbound: try socket.connect(toHost: "127.0.0.1", port: reception.port)
            case .refused: try socket.connect(toHost: "127.0.0.1", port: held.port)
            case .timedOut:
                try socket.connect(toHost: "127.0.0.1", port: hole.port, timeout: .seconds(1))
                engine.fence()
                time.pass(.seconds(1))
            }
            guard eventually({ recorder.calls.count == (way == .connected ? 2 : 1) * count }) else { break }
        }
        let endings: [Way: [Recorder.Call]] = [
            .connected: [.connected, .disconnected(.closedByPeer)],
            .refused: [.disconnected(.system(errno: ECONNREFUSED))],
            .timedOut: [.disconnected(.connectTimeout)], .unbound: [.disconnected(.system(errno: EADDRINUSE))],
        ]
        #expect(recorder.calls == (0..<1_000).flatMap { _ in endings[way] ?? [] })
        #expect(eventually { kernel.openDescriptors == baseline })
    }
}
