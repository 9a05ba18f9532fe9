import Glibc
import InspectorCore
import SocketKit
import SocketTestSupport
import Testing

@testable import HostSockets
@testable import InspectorShell
@testable import SockTUI

/// What is found out of the program at the other end, beside what ss says of both ends.
@Suite("The other end", .enabled(if: Peer.isUsable("python3", "ss")), .timeLimit(.minutes(10)))
struct OtherEndTests {
    /// A program that takes a connection and reads nothing from it.
    private static let forgetful = """
        import signal, socket, sys
        kind = socket.AF_UNIX if sys.argv[1].startswith('/') else socket.AF_INET
        s = socket.socket(kind)
        s.bind(sys.argv[1] if kind == socket.AF_UNIX else ('127.0.0.1', int(sys.argv[1])))
        s.listen()
        print('ready', flush=True)
        held = s.accept()
        signal.pause()
        """

    /// Asks until what is found out of a session is as wanted.
    private func finds(
        _ end: OurEnd, _ isWanted: (SocketSnapshot, PeerEnd) -> Bool
    ) -> Bool {
        let found = Lock<[SocketID: PeerEnd]>([:])
        let observer = PeerObserver { @Sendable ends in found.withLock { $0 = ends } }
        return eventually {
            let snapshot = end.engine.snapshot(SnapshotRequest(kernel: .all))
            observer.look(snapshot, .all) { @Sendable _ in Int(getpid()) }
            guard let id = end.socket.session, let socket = snapshot.sockets.first(where: { $0.id == id }),
                let peer = found.withLock({ $0[id] })
            else { return false }
            return isWanted(socket, peer)
        }
    }

    @Test("of TCP: queued, send queue, in flight and unread agree with ss, on both ends, when the peer stops reading")
    func tcp() throws {
        let (peer, port) = try Peer.server { ["python3", "-c", Self.forgetful, "\($0)"] }
        let end = try OurEnd.connected(to: .tcp(host: "127.0.0.1", port: port))
        let whole = 16 << 20
        end.socket.write([UInt8](repeating: 7, count: whole))
        let own = try #require(end.socket.localAddress?.port)
        var last: PeerEnd?
        let agrees = finds(end) { socket, found in
            guard let ours = try? SocketStatistics.socket(local: own, peer: port),
                let theirs = try? SocketStatistics.socket(local: port, peer: own),
                let sendQueue = socket.kernel?.sendQueue, sendQueue > 0
            else { return false }
            last = found
            return found.unread == theirs.receiveQueue && sendQueue == ours.sendQueue
                && socket.writing.pendingBytes + sendQueue + theirs.receiveQueue == whole
                && theirs.processes == [peer.process]
        }
        #expect(agrees)
        let program = try #require(last?.program)
        #expect(program.process == Int(peer.process) && program.name.hasPrefix("python3"))
        let link = try HostSystem.live.link("/proc/\(program.process)/fd/\(program.descriptor)")
        #expect(NetworkText.socketInode(link) != nil)
    }

    @Test("of the Unix domain: the program and what it has not read")
    func unix() throws {
        let folder = try TemporaryFolder()
        let peer = try Peer(["python3", "-c", Self.forgetful, folder.path + "/s"], keeping: folder)
        // The file is there before anybody listens.
        try #require(eventually { String(decoding: peer.output, as: UTF8.self).contains("ready") })
        let end = try OurEnd.connected(to: .unix(path: folder.path + "/s"))
        end.socket.write([UInt8](repeating: 7, count: 1_000))
        #expect(finds(end) { _, found in found.unread == 1_000 && found.program?.process == Int(peer.process) })
    }

    @Test("where nobody of this host is at the other end, nothing is claimed")
    func nobody() {
        guard let query = SocketQuery(.live) else {
            Issue.record("the kernel has no sock_diag")
            return
        }
        let local = SocketAddress.v4(host: "127.0.0.1", port: 9)
        let none = [
            query.other(local: local, peer: .v4(host: "127.0.0.1", port: 9)),
            query.other(local: local, peer: .unnamed), query.other(process: getpid(), descriptor: -1),
        ]
        #expect(none.allSatisfy { $0 == nil })
    }
}
