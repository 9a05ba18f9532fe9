import CSocketKitSystem
import Glibc
import HostSockets
import SocketCore
import SocketTestSupport
import Testing

/// SOCKTUI_PEEK_ROUNDS sets how often what ends is tried.
@Suite("Unread bytes", .serialized, .timeLimit(.minutes(10)))
struct PeekTests {
    private static let rounds = Rounds.of("SOCKTUI_PEEK_ROUNDS", else: 50)
    private let observer = HostObserver()

    /// A connection over loopback, or a pair of UDP sockets, each connected to the other.
    private struct Ends {
        var near: Int32
        var far: Int32

        init(_ kind: __socket_type) throws {
            func bound() throws -> (Int32, sockaddr_in) {
                let descriptor = Glibc.socket(AF_INET, Int32(kind.rawValue | SOCK_CLOEXEC.rawValue), 0)
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
                var size = socklen_t(MemoryLayout<sockaddr_in>.size)
                try withUnsafeMutableBytes(of: &address) { bytes in
                    let pointer = try #require(bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self))
                    try #require(bind(descriptor, pointer, size) == 0 && getsockname(descriptor, pointer, &size) == 0)
                }
                return (descriptor, address)
            }
            func join(_ descriptor: Int32, _ address: sockaddr_in) throws {
                try withUnsafeBytes(of: address) { bytes in
                    let pointer = try #require(bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self))
                    try #require(connect(descriptor, pointer, socklen_t(bytes.count)) == 0)
                }
            }
            let (first, place) = try bound()
            let (second, other) = try bound()
            if kind == SOCK_DGRAM {
                (near, far) = (first, second)
                try join(first, other)
                try join(second, place)
            } else {
                try #require(listen(first, 1) == 0)
                try join(second, place)
                near = second
                far = csystem_accept4(first, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
                close(first)
            }
        }
    }

    private static func inode(_ descriptor: Int32) -> UInt64 {
        var facts = stat()
        return fstat(descriptor, &facts) == 0 ? UInt64(facts.st_ino) : 0
    }

    /// As a look lists it, when something is unread.
    private func socket(_ descriptor: Int32) throws -> HostSocket {
        let inode = Self.inode(descriptor)
        var found: HostSocket?
        #expect(
            try eventually {
                found = try observer.look().sockets.first { $0.inode == inode }
                return found?.receiveQueue ?? 0 > 0
            })
        return try #require(found)
    }

    private func peek(_ descriptor: Int32, _ socket: HostSocket, most: Int = 100) throws -> UnreadBytes {
        try observer.peek(socket, process: getpid(), descriptor: descriptor, most: most)
    }

    private func receive(_ descriptor: Int32) -> (bytes: [UInt8], problem: Int32) {
        var buffer = [UInt8](repeating: 0, count: 100)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count < 0 ? ([], errno) : (Array(buffer[..<count]), 0)
    }

    @Test("bytes are shown and stay; the peer's end is seen as without a look")
    func bytes() throws {
        let ends = try Ends(SOCK_STREAM)
        send(ends.near, "hello", 5, 0)
        var one: Int32 = 1
        setsockopt(ends.far, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
        let socket = try socket(ends.far)
        for _ in 0..<3 {
            let found = try peek(ends.far, socket)
            #expect(found.bytes == Array("hello".utf8) && found.reason == nil)
            let options = try #require(found.options)
            #expect(options.noDelay == true && options.keepAlive == false && options.lowWater == 1)
            #expect(options.linger == nil && options.userTimeout == .zero && found.total == 5)
        }
        #expect(try peek(ends.far, socket, most: 2).bytes == Array("he".utf8))
        close(ends.near)
        #expect(receive(ends.far).bytes == Array("hello".utf8))
        #expect(receive(ends.far).bytes.isEmpty)
        let empty = try peek(ends.far, socket)
        #expect(empty.bytes.isEmpty && empty.reason == "nothing is unread")
        close(ends.far)
        #expect(throws: HostObserver.Problem.self) { try peek(ends.far, socket) }
    }

    @Test("a duplicate is not kept: the peer gets the end as soon as the program closes")
    func end() throws {
        for _ in 0..<Self.rounds {
            let ends = try Ends(SOCK_STREAM)
            send(ends.near, "x", 1, 0)
            let socket = try socket(ends.far)
            #expect(try peek(ends.far, socket).bytes == [UInt8(ascii: "x")])
            #expect(receive(ends.far).bytes.count == 1)
            close(ends.far)
            #expect(receive(ends.near).bytes.isEmpty)
            close(ends.near)
        }
    }

    @Test("a reset still comes to the program")
    func reset() throws {
        for _ in 0..<Self.rounds {
            let ends = try Ends(SOCK_STREAM)
            send(ends.near, "x", 1, 0)
            let socket = try socket(ends.far)
            _ = try peek(ends.far, socket)
            var value = linger(l_onoff: 1, l_linger: 0)
            setsockopt(ends.near, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout.size(ofValue: value)))
            close(ends.near)
            // The kernel does not list it any more, or says that an error waits, once the reset has come.
            #expect(eventually { ((try? peek(ends.far, socket))?.bytes ?? []).isEmpty })
            #expect(receive(ends.far).bytes == [UInt8(ascii: "x")])
            #expect(receive(ends.far).problem == ECONNRESET)
            close(ends.far)
        }
    }

    /// Sends to a port that is closed, unless the error has come: the kernel limits how many it tells of.
    private func draw(anErrorTo descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        if poll(&entry, 1, 0) == 1, Int32(entry.revents) & POLLERR != 0 { return true }
        send(descriptor, "y", 1, 0)
        return false
    }

    @Test("an error that waits beside a datagram still comes to the program")
    func unreachable() throws {
        for _ in 0..<Self.rounds {
            let ends = try Ends(SOCK_DGRAM)
            send(ends.near, "x", 1, 0)
            let socket = try socket(ends.far)
            #expect(try peek(ends.far, socket).bytes == [UInt8(ascii: "x")])
            close(ends.near)
            #expect(eventually { draw(anErrorTo: ends.far) })
            let found = try peek(ends.far, socket)
            #expect(found.bytes.isEmpty && found.reason?.hasPrefix("an error is pending") == true)
            #expect(receive(ends.far).problem == ECONNREFUSED)
            close(ends.far)
        }
    }

    @Test("a program that peeks by SO_PEEK_OFF is left alone; so is a descriptor that became another one")
    func others() throws {
        let (ends, more) = try (Ends(SOCK_STREAM), Ends(SOCK_STREAM))
        send(ends.near, "x", 1, 0)
        send(more.near, "x", 1, 0)
        let (socket, other) = try (socket(ends.far), socket(more.far))
        #expect(throws: HostObserver.Problem.self) { try peek(more.far, socket) }
        var offset: Int32 = 0
        if setsockopt(ends.far, SOL_SOCKET, SO_PEEK_OFF, &offset, 4) == 0 {
            #expect(try peek(ends.far, socket).reason?.contains("SO_PEEK_OFF") == true)
        }
        #expect(try peek(more.far, other).bytes.count == 1)
        for descriptor in [ends.near, ends.far, more.near, more.far] { close(descriptor) }
    }

    @Test("a refusal is remembered")
    func refusal() throws {
        var system = HostSystem.live
        system.duplicate = { _, _ throws(HostSystem.Failure) in throw HostSystem.Failure(EPERM) }
        let observer = HostObserver(system)
        let ends = try Ends(SOCK_STREAM)
        send(ends.near, "x", 1, 0)
        let socket = try socket(ends.far)
        let problem = #expect(throws: HostObserver.Problem.self) {
            try observer.peek(socket, process: getpid(), descriptor: ends.far)
        }
        #expect(problem?.sentence == "process \(getpid()) cannot be inspected: Operation not permitted")
        close(ends.near)
        close(ends.far)
    }
}
