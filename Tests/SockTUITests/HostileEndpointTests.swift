import Glibc
import HostSockets
import InspectorCore
import SocketKit
import SocketRecords
import SocketTestSupport
import Testing

@testable import InspectorShell
@testable import SockTUI

/// An endpoint that pretends to be a program which can be inspected, and lies.
@Suite("A hostile endpoint", .timeLimit(.minutes(10)))
struct HostileEndpointTests {
    /// Greets every viewer with the same words.
    private final class Liar: SocketListenerDelegate {
        private let hello: InspectionHello
        private let accepted = Lock<[AsyncSocket]>([])

        init(_ hello: InspectionHello) { self.hello = hello }

        func listener(_ listener: SocketListener, didAccept socket: AsyncSocket) {
            accepted.withLock { $0.append(socket) }
            socket.write(InspectionFrame.hello(hello).bytes)
        }
    }

    /// Processes that do not exist, or that a viewer could not even name to the kernel.
    @Test("which process it is, the kernel says", arguments: [0, 1, 1 << 31, 1 << 40, Int.max])
    func process(claimed: Int) throws {
        let folder = try TemporaryFolder()
        chmod(folder.path, 0o700)
        var hello = InspectionHello()
        (hello.program, hello.process) = ("liar", claimed)
        let liar = Liar(hello)
        let listener = SocketListener(engine: SocketEngine(), delegate: liar)
        try listener.listen(on: .unix(path: folder.path + "/1-1.sock"))
        var entries: [AttachablePrograms.Entry] = []
        let hasAnswered = eventually {
            entries = AttachablePrograms.list(in: folder.path)
            return entries.first?.hello != nil
        }
        #expect(hasAnswered && entries.map(\.program) == ["liar"])
        #expect(entries.map(\.process) == [Int(getpid())])
    }

    /// A process number that does not fit ended the viewer once.
    @Test("whoever names no process has no other end found, and everybody else still does")
    func peers() throws {
        let folder = try TemporaryFolder()
        let reception = try Reception(.unix(path: folder.path + "/s"))
        let (engine, client) = (reception.engine, AsyncSocket(engine: reception.engine))
        try client.connect(to: .unix(path: folder.path + "/s"))
        #expect(eventually { client.isConnected })
        let found = Lock<[SocketID: PeerEnd]>([:])
        let observer = PeerObserver { @Sendable ends in found.withLock { $0 = ends } }
        let claims = Lock([Int.max, 1 << 40, 1 << 31, -1, Int.min])
        let isFound = eventually {
            observer.look(engine.snapshot(SnapshotRequest(kernel: .all)), .all) { @Sendable _ in
                claims.withLock { $0.popLast() } ?? Int(getpid())
            }
            return client.session.flatMap { id in found.withLock { $0[id] } } != nil
        }
        #expect(isFound)
        #expect(claims.withLock { $0.isEmpty })
    }

    @Test("neither the names that it gives itself nor that of its socket reach the list raw")
    func names() {
        var hello = InspectionHello()
        (hello.program, hello.engine) = ("p\u{1B}[2J", "e\u{9D}0;title\u{9C}")
        let path = "/run/x\u{1B}]0;title\u{07}\u{202E}\n.sock"
        let table = AttachablePrograms.table([
            AttachablePrograms.Entry(path: path, hello: hello, process: 1, program: hello.program)
        ])
        let row = table.split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
        #expect(row.count == 1 && row.first?.contains("/run/x\\x1b]0;title\\x07\\u{202e}") == true, "\(table)")
        let isSafe = table.unicodeScalars.allSatisfy { scalar in
            scalar == "\n" || ![.control, .format].contains(scalar.properties.generalCategory)
        }
        #expect(isSafe, "\(table)")
    }
}
