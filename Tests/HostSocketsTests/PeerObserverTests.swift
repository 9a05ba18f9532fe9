import Glibc
import HostSockets
import SocketKit
import SocketTestSupport
import Testing

/// Who is at the other ends, when those come and go while they are looked at.
@Suite("Finding who is at the other end", .timeLimit(.minutes(10)))
struct PeerObserverTests {
    /// The kernel has told of unread bytes, the program closes before its descriptors are looked at: the bytes were its.
    @Test("a program that closes during a look is still told as the one that left bytes unread")
    func closesMeanwhile() throws {
        // A child of another test has the socket for a moment, until it executes its program.
        #expect(try (0..<5).contains { _ in try isToldWhileItCloses() })
    }

    private func isToldWhileItCloses() throws -> Bool {
        let engine = SocketEngine()
        let (ours, theirs) = try ConnectedPair.tcpPair()
        let tcp = AsyncSocket(engine: engine)
        try tcp.adopt(descriptor: ours)
        let unix = try ConnectedPair(.unix, engine: engine)
        let first = try #require(tcp.session), second = try #require(unix.socket.session)
        let told = Lock<[[SocketID: PeerEnd]]>([])
        let observer = PeerObserver { @Sendable ends in told.withLock { $0.append(ends) } }
        // A session's process is asked for where the socket is of Unix: after the kernel was asked about the one of TCP.
        func look(_ meanwhile: @escaping @Sendable () -> Void = {}) {
            observer.look(engine.snapshot(SnapshotRequest(kernel: .all)), .all) { @Sendable _ in
                meanwhile()
                return Int(getpid())
            }
        }
        func isTold(_ holds: (PeerEnd, PeerEnd) -> Bool) -> Bool {
            told.withLock { rounds in
                rounds.contains { ends in
                    guard let end = ends[first], let other = ends[second] else { return false }
                    return holds(end, other)
                }
            }
        }
        tcp.write([1, 2, 3])
        let isFound = eventually {
            look()
            return isTold { end, _ in end.unread == 3 && end.program?.process == Int(getpid()) }
        }
        #expect(isFound)
        unix.socket.write([4])
        #expect(eventually { engine.snapshot().socket(second)?.sent == 1 })
        let isOpen = Lock(true)
        let isOver = eventually {
            look {
                isOpen.withLock { isOpen in
                    if isOpen { close(theirs) }
                    isOpen = false
                }
            }
            return isTold { _, other in other.unread == 1 } && !isOpen.withLock { $0 }
        }
        #expect(isOver)
        return !isTold { end, _ in end.unread == 3 && end.program == nil }
    }

    @Test("a socket that a child got is told as the child's once the program has closed it")
    func passedOn() throws {
        let engine = SocketEngine()
        let (ours, theirs) = try ConnectedPair.tcpPair()
        let socket = AsyncSocket(engine: engine)
        try socket.adopt(descriptor: ours)
        let session = try #require(socket.session)
        let last = Lock<PeerEnd.Program?>(nil)
        let observer = PeerObserver { @Sendable ends in last.withLock { $0 = ends[session]?.program } }
        // A second look through all processes waits for a hundred times what the first one took.
        func isTold(_ process: pid_t) -> Bool {
            eventually(within: .seconds(300)) {
                observer.look(engine.snapshot(SnapshotRequest(kernel: .all)), .all) { @Sendable _ in Int(getpid()) }
                return last.withLock { $0?.process == Int(process) }
            }
        }
        #expect(isTold(getpid()))
        let child = try HoldingProcess(theirs)
        defer { child.kill() }
        close(theirs)
        #expect(isTold(child.process))
        #expect(last.withLock { $0?.descriptor } == 0)
    }
}
