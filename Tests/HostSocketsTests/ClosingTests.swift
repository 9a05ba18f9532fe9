import Glibc
import HostSockets
import SocketCore
import SocketTestSupport
import Synchronization
import Testing

/// Sockets that close, in a network namespace where nothing else happens.
@Suite("Closed sockets", .enabled(if: geteuid() == 0, "a network namespace needs root"), .timeLimit(.minutes(10)))
struct ClosingTests {
    private static let script = """
        import ctypes, fcntl, socket, struct, sys
        assert ctypes.CDLL(None).unshare(0x40000000) == 0, "unshare"
        probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        fcntl.ioctl(probe, 0x8914, struct.pack("16sH14x", b"lo", 0x1))
        def pair(family=socket.AF_INET, host="127.0.0.1"):
            listener = socket.create_server((host, 0), family=family)
            near = socket.create_connection(listener.getsockname()[:2])
            return near, listener.accept()[0]
        near, far = pair()
        near.sendall(bytes(98_000))
        six, other = pair(socket.AF_INET6, "::1")
        print("ready", flush=True)
        sys.stdin.readline()
        far.close(); six.close(); probe.close()
        print("closed", flush=True)
        sys.stdin.readline()
        for _ in range(300):
            near, far = pair()
            near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            near.close(); far.close()
        print("many", flush=True)
        sys.stdin.readline()
        """

    private func wait(_ word: String, of peer: Peer) {
        #expect(eventually { String(decoding: peer.output, as: UTF8.self).contains(word) }, "\(peer.complaints)")
    }

    /// The socket with so many unread bytes, of which the last may still be under way.
    private func unread(_ count: Int64, _ observer: HostObserver) throws -> HostSocket {
        var found: HostSocket?
        _ = try eventually {
            found = try observer.look().sockets.first { $0.unread == count }
            return found != nil
        }
        return try #require(found)
    }

    @Test("the kernel tells of TCP and UDP sockets that it destroys, with what was unread")
    func told() throws {
        let peer = try Peer(["python3", "-c", Self.script])
        wait("ready", of: peer)
        let observer = HostObserver(namespace: peer.process)
        let before = try observer.look()
        #expect(before.closings.isEmpty && before.closingsLost == 0)
        let unread = try unread(98_000, observer)
        try peer.write("go\n")
        wait("closed", of: peer)
        var told: [UInt64: HostSocket] = [:]
        #expect(
            try eventually {
                for socket in try observer.look().closings { told[socket.id] = socket }
                return told.count >= 3
            })
        let closing = try #require(told[unread.id])
        #expect(closing.unread == 98_000 && closing.consumed == unread.consumed && closing.state == .closed)
        #expect(told.values.contains { $0.transport == .udp } && told.values.contains { $0.local?.host == "::1" })
    }

    @Test("what was told before a look that failed is told by the next one")
    func failed() throws {
        let peer = try Peer(["python3", "-c", Self.script])
        wait("ready", of: peer)
        let fails = Mutex(false)
        var system = HostSystem.live
        system.openDiagnosis = { namespace throws(HostSystem.Failure) in
            if fails.withLock({ $0 }) { throw HostSystem.Failure(EMFILE) }
            return try HostSystem.live.openDiagnosis(namespace)
        }
        let observer = HostObserver(system, namespace: peer.process)
        let unread = try unread(98_000, observer)
        try peer.write("go\n")
        wait("closed", of: peer)
        fails.withLock { $0 = true }
        for _ in 0..<2 as Range<Int> { #expect(throws: HostObserver.Problem.self) { try observer.look() } }
        fails.withLock { $0 = false }
        var told: Set<UInt64> = []
        #expect(
            try eventually {
                told.formUnion(try observer.look().closings.map(\.id))
                return told.contains(unread.id)
            })
    }

    @Test("of a connection that was reset the kernel tells nothing before its program closes it")
    func held() throws {
        let script = """
            import ctypes, fcntl, socket, struct, sys
            assert ctypes.CDLL(None).unshare(0x40000000) == 0, "unshare"
            probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            fcntl.ioctl(probe, 0x8914, struct.pack("16sH14x", b"lo", 0x1))
            listener = socket.create_server(("127.0.0.1", 0))
            near = socket.create_connection(listener.getsockname())
            far, _ = listener.accept()
            near.sendall(bytes(77))
            print("ready", flush=True)
            sys.stdin.readline()
            near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)); near.close()
            print("closed", flush=True)
            sys.stdin.readline()
            far.close()
            sys.stdin.readline()
            """
        let peer = try Peer(["python3", "-c", script])
        wait("ready", of: peer)
        let observer = HostObserver(namespace: peer.process)
        let far = try #require(try observer.look().sockets.first { $0.unread == 77 })
        try peer.write("go\n")
        wait("closed", of: peer)
        let isGone = try eventually {
            let look = try observer.look()
            #expect(look.closingsLost == 0 && !look.closings.contains { $0.id == far.id })
            return !look.sockets.contains { $0.id == far.id }
        }
        #expect(isGone)
        try peer.write("go\n")
        #expect(try eventually { try observer.look().closings.contains { $0.id == far.id } })
    }

    /// The kernel has room for a few only where its buffer is that of an ordinary user.
    @Test("those that the kernel had no room for are counted")
    func lost() throws {
        let peer = try Peer(["python3", "-c", Self.script])
        wait("ready", of: peer)
        let observer = HostObserver(namespace: peer.process, closingRoom: 4_096)
        _ = try observer.look()
        try peer.write("go\n")
        wait("closed", of: peer)
        try peer.write("go\n")
        wait("many", of: peer)
        var (told, lost) = (0, UInt64(0))
        let isCounted = try eventually {
            let look = try observer.look()
            told += look.closings.count
            lost += look.closingsLost ?? 0
            return told > 0 && UInt64(told) + lost >= 600
        }
        #expect(isCounted, "\(told) told, \(lost) lost")
        #expect(lost > 0)
    }
}
