import Dispatch
import SocketCore
import SocketTestSupport
import Synchronization
import Testing

@testable import SocketKit

/// Sends back what it reads, on a queue of its own.
private final class Echoing: AsyncSocketDelegate {
    let queue: DispatchQueue
    /// Whether the engine's thread made the last callback.
    let isLed = Atomic<Bool>(false)
    private let onRead: @Sendable (AsyncSocket, [UInt8]) -> Void

    init(on queue: DispatchQueue, onRead: @escaping @Sendable (AsyncSocket, [UInt8]) -> Void) {
        (self.queue, self.onRead) = (queue, onRead)
    }

    func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {
        dispatchPrecondition(condition: .onQueue(queue))
        isLed.store(socket.engine.lead?.isHere == true, ordering: .sequentiallyConsistent)
        onRead(socket, bytes)
        socket.write(bytes)
        socket.read(ReadRequest(.available(limit: nil)))
    }
}

/// A connection whose one end is such an echo.
private final class QueueEcho {
    let pair: ConnectedPair
    private let echo: Echoing
    var queue: DispatchQueue { echo.queue }
    var isLed: Bool { echo.isLed.load(ordering: .sequentiallyConsistent) }

    init(
        _ engine: SocketEngine, on queue: DispatchQueue = DispatchQueue(label: "delegate"),
        onRead: @escaping @Sendable (AsyncSocket, [UInt8]) -> Void = { _, _ in }
    ) throws {
        echo = Echoing(on: queue, onRead: onRead)
        pair = try ConnectedPair(engine: engine)
        pair.socket.delegate = echo
        pair.socket.delegateQueue = queue
        pair.socket.read(ReadRequest(.available(limit: nil)))
    }

    /// One message there and back.
    func exchange(_ text: String = "hello") throws {
        try pair.peerSends(text)
        #expect(try pair.peerReceives(text.utf8.count) == Array(text.utf8))
    }

    /// Exchanges messages until the engine's thread makes the callbacks.
    func waitUntilLed() throws {
        #expect(
            try eventually {
                try exchange()
                return isLed
            })
    }
}

private func trustingEngine(barred: Int = 1) -> SocketEngine {
    var limits = LeadTrust.Limits()
    (limits.quickBatches, limits.quickStart, limits.barred) = (1, .max, barred)
    (limits.batch, limits.callback) = (1 << 40, 0)
    return SocketEngine(
        EngineConfiguration(), kernel: LinuxKernel(), clock: SystemClock(), reactor: EpollReactor(),
        resolver: SystemResolver(), allowsGathering: true, trust: limits)
}

/// Delegates on queues of their own, called by the engine's thread.
@Suite(.timeLimit(.minutes(10))) struct LeadTests {
    @Test func theEnginesThreadCallsOnTheQueueAndIdlesAfterwards() throws {
        let engine = trustingEngine()
        let echo = try QueueEcho(engine)
        try echo.waitUntilLed()
        let lead = try #require(engine.lead)
        #expect(eventually { lead.isOtherAsleep })
        try echo.exchange()
        #expect(eventually { lead.isOtherAsleep })
    }

    /// As many as are blocked, everything else goes on, and nothing comes out of order when they go on.
    @Test(arguments: [1, 2, 3]) func callbacksThatBlockHoldUpNobodyElse(count: Int) throws {
        let engine = trustingEngine()
        let gate = DispatchSemaphore(value: 0)
        let blocked = Atomic<Int>(0)
        let blocking = try (0..<count).map { _ in
            try QueueEcho(engine) { _, bytes in
                guard bytes.first == UInt8(ascii: "!") else { return }
                blocked.add(1, ordering: .sequentiallyConsistent)
                gate.wait()
            }
        }
        let other = try QueueEcho(engine)
        for _ in 0..<3 {
            for echo in blocking + [other] { try echo.waitUntilLed() }
            for echo in blocking { try echo.pair.peerSends("!") }
            #expect(eventually { blocked.load(ordering: .sequentiallyConsistent) == count })
            for _ in 0..<20 { try other.exchange() }
            for echo in blocking { for digit in 0..<10 { try echo.pair.peerSends("\(digit)") } }
            try other.exchange()
            for _ in blocking { gate.signal() }
            for echo in blocking { #expect(try echo.pair.peerReceives(11) == Array("!0123456789".utf8)) }
            blocked.store(0, ordering: .sequentiallyConsistent)
        }
    }

    /// All of them together would keep their thread for seconds, and none of them as long as it takes to lose the lead.
    @Test func callbacksOfWhichNoneLastsHoldUpNobodyElse() throws {
        let engine = trustingEngine(barred: 100_000)
        let other = try QueueEcho(engine, on: engine.queue)
        let isDone = Atomic<Bool>(false)
        let made = Atomic<Int>(0)
        let busy = try QueueEcho(engine) { socket, bytes in
            if bytes.first == UInt8(ascii: "?") { for _ in 0..<1_000 { socket.read(ReadRequest(.length(1))) } }
            guard bytes.first == UInt8(ascii: "!") else { return }
            made.add(1, ordering: .sequentiallyConsistent)
            let end = ContinuousClock.now + .milliseconds(5)
            while ContinuousClock.now < end, !isDone.load(ordering: .sequentiallyConsistent) {}
        }
        try busy.waitUntilLed()
        try busy.exchange("?")
        try busy.pair.peerSends([UInt8](repeating: UInt8(ascii: "!"), count: 1_000))
        #expect(eventually { made.load(ordering: .sequentiallyConsistent) > 0 })
        for _ in 0..<20 { try other.exchange() }
        #expect(made.load(ordering: .sequentiallyConsistent) < 1_000)
        isDone.store(true, ordering: .sequentiallyConsistent)
        #expect(try busy.pair.peerReceives(1_000).count == 1_000)
    }

    @Test func aCallbackMayWaitForAnotherOneOfTheSameEngine() throws {
        let engine = trustingEngine()
        let came = DispatchSemaphore(value: 0)
        let waiting = try QueueEcho(engine) { if $1.first == UInt8(ascii: "!") { came.wait() } }
        let other = try QueueEcho(engine) { if $1.first == UInt8(ascii: "!") { came.signal() } }
        for _ in 0..<20 {
            for echo in [waiting, other] { try echo.waitUntilLed() }
            try waiting.pair.peerSends("!")
            try other.exchange("!")
            #expect(try waiting.pair.peerReceives(1) == [UInt8(ascii: "!")])
        }
    }

    @Test func aSuspendedQueueHoldsUpNobodyElse() throws {
        let engine = trustingEngine()
        let (suspended, other) = (try QueueEcho(engine), try QueueEcho(engine))
        for _ in 0..<5 {
            for echo in [suspended, other] { try echo.waitUntilLed() }
            suspended.queue.suspend()
            try suspended.pair.peerSends("a")
            for _ in 0..<20 { try other.exchange() }
            suspended.queue.resume()
            #expect(try suspended.pair.peerReceives(1) == Array("a".utf8))
        }
    }

    @Test func aQueueThatIsBusyOrAimedElsewhereHoldsUpNobodyElse() throws {
        let engine = trustingEngine()
        let other = try QueueEcho(engine)
        for target in [nil, DispatchQueue(label: "elsewhere"), engine.queue, .global(), .main] {
            let queue = DispatchQueue(label: "delegate", target: target)
            let busy = try QueueEcho(engine, on: queue)
            for echo in [busy, other] { try echo.waitUntilLed() }
            let (gate, began) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            if target === engine.queue { continue }
            queue.async {
                began.signal()
                gate.wait()
            }
            began.wait()
            try busy.pair.peerSends("a")
            for _ in 0..<20 { try other.exchange() }
            gate.signal()
            #expect(try busy.pair.peerReceives(1) == Array("a".utf8))
            try busy.exchange()
        }
    }

    @Test(arguments: [DispatchQueue.main, .global(), .global(qos: .utility)])
    func queuesWithThreadsOfTheirOwnKeepThem(queue: DispatchQueue) throws {
        let engine = trustingEngine()
        let socket = AsyncSocket(engine: engine, delegateQueue: queue)
        let pump = try #require(socket.state.withLock { $0.pump })
        #expect(!pump.mayBeLed && pump.carries(from: engine, to: queue))
        #expect(try #require(DelegatePump.pump(to: DispatchQueue(label: "own"), from: engine)).mayBeLed)
    }

    @Test func anEngineOnTheCallersQueueLeavesDelegatesToDispatch() throws {
        var configuration = EngineConfiguration()
        configuration.queue = DispatchQueue(label: "callers")
        let engine = SocketEngine(configuration)
        #expect(engine.lead == nil)
        let echo = try QueueEcho(engine)
        for _ in 0..<50 { try echo.exchange() }
        #expect(!echo.isLed)
    }

    /// More than the engine lets wait before it slows down who asks.
    @Test func aCallbackMayAskForMoreThanWaits() throws {
        let engine = trustingEngine()
        let count = Mailbox.crowd * 3
        let echo = try QueueEcho(engine) { socket, bytes in
            guard bytes.first == UInt8(ascii: "!") else { return }
            for _ in 0..<count { socket.write([0]) }
        }
        try echo.waitUntilLed()
        try echo.pair.peerSends("!")
        #expect(try echo.pair.peerReceives(count + 1).count == count + 1)
    }

    @Test func anEngineThatGoesWhileACallbackIsStuckLeavesNoThread() throws {
        weak var lead: Lead?
        let gate = DispatchSemaphore(value: 0)
        let isStuck = Atomic<Bool>(false)
        do {
            let engine = trustingEngine()
            lead = engine.lead
            let echo = try QueueEcho(engine) { _, bytes in
                guard bytes.first == UInt8(ascii: "!") else { return }
                isStuck.store(true, ordering: .sequentiallyConsistent)
                gate.wait()
            }
            try echo.waitUntilLed()
            try echo.pair.peerSends("!")
            #expect(eventually { isStuck.load(ordering: .sequentiallyConsistent) })
            echo.pair.socket.disconnect()
        }
        gate.signal()
        #expect(eventually { lead == nil })
    }
}

/// What makes a queue trusted.
@Suite struct LeadTrustTests {
    private var limits: LeadTrust.Limits {
        var limits = LeadTrust.Limits()
        (limits.quickBatches, limits.quickStart, limits.barred) = (3, 100, 5)
        (limits.batch, limits.callback, limits.quickPerSlow, limits.slowBatches) = (1_000, 10, 4, 2)
        return limits
    }

    private func trusted() -> LeadTrust {
        var trust = LeadTrust(limits)
        for _ in 0..<3 { trust.began(after: 100) }
        return trust
    }

    @Test func severalQuickBatchesInARow() {
        var trust = LeadTrust(limits)
        for wait: Int64 in [1, 100, 101, 1, 100] { trust.began(after: wait) }
        #expect(!trust.mayLead)
        trust.began(after: 0)
        #expect(trust.mayLead)
    }

    @Test func aThreadThatWasHeldUpEndsItForLong() {
        var trust = trusted()
        trust.lostLead()
        for _ in 0..<5 + 2 { trust.began(after: 0) }
        #expect(!trust.mayLead)
        trust.began(after: 0)
        #expect(trust.mayLead)
    }

    @Test func habituallySlowBatchesEndIt() {
        var trust = trusted()
        for _ in 0..<100 {
            trust.ran(7, in: 1_071)
            for _ in 0..<4 { trust.ran(7, in: 1_070) }
        }
        #expect(trust.mayLead)
        trust.ran(7, in: 1_071)
        trust.ran(7, in: 1_071)
        #expect(!trust.mayLead)
    }
}
