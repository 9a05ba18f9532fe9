import Glibc
import SocketKit
import SocketTestSupport
import Testing

@Suite struct FaultTests {
    private let kernel = FaultyKernel()

    private func makeEngine() -> SocketEngine {
        SocketEngine(
            EngineConfiguration(), kernel: kernel, clock: SystemClock(), reactor: EpollReactor(),
            resolver: SystemResolver())
    }

    @Test func aListenerOutOfDescriptorsBacksOffAndGoesOn() throws {
        let engine = makeEngine()
        let accepting = Recorder()
        let listener = SocketListener(engine: engine, delegate: accepting)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        kernel.fail(.accept, with: [EMFILE, ENFILE])
        let socket = AsyncSocket(engine: engine)
        try socket.connect(toHost: "127.0.0.1", port: try #require(listener.localAddress?.port))
        #expect(eventually { accepting.sockets.count == 1 })
        // Two failures, the connection, and the would-block behind it: nothing was tried in between.
        #expect(kernel.count(.accept) <= 4)
        let picture = engine.snapshot()
        #expect(picture.counters.descriptorsRefused == 2 && picture.times.outOfDescriptors != nil)
    }

    @Test func aConnectWithoutDescriptorsSaysSo() throws {
        kernel.fail(.openStream, with: [EMFILE])
        let recorder = Recorder()
        let engine = makeEngine()
        let socket = AsyncSocket(engine: engine, delegate: recorder)
        try socket.connect(toHost: "127.0.0.1", port: 9)
        #expect(eventually { recorder.isDisconnected })
        #expect(recorder.lastError?.reason == .system(errno: EMFILE))
        let picture = engine.snapshot()
        #expect(picture.counters.descriptorsRefused == 1 && picture.times.outOfDescriptors != nil)
    }

    @Test func otherRefusalsAreNotForWantOfDescriptors() throws {
        kernel.fail(.openStream, with: [ENOBUFS, EAFNOSUPPORT])
        let engine = makeEngine()
        for _ in 0..<2 {
            let recorder = Recorder()
            let socket = AsyncSocket(engine: engine, delegate: recorder)
            try socket.connect(toHost: "127.0.0.1", port: 9)
            #expect(eventually { recorder.isDisconnected })
        }
        let picture = engine.snapshot()
        #expect(picture.counters.descriptorsRefused == 0 && picture.times.outOfDescriptors == nil)
    }

    @Test func aSendThatFailsEndsTheSessionWithItsOwnErrno() throws {
        let pair = try ConnectedPair(engine: makeEngine())
        kernel.fail(.send, with: [ENETDOWN])
        pair.socket.write([1], tag: 4)
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(
            pair.recorder.calls == [
                .connected, .failed(tag: 4, .system(errno: ENETDOWN), done: 0), .disconnected(.system(errno: ENETDOWN)),
            ])
    }

    @Test func aReceiveThatFailsEndsTheSessionWithItsOwnErrno() throws {
        let pair = try ConnectedPair(engine: makeEngine())
        kernel.fail(.receive, with: [ETIMEDOUT])
        pair.socket.read(ReadRequest(.length(1), tag: 4))
        try pair.peerSends("x")
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(pair.recorder.lastError?.reason == .system(errno: ETIMEDOUT))
    }

    @Test func writesThatTheKernelTakesBitByBitArriveWhole() throws {
        kernel.limitSends(to: 7)
        let pair = try ConnectedPair(engine: makeEngine())
        let parts = (0..<40).map { [UInt8](repeating: UInt8($0), count: $0 + 1) }
        for (tag, part) in parts.enumerated() { pair.socket.write(part, tag: tag) }
        #expect(try pair.peerReceives(820) == parts.flatMap(\.self))
        #expect(eventually { pair.recorder.calls.last == .wrote(tag: 39) })
    }

    @Test func everyWayToEndASessionGivesItsDescriptorBack() throws {
        let engine = makeEngine()
        let accepting = Recorder(onAccept: { $0.read(ReadRequest(.available(limit: nil), isStanding: true)) })
        let listener = SocketListener(engine: engine, delegate: accepting)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let port = try #require(listener.localAddress?.port)
        let before = kernel.openDescriptors
        #expect(before.count == 1)
        for mode in CloseMode.allCases {
            for _ in 0..<20 {
                let recorder = Recorder()
                let socket = AsyncSocket(engine: engine, delegate: recorder)
                try socket.connect(toHost: "127.0.0.1", port: port)
                socket.write([1, 2, 3])
                #expect(eventually { socket.isConnected })
                socket.disconnect(mode)
                #expect(eventually { recorder.isDisconnected })
            }
        }
        for socket in accepting.sockets { socket.disconnect() }
        #expect(eventually { kernel.openDescriptors == before })
    }
}
