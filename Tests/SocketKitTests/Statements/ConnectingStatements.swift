import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// Statements 15 to 25: which address a connect tries, and how it ends.
@Suite(.timeLimit(.minutes(10))) struct ConnectingStatements {
    @Test func statement015_aConnectIsToldOnceWithThePeersAddress() throws {
        let reception = try Reception()
        let greeted = Greeted()
        let socket = AsyncSocket(engine: reception.engine, delegate: greeted)
        try socket.connect(toHost: "127.0.0.1", port: reception.port)
        #expect(!socket.isDisconnected)
        #expect(eventually { socket.isConnected })
        reception.engine.fence()
        #expect(greeted.addresses == [.v4(host: "127.0.0.1", port: reception.port)])
        #expect(socket.peerAddress == reception.address)
        #expect(socket.localAddress?.port ?? 0 != 0)
    }

    @Test(arguments: [false, true])
    func statement016_localhostIsReachedByThePreferredFamily(_ prefersIPv6: Bool) throws {
        let reception = try Reception(.tcp(host: "localhost", port: 0))
        var configuration = SocketConfiguration()
        configuration.prefersIPv6 = prefersIPv6
        let recorder = Recorder()
        let socket = try reception.connect(recorder, host: "localhost", configuration: configuration)
        #expect(eventually { recorder.calls == [.connected] })
        #expect(socket.peerAddress?.host == (prefersIPv6 ? "::1" : "127.0.0.1"))
    }

    @Test func statement017_aRefusalOverIPv4LeadsToIPv6WithoutWaiting() throws {
        let time = ManualTime()
        let engine = SocketEngine.with(time: time)
        let half = try HalfReception(on: "::1", refusing: "127.0.0.1", engine: engine)
        let recorder = Recorder()
        let socket = try half.reception.connect(recorder, host: "localhost")
        // Time stands still, so a delay would never be over.
        #expect(eventually { recorder.calls == [.connected] })
        let how = try #require(engine.picture(of: socket.session)?.connect)
        #expect(how.attempts.map(\.address.host) == ["127.0.0.1", "::1"])
        #expect(how.attempts.map(\.outcome) == [.failed(errno: ECONNREFUSED), .won])
        #expect(how.resolvedIn == .zero)
    }

    @Test func statement018_aClosedPortEndsInOneDisconnectThatSaysWhichAddressRefused() throws {
        let held = try HeldPort()
        let engine = SocketEngine()
        let recorder = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: recorder)
        try socket.connect(toHost: "127.0.0.1", port: held.port)
        #expect(eventually { recorder.isDisconnected })
        engine.fence()
        #expect(recorder.calls == [.disconnected(.system(errno: ECONNREFUSED))])
        #expect(recorder.lastError?.domain == "NSPOSIXErrorDomain")
        #expect(recorder.lastError?.detail == "127.0.0.1:\(held.port): Connection refused")
        #expect(recorder.lastError?.attempts.map(\.address) == [held.address])
        #expect(socket.isDisconnected)
        let kept = try #require(engine.snapshot().sockets.last)
        #expect(kept.phase == .closed && kept.closed?.error == recorder.lastError)
    }

    @Test func statement019_anUnresolvableNameEndsInTheResolversOwnWords() throws {
        let engine = SocketEngine.with(resolver: ScriptedResolver([:]))
        let recorder = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: recorder)
        try socket.connect(toHost: "nowhere.example", port: 80)
        #expect(eventually { recorder.calls == [.disconnected(.resolver(code: -2))] })
        #expect(recorder.lastError?.domain == "kCFStreamErrorDomainNetDB")
        #expect(recorder.lastError?.detail.contains("nowhere.example") == true)
    }

    @Test func statement020_aConnectThatNobodyAnswersTimesOutAndNothingComesLater() throws {
        let (hole, time) = (try BlackHole(), ManualTime())
        let engine = SocketEngine.with(time: time)
        let recorder = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: recorder)
        try socket.connect(toHost: "127.0.0.1", port: hole.port, timeout: .milliseconds(300))
        socket.read(ReadRequest(.length(1), tag: 8))
        #expect(eventually { engine.picture(of: socket.session)?.connect?.attempts.map(\.outcome) == [.trying] })
        time.pass(.milliseconds(299))
        #expect(recorder.calls == [])
        time.pass(.milliseconds(1))
        let ending: [Recorder.Call] = [.failed(tag: 8, .connectTimeout, done: 0), .disconnected(.connectTimeout)]
        #expect(recorder.calls == ending)
        #expect(recorder.lastError?.code == 3)
        hole.open()
        time.pass(.seconds(3_600))
        #expect(recorder.calls == ending)
    }

    @Test func statement021_noTimeIsUpAtOnceAndNoTimeoutNeverIs() throws {
        let (hole, time, folder) = (try BlackHole(), ManualTime(), try TemporaryFolder())
        let engine = SocketEngine.with(time: time)
        let patient = Recorder()
        let waiting = AsyncSocket(engine: engine, delegate: patient)
        try waiting.connect(toHost: "127.0.0.1", port: hole.port)
        time.pass(.seconds(86_400))
        #expect(time.deadline == nil && patient.calls == [])
        let hasty = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: hasty)
        try socket.connect(toHost: "127.0.0.1", port: hole.port, timeout: .zero)
        time.pass(.zero)
        #expect(hasty.calls == [.disconnected(.connectTimeout)])
        // A Unix-domain connect is complete before the time can be looked at.
        let reception = try Reception(.unix(path: folder.path + "/s"), engine: engine)
        let quick = Recorder()
        let unix = AsyncSocket(engine: engine, delegate: quick)
        try unix.connect(to: .unix(path: folder.path + "/s"), timeout: .zero)
        time.pass(.zero)
        #expect(quick.calls == [.connected])
        #expect(eventually { reception.accepting.calls == [.accepted] })
        let error = try #require(throws: SocketError.self) {
            try socket.connect(toHost: "127.0.0.1", port: hole.port, timeout: .seconds(-1))
        }
        #expect(error.code == 2)
    }

    @Test func statement022_disconnectingWhileConnectingIsFinalAndTheNextConnectIsUntouched() throws {
        let (hole, kernel, resolver) = (try BlackHole(), FaultyKernel(), HeldResolver())
        let (reception, trap) = (try Reception(), try Reception())
        let engine = SocketEngine.with(kernel: kernel, resolver: resolver)
        let recorder = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: recorder)
        try socket.connect(toHost: "127.0.0.1", port: hole.port)
        #expect(eventually { engine.snapshot().sockets.first?.connect?.attempts.count == 1 })
        socket.disconnect()
        for _ in 0..<50 {
            try socket.connect(toHost: "slow.example", port: 80)
            socket.disconnect()
            // The first getter makes it begin, so this one may be under way, or stand, when it is given up.
            try socket.connect(toHost: "127.0.0.1", port: reception.port)
            _ = socket.isConnected
            socket.disconnect()
        }
        try socket.connect(toHost: "127.0.0.1", port: reception.port)
        hole.open()
        resolver.answer(.success([trap.address]))
        // One that was given up may have stood for a moment, so the last callback alone does not tell.
        let isOver = { recorder.calls.last == .connected && recorder.calls.count { $0 == .disconnected(nil) } == 101 }
        #expect(eventually(isOver))
        engine.fence()
        #expect(isOver() && recorder.failures.isEmpty)
        // A connection that stood before it was given up says so, and then only its end.
        #expect(
            recorder.calls.first == .disconnected(nil) && recorder.calls.suffix(2) == [.disconnected(nil), .connected])
        #expect(socket.peerAddress == reception.address)
        #expect(kernel.openDescriptors.count == 1)
        #expect(trap.accepting.calls == [])
    }

    @Test func statement023_noFurtherAddressIsTriedAfterADisconnect() throws {
        let (hole, trap, time, kernel) = (try BlackHole(), try Reception(), ManualTime(), FaultyKernel())
        let resolver = ScriptedResolver(["two.example": [hole.address, trap.address]])
        let engine = SocketEngine.with(kernel: kernel, time: time, resolver: resolver)
        let recorder = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: recorder)
        try socket.connect(toHost: "two.example", port: 80)
        #expect(eventually { engine.picture(of: socket.session)?.connect?.attempts.count == 1 })
        let next = try #require(time.deadline)
        #expect(next > time.now, "the second address waits for its turn")
        socket.disconnect()
        time.pass(next - time.now)
        time.pass(.seconds(1))
        #expect(recorder.calls == [.disconnected(nil)])
        #expect(kernel.count(.openStream) == 1)
        #expect(kernel.openDescriptors.isEmpty)
        #expect(trap.accepting.calls == [])
    }

    @Test func statement024_aFamilyThatIsOffIsNotTriedThoughTheNameHasIt() throws {
        let reception = try Reception(.tcp(host: "127.0.0.1", port: 0))
        let held = try HeldPort(.v6(host: "::1", port: 0))
        let resolver = ScriptedResolver(["both.example": [reception.address, held.address]])
        let engine = SocketEngine.with(resolver: resolver)
        var configuration = SocketConfiguration()
        configuration.isIPv4Enabled = false
        let recorder = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: recorder, configuration: configuration)
        try socket.connect(toHost: "both.example", port: 80)
        #expect(eventually { recorder.isDisconnected })
        #expect(recorder.calls == [.disconnected(.system(errno: ECONNREFUSED))])
        #expect(recorder.lastError?.attempts.map(\.address) == [held.address])
        #expect(reception.accepting.calls == [])
    }

    @Test func statement025_theSecondAddressOfAFamilyIsTriedWhenTheFirstIsDead() throws {
        let held = try HeldPort(.v4(host: "127.0.0.2", port: 0))
        let (reception, time) = (try Reception(), ManualTime())
        let resolver = ScriptedResolver(["pair.example": [held.address, reception.address]])
        let engine = SocketEngine.with(time: time, resolver: resolver)
        let recorder = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: recorder)
        try socket.connect(toHost: "pair.example", port: 80)
        #expect(eventually { recorder.calls == [.connected] })
        #expect(socket.peerAddress == reception.address)
        let attempts = try #require(engine.picture(of: socket.session)?.connect?.attempts)
        #expect(attempts.map(\.address) == [held.address, reception.address])
        #expect(attempts.map(\.outcome) == [.failed(errno: ECONNREFUSED), .won])
    }
}

/// A delegate that notes the addresses it was told of.
private final class Greeted: AsyncSocketDelegate {
    private let state = Lock<[SocketAddress]>([])
    var addresses: [SocketAddress] { state.withLock { $0 } }

    func socket(_ socket: AsyncSocket, didConnectTo address: SocketAddress) {
        state.withLock { $0.append(address) }
    }
}
