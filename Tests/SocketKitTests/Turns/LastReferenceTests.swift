import Dispatch
import SocketKit
import SocketTestSupport
import Testing

/// The engine's own reference to what a user gave may turn out to be the last one. It goes when the engine is at rest.
@Suite(.timeLimit(.minutes(10))) struct LastReferenceTests {
    /// What happened, in order.
    private final class Diary: Sendable {
        private let lines = Lock<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func note(_ line: String) { lines.withLock { $0.append(line) } }
    }

    /// Runs a closure as it dies.
    private final class Mortal: Sendable {
        private let act: @Sendable () -> Void
        init(_ act: @escaping @Sendable () -> Void) { self.act = act }
        deinit { act() }
        func touch() {}
    }

    @Test func aReceiveFilterThatIsReplacedAsItRunsDiesBehindTheCallbacks() throws {
        let diary = Diary()
        let end = try DatagramEnd.bound(
            recorder: DatagramRecorder(onCall: { _, call in if case .received = call { diary.note("received") } }))
        end.socket.receiveFilter = Self.receiveFilter(Mortal { diary.note("died") }, of: end.socket)
        let sender = DatagramEnd()
        sender.socket.send([1], to: end.place)
        #expect(eventually { diary.all.count == 2 })
        #expect(diary.all == ["received", "died"])
    }

    private static func receiveFilter(_ mortal: Mortal, of socket: DatagramSocket) -> DatagramReceiveFilter {
        DatagramReceiveFilter { [weak socket] _ in
            socket?.receiveFilter = nil
            mortal.touch()
            return .pass(context: nil)
        }
    }

    @Test func aSendFilterThatIsReplacedAsItRunsDiesBehindTheCallbacks() throws {
        let diary = Diary()
        let end = DatagramEnd(
            recorder: DatagramRecorder(onCall: { _, call in if case .sent = call { diary.note("sent") } }))
        let target = try DatagramEnd.bound()
        end.socket.sendFilter = Self.sendFilter(Mortal { diary.note("died") }, of: end.socket)
        end.socket.send([1], to: target.place)
        #expect(eventually { diary.all.count == 2 })
        #expect(diary.all == ["sent", "died"])
    }

    private static func sendFilter(_ mortal: Mortal, of socket: DatagramSocket) -> DatagramSendFilter {
        DatagramSendFilter { [weak socket] _, _, _ in
            socket?.sendFilter = nil
            mortal.touch()
            return true
        }
    }

    /// What a filter adds to a datagram dies with the datagram, when that finds no room.
    @Test func aContextThatFindsNoRoomDiesWhereUserCodeMayRun() throws {
        let (engine, diary) = (SocketEngine(), Diary())
        let end = try DatagramEnd.bound(engine: engine, isReceiving: false)
        let (socket, own) = (end.socket, DispatchQueue(label: "own"))
        socket.receiveFilter = DatagramReceiveFilter { [weak socket] _ in
            .pass(
                context: Mortal { [weak socket] in
                    _ = own.sync { socket?.isClosed }
                    diary.note("died")
                })
        }
        let datagrams = try socket.datagrams(limit: 1)
        let sender = DatagramEnd()
        for number in UInt8(0)..<3 { sender.socket.send([number], to: end.place) }
        #expect(eventually { diary.all.count == 2 })
        withExtendedLifetime(datagrams) {}
    }

    /// A delegate that lets go of itself while bytes are lent to it.
    private final class Leaver: AsyncSocketDelegate {
        private let myself = Lock<Leaver?>(nil)
        private let atEnd: @Sendable () -> Void

        init(_ atEnd: @escaping @Sendable () -> Void) {
            self.atEnd = atEnd
            myself.withLock { $0 = self }
        }

        deinit { atEnd() }

        func socket(_ socket: AsyncSocket, didBorrow bytes: RawSpan, tag: Int) {
            _ = myself.withLock { $0.take() }
        }
    }

    @Test func aDelegateThatLetsGoOfItselfDiesWhereUserCodeMayRun() throws {
        let diary = Diary()
        let pair = try ConnectedPair()
        let (socket, own) = (pair.socket, DispatchQueue(label: "own"))
        socket.delegate = Leaver { [weak socket] in
            // On the engine's queue, by way of another one: only user code may.
            _ = own.sync { socket?.isConnected }
            diary.note("died")
        }
        socket.read(.borrowing())
        try pair.peerSends("x")
        #expect(eventually { diary.all == ["died"] })
    }

    /// What was asked of an engine is answered though nobody holds the engine any more.
    @Test func anEngineThatGoesAnswersAllThatWasAsked() {
        var budget = TurnBudget()
        (budget.jobs, budget.callbacks) = (16, 4)
        let answers = Lock(0)
        let count = 200
        var engine: SocketEngine? = SocketEngine(
            EngineConfiguration(), kernel: LinuxKernel(), clock: SystemClock(), reactor: EpollReactor(),
            resolver: SystemResolver(), budget: budget)
        let queue = engine?.queue
        queue?.sync {
            for _ in 0..<count {
                engine?.requestSnapshot(SnapshotRequest()) { _ in answers.withLock { $0 += 1 } }
            }
            engine = nil
        }
        #expect(eventually { answers.withLock { $0 } == count })
    }
}
