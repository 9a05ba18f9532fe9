import Dispatch
import Glibc
import SocketCore
import SocketTestSupport

@testable import SocketKit

/// One end of an echo, whose user asks for anything at any time. Each connection sends one stream, whose bytes say where they
/// stand in it, and checks what comes back.
final class RandomClient: AsyncSocketDelegate {
    struct State {
        /// Whether it has no session and may begin one.
        var isIdle = true
        /// Operations by tag that have not ended, each once.
        var open: Set<Int> = []
        var nextTag = 0
        /// Where the streams stand.
        var written = 0
        var received = 0
        var isShut = false
        /// Callbacks that were made, and operations that ended.
        var callbacks = 0
        var complaints: [String] = []
    }

    let state = Lock(State())
    /// Callbacks wait here now and then; nil: they do not.
    private let gate = Lock<DispatchSemaphore?>(nil)

    static func byte(at position: Int) -> UInt8 { UInt8(truncatingIfNeeded: position &* 31 &+ position >> 8) }

    func begin(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            state.isIdle = false
        }
    }

    /// Names an operation before it is asked for, since it may end before the call returns.
    func nextTag() -> Int {
        state.withLock { state in
            state.nextTag += 1
            state.open.insert(state.nextTag)
            return state.nextTag
        }
    }

    /// The next bytes of the stream; none once it has ended.
    func nextBytes(_ count: Int) -> [UInt8] {
        state.withLock { state in
            guard !state.isShut else { return [] }
            defer { state.written += count }
            return (state.written..<state.written + count).map(Self.byte)
        }
    }

    /// The next callback waits until `open` is called.
    func block() { gate.withLock { $0 = $0 ?? DispatchSemaphore(value: 0) } }

    func open() { gate.withLock { $0.take() }?.signal() }

    private func called(_ body: (inout State) -> Void) {
        if let gate = gate.withLock({ $0 }) {
            // Whoever opens it takes it away, so that it is opened for one callback.
            _ = gate.wait(timeout: .now() + .milliseconds(20))
        }
        state.withLock { state in
            state.callbacks += 1
            body(&state)
        }
    }

    private func end(_ tag: Int, _ what: String, _ state: inout State) {
        if state.open.remove(tag) == nil { state.complaints.append("\(what) \(tag) ended twice") }
    }

    private func absorb(_ bytes: [UInt8], _ state: inout State) {
        for byte in bytes {
            if byte != Self.byte(at: state.received), state.complaints.count < 10 {
                state.complaints.append("byte \(state.received) is \(byte)")
            }
            state.received += 1
        }
    }

    func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {
        called {
            end(tag, "read", &$0)
            absorb(bytes, &$0)
        }
    }

    func socket(_ socket: AsyncSocket, didWriteWithTag tag: Int) {
        called { end(tag, "write", &$0) }
    }

    func socket(_ socket: AsyncSocket, didFail operation: FailedOperation) {
        called {
            end(operation.tag, "failure", &$0)
            absorb(operation.bytes, &$0)
        }
    }

    func socket(_ socket: AsyncSocket, willDisconnect error: SocketError, unread: [UInt8]) {
        called { absorb(unread, &$0) }
    }

    func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {
        called {
            // What was asked for behind the end still fails.
            if $0.isIdle { $0.complaints.append("closed twice") }
            $0.isIdle = true
        }
    }
}

/// Two engines and many such clients, of whom random things are asked by a thread that is none of theirs.
final class RandomSoak {
    /// The first calls delegates on their queues whenever it can, and is held up by them all the time.
    private let engines = [trusting(), SocketEngine()]
    private let server = QuietServer(echoes: true)
    private let listener: SocketListener
    private let port: UInt16
    private var clients: [(client: RandomClient, socket: AsyncSocket)] = []
    /// Queues that delegates are called on, and whether each is suspended.
    private var queues: [(queue: DispatchQueue, isSuspended: Bool)] = []
    private var random: SplitMix64
    private(set) var steps = 0

    init(seed: UInt64, clients count: Int = 40) throws {
        random = SplitMix64(seed: seed)
        listener = SocketListener(
            engine: engines[0], delegate: server, delegateQueue: DispatchQueue(label: "soak server"))
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        port = listener.localAddress?.port ?? 0
        queues = (0..<6).map { (DispatchQueue(label: "soak \($0)"), false) }
        clients = (0..<count).map { _ in
            let client = RandomClient()
            return (client, AsyncSocket(engine: engines[0], delegate: client))
        }
    }

    private static func trusting() -> SocketEngine {
        var limits = LeadTrust.Limits()
        (limits.quickBatches, limits.quickStart, limits.barred) = (1, .max, 3)
        return SocketEngine(
            EngineConfiguration(), kernel: LinuxKernel(), clock: SystemClock(), reactor: EpollReactor(),
            resolver: SystemResolver(), allowsGathering: true, trust: limits)
    }

    var complaints: [String] { clients.flatMap { $0.client.state.withLock { $0.complaints } } }
    var callbacks: Int { clients.reduce(0) { $0 + $1.client.state.withLock { $0.callbacks } } }

    /// So many random things.
    func run(steps count: Int) throws {
        for _ in 0..<count {
            steps += 1
            let index = Int.random(in: clients.indices, using: &random)
            if clients[index].client.state.withLock({ $0.isIdle }) {
                try connect(clients[index])
            } else {
                step(clients[index])
            }
        }
    }

    private func connect(_ end: (client: RandomClient, socket: AsyncSocket)) throws {
        end.client.begin { ($0.written, $0.received, $0.isShut) = (0, 0, false) }
        // While a session lasts, what was sent to the former queue could be overtaken.
        let queue = queues.randomElement(using: &random)?.queue
        end.socket.delegateQueue = Int.random(in: 0..<3, using: &random) == 0 ? nil : queue
        try end.socket.connect(toHost: "127.0.0.1", port: port)
        read(end)
    }

    private func step(_ end: (client: RandomClient, socket: AsyncSocket)) {
        let (client, socket) = end
        switch Int.random(in: 0..<1_000, using: &random) {
        case 0..<380: write(end)
        case 380..<800: read(end)
        case 800..<830: socket.cancel(.reads)
        case 830..<850: socket.isReadingPaused = Bool.random(using: &random)
        case 850..<880: try? socket.move(to: engines[Int.random(in: 0...1, using: &random)])
        case 910..<935: toggle(Int.random(in: queues.indices, using: &random))
        case 935..<950: Bool.random(using: &random) ? client.block() : client.open()
        case 950..<960: _ = engines[0].snapshot()
        case 960..<965: _ = socket.description
        case 965..<970:
            client.state.withLock { $0.isShut = true }
            socket.halfClose()
        case 970..<974: socket.disconnect(CloseMode.allCases.randomElement(using: &random) ?? .now)
        default: read(end)
        }
    }

    private func write(_ end: (client: RandomClient, socket: AsyncSocket)) {
        let count = Int.random(in: 0..<20, using: &random) == 0 ? 40_000 : 700
        let bytes = end.client.nextBytes(Int.random(in: 1...count, using: &random))
        if !bytes.isEmpty { end.socket.write(bytes, tag: end.client.nextTag()) }
    }

    private func read(_ end: (client: RandomClient, socket: AsyncSocket)) {
        let kind: ReadRequest.Kind =
            switch Int.random(in: 0..<4, using: &random) {
            case 0: .length(Int.random(in: 1...2_000, using: &random))
            case 1: .delimiter([UInt8.random(in: 0...255, using: &random)], limit: nil)
            case 2: .available(limit: Int.random(in: 1...3_000, using: &random))
            default: .available(limit: nil)
            }
        end.socket.read(ReadRequest(kind, tag: end.client.nextTag()))
    }

    private func toggle(_ index: Int) {
        if queues[index].isSuspended { queues[index].queue.resume() } else { queues[index].queue.suspend() }
        queues[index].isSuspended.toggle()
    }

    /// Lets everything go on, and closes. True if everybody has heard of the end, and of the end of each operation.
    func settle() -> Bool {
        for index in queues.indices where queues[index].isSuspended { toggle(index) }
        for (client, socket) in clients {
            client.open()
            socket.disconnect()
        }
        let isSettled = eventually {
            clients.allSatisfy { $0.client.state.withLock { $0.isIdle && $0.open.isEmpty } } && server.count == 0
        }
        return isSettled && engines.allSatisfy { engine in eventually { engine.isAtRest } }
    }
}
