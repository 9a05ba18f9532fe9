import Glibc
import InspectorCore
import SocketKit
import SocketTestSupport
import Testing

@testable import InspectorShell
@testable import SockTUI

/// Who is at the other ends, when those come and go while they are looked at.
@Suite("Finding who is at the other end", .timeLimit(.minutes(10)))
struct PeerFinderTests {
    /// The kernel has told of unread bytes, the program closes before its descriptors are looked at: the bytes were its.
    @Test("a program that closes during a look is still told as the one that left bytes unread")
    func closesMeanwhile() throws {
        let engine = SocketEngine()
        let (ours, theirs) = try ConnectedPair.tcpPair()
        let tcp = AsyncSocket(engine: engine)
        try tcp.adopt(descriptor: ours)
        let unix = try ConnectedPair(.unix, engine: engine)
        let first = try #require(tcp.session), second = try #require(unix.socket.session)
        let told = Lock<[[SocketID: PeerEnd]]>([])
        let finder = PeerFinder { @Sendable ends in told.withLock { $0.append(ends) } }
        // A session's process is asked for where the socket is of Unix: after the kernel was asked about the one of TCP.
        func look(_ meanwhile: @escaping @Sendable () -> Void = {}) {
            finder.look(engine.snapshot(SnapshotRequest(kernel: .all)), .all) { @Sendable _ in
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
        #expect(!isTold { end, _ in end.unread == 3 && end.program == nil })
    }
}
