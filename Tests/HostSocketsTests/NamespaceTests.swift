import Glibc
import SocketCore
import SocketTestSupport
import Testing

@testable import HostSockets

/// Two network namespaces, and the one that the tests run in.
@Suite(
    "Sockets of other namespaces", .serialized, .enabled(if: NamespacePair.isPossible, "\(NamespacePair.need)"),
    .timeLimit(.minutes(10)))
struct NamespaceTests {
    private static func inode(_ process: Int32) -> UInt64? {
        (try? HostSystem.live.link("/proc/\(process)/ns/net")).flatMap(NetworkText.namespaceInode)
    }

    @Test("the sockets of all namespaces are listed, each under an identity of its own, with their owners")
    func listing() throws {
        let pair = try NamespacePair()
        let observer = HostObserver(entersOthers: true)
        var look = try observer.look()
        #expect(look.namespaces[0]?.inode == Self.inode(getpid()))
        let numbers = try [pair.client, pair.server].map { process in
            try #require(look.namespaces.first { $0.value.inode == Self.inode(process) }?.key)
        }
        #expect(Set(numbers + [0]).count == 3)
        #expect(Set(look.sockets.map(\.id)).count == look.sockets.count)
        #expect(numbers.allSatisfy { look.localPorts(in: $0)?.isEmpty == false })
        let ends = look.sockets.filter { $0.local?.port == 7_000 && $0.peer?.port == 7_001 }
        #expect(Set(ends.map(\.namespace)).isSuperset(of: numbers))
        observer.examine(&look, inodes: Set(look.sockets.map(\.inode)), reads: false)
        for (number, process) in zip(numbers, [pair.client, pair.server]) {
            let here = look.sockets.filter { $0.namespace == number && $0.inode != 0 }
            #expect(here.count == (process == pair.client ? 4 : 7))
            let alone = try HostObserver(namespace: process).look().sockets
            #expect(Set(alone.map(\.id)) == Set(here.map(\.cookie)), "\(alone)")
            #expect(here.allSatisfy { look.owners[$0.inode]?.contains { $0.process == process } == true }, "\(here)")
        }
        let again = try observer.look()
        #expect(again.namespaces.filter { numbers.contains($0.key) }.count == 2)
        #expect(Set(ends.map(\.id)).isSubset(of: again.sockets.map(\.id)))
    }

    @Test("without being asked to, or without the right, the own one alone is looked at")
    func ownAlone() throws {
        let pair = try NamespacePair()
        var poor = HostSystem.live
        poor.read = { path, offset, limit throws(HostSystem.Failure) in
            guard path == "/proc/self/status" else { return try HostSystem.live.read(path, offset, limit) }
            // CAP_SYS_PTRACE without CAP_SYS_ADMIN.
            return Array("Uid:\t0\t0\t0\t0\nCapEff:\t0000000000080000\n".utf8)
        }
        for observer in [HostObserver(), HostObserver(poor, entersOthers: true)] {
            let look = try observer.look()
            #expect(look.namespaces.keys.sorted() == [0] && look.hidden.namespaces == 0)
            #expect(look.sockets.allSatisfy { $0.namespace == 0 })
        }
        let there = try HostObserver(namespace: pair.server, entersOthers: true).look()
        #expect(there.namespaces[0]?.inode == Self.inode(pair.server) && there.namespaces.count == 1)
        #expect(there.sockets.contains { $0.local?.port == NamespacePair.serverPort && $0.isListening })
    }

    @Test("unread bytes are looked at where the socket is")
    func peek() throws {
        let pair = try NamespacePair()
        let observer = HostObserver(entersOthers: true)
        var look = try observer.look()
        var found: HostSocket?
        #expect(
            try eventually {
                look = try observer.look()
                found = look.sockets.first { socket in
                    look.namespaces[socket.namespace]?.inode == Self.inode(pair.server) && socket.unread ?? 0 > 0
                        && socket.local?.port == NamespacePair.serverPort
                }
                return found != nil
            })
        let socket = try #require(found)
        observer.examine(&look, inodes: [socket.inode], reads: false)
        let owner = try #require(look.owners[socket.inode]?.first)
        #expect(owner.process == pair.server)
        let unread = try observer.peek(socket, process: owner.process, descriptor: owner.descriptor)
        #expect(unread.bytes == [UInt8](repeating: 0, count: HostObserver.peekLimit), "\(unread.reason ?? "")")
    }

    @Test("what closes there is told, and a namespace ends with its last process while it is looked at")
    func ended() throws {
        let pair = try NamespacePair()
        let observer = HostObserver(entersOthers: true)
        let before = try observer.look()
        let number = try #require(before.namespaces.first { $0.value.inode == Self.inode(pair.server) }?.key)
        let served = try #require(
            before.sockets.first {
                $0.namespace == number && $0.local?.port == NamespacePair.serverPort && !$0.isListening
            })
        let own = try #require(
            before.sockets.first { $0.namespace != number && $0.peer == served.local && $0.local == served.peer })
        #expect(pair.hasDevice)
        pair.stopServer()
        var told: Set<UInt64> = []
        #expect(
            try eventually {
                let look = try observer.look()
                told.formUnion(look.closings.map(\.id))
                let isThere = look.namespaces[number] != nil || look.sockets.contains { $0.namespace == number }
                // Its client is reset, and closes.
                return !isThere && told.contains(own.id)
            })
        #expect(own.namespace != 0)
        #expect(
            try eventually {
                _ = try observer.look()
                return !pair.hasDevice
            })
    }
}
