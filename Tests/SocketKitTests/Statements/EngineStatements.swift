import Dispatch
import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// Engines that cannot start, because the process has reached a limit.
@Suite("Engines", .timeLimit(.minutes(10))) struct EngineStatements {
    /// A reactor that cannot start until it is told to.
    private final class StarvedReactor: Reactor {
        private let reactor = EpollReactor()
        private let failure: Lock<Int32>

        init(_ failure: Int32) { self.failure = Lock(failure) }

        func relieve() { failure.withLock { $0 = 0 } }

        func start(_ turn: @escaping @Sendable ([Readiness]) -> Void) -> Int32 {
            let failure = failure.withLock { $0 }
            return failure == 0 ? reactor.start(turn) : failure
        }
        func add(_ descriptor: Int32, _ interest: Interest, _ token: ReactorToken) -> Int32 {
            reactor.add(descriptor, interest, token)
        }
        func modify(_ descriptor: Int32, _ interest: Interest, _ token: ReactorToken) -> Int32 {
            reactor.modify(descriptor, interest, token)
        }
        func remove(_ descriptor: Int32) { reactor.remove(descriptor) }
        func wake(at deadline: MonotonicTime?) { reactor.wake(at: deadline) }
        func takeTimerMark() -> Bool { reactor.takeTimerMark() }
        func rouse() -> Bool { reactor.rouse() }
        func stop() { reactor.stop() }
        var lead: Lead? { reactor.lead }
    }

    @Test(arguments: [EMFILE, EAGAIN])
    func statement129_anEngineThatCannotStartRefusesSocketsUntilItCan(failure: Int32) throws {
        let reactor = StarvedReactor(failure)
        let engine = SocketEngine(
            EngineConfiguration(), kernel: LinuxKernel(), clock: SystemClock(), reactor: reactor,
            resolver: SystemResolver(), allowsGathering: true)
        let reception = try Reception()
        let endpoint = Endpoint.tcp(host: "127.0.0.1", port: reception.port)
        let clientSide = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: clientSide, delegateQueue: DispatchQueue(label: "test"))
        let refusals = [
            #expect(throws: SocketError.self) { try socket.connect(to: endpoint) },
            #expect(throws: SocketError.self) {
                try SocketListener(engine: engine).listen(on: .tcp(host: "", port: 0))
            },
            #expect(throws: SocketError.self) { try DatagramSocket(engine: engine).bind(to: .udp(host: "", port: 0)) },
        ]
        for refusal in refusals { #expect(refusal?.code == Int(failure), "\(String(describing: refusal))") }
        socket.read(ReadRequest(.length(1)))
        #expect(eventually { !clientSide.failures.isEmpty }, "callbacks run all the same")
        let snapshot = engine.snapshot()
        #expect(snapshot.sockets.isEmpty && snapshot.counters.descriptorsRefused == (failure == EMFILE ? 3 : 0))
        reactor.relieve()
        try socket.connect(to: endpoint, timeout: .seconds(30))
        #expect(eventually { socket.isConnected && reception.accepting.sockets.count == 1 })
        reception.accepting.sockets.first?.write([7])
        socket.read(ReadRequest(.length(1)))
        #expect(eventually { clientSide.received == [7] })
    }

    /// In a process of its own, because the limit is the whole process's.
    @Test func anEngineStartsWithoutDescriptorsAndWorksWhenThereAreSome() async {
        await #expect(processExitsWith: .success) {
            let reception = try Reception()
            let endpoint = Endpoint.tcp(host: "127.0.0.1", port: reception.port)
            var former = rlimit()
            let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            guard getrlimit(kind, &former) == 0 else { exit(2) }
            // Descriptors are numbered without gaps, so two are left: too few for an engine.
            let next = dup(0)
            close(next)
            var few = rlimit(rlim_cur: rlim_t(next) + 2, rlim_max: former.rlim_max)
            guard next >= 0, setrlimit(kind, &few) == 0 else { exit(3) }
            let engine = SocketEngine()
            let socket = AsyncSocket(engine: engine)
            do throws(SocketError) {
                try socket.connect(to: endpoint)
                exit(4)
            } catch {
                guard error.code == Int(EMFILE) else { exit(5) }
            }
            // The attempt left nothing open.
            guard case let same = dup(0), same == next, close(same) == 0 else { exit(6) }
            guard setrlimit(kind, &former) == 0 else { exit(7) }
            try socket.connect(to: endpoint)
            exit(eventually { socket.isConnected } ? 0 : 8)
        }
    }
}
