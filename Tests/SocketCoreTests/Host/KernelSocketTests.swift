import SocketCore
import Testing

@Suite("Sockets as the kernel tells them")
struct KernelSocketTests {
    private func numbers<N: FixedWidthInteger>(_ numbers: [N]) -> [UInt8] {
        numbers.flatMap { number in withUnsafeBytes(of: number) { Array($0) } }
    }

    private func message(_ type: UInt16, flags: UInt16 = 2, sequence: UInt32 = 7, _ content: [UInt8]) -> [UInt8] {
        numbers([UInt32(16 + content.count)]) + numbers([type, flags]) + numbers([sequence, 0]) + content
    }

    private func attribute(_ type: UInt16, _ content: [UInt8]) -> [UInt8] {
        let bytes = numbers([UInt16(4 + content.count), type]) + content
        return bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }

    /// `struct inet_diag_msg`
    private func connection(
        family: UInt8 = 2, state: UInt8 = 1, local: [UInt8] = [127, 0, 0, 1], peer: [UInt8] = [10, 0, 0, 2]
    ) -> [UInt8] {
        let zeros = [UInt8](repeating: 0, count: 16)
        let head: [UInt8] = [family, state, 4, 3] + numbers([UInt16(9_000).bigEndian, UInt16(51_022).bigEndian])
        let hosts = Array((local + zeros).prefix(16)) + Array((peer + zeros).prefix(16))
        return head + hosts + numbers([UInt32(5), 0x11, 0x22, 1_500, 101, 202, 33, 4_242])
    }

    private func socket(_ content: [UInt8], of table: SocketTable = .tcp4) -> HostSocket? {
        HostSocket(content.span.bytes, 0..<content.count, of: table, time: .zero)
    }

    @Test("a TCP connection with all that was asked for")
    func tcp() throws {
        var info = [UInt8](repeating: 0, count: 248)
        func set(_ offset: Int, _ bytes: [UInt8]) { info.replaceSubrange(offset..<(offset + bytes.count), with: bytes) }
        set(2, [1, 2, 3])
        set(44, numbers([UInt32(10), 0, 20, 30]))
        set(68, numbers([UInt32(70)]))
        set(80, numbers([UInt32(80)]))
        set(100, numbers([UInt32(100)]))
        set(120, numbers([UInt64(120), 1_128]))
        set(144, numbers([UInt32(144)]))
        set(176, numbers([UInt64(176), 184]))
        set(200, numbers([UInt64(200), 8]))
        set(228, numbers([UInt32(228), 232]))
        let memory = numbers([UInt32(1), 2, 3, 4, 5, 6, 7, 8, 9])
        let content =
            connection() + attribute(2, info) + attribute(4, Array("cubic\0".utf8)) + attribute(7, memory)
            + attribute(8, [2]) + attribute(21, numbers([UInt64(77)])) + attribute(0x7FFF, [1]) + attribute(9_999, [])
        let socket = try #require(self.socket(content))
        #expect(socket.id == 0x22_0000_0011 && socket.inode == 4_242 && socket.user == 33 && socket.interface == 5)
        #expect(
            socket.local == .v4(host: "127.0.0.1", port: 9_000) && socket.peer == .v4(host: "10.0.0.2", port: 51_022))
        #expect(socket.receiveQueue == 101 && socket.sendQueue == 202 && socket.consumed == 1_027)
        #expect(socket.timer == 4 && socket.retransmits == 3 && socket.timerExpires == .milliseconds(1_500))
        #expect(socket.congestion == "cubic" && socket.shutdown == 2 && socket.cgroup == 77)
        #expect(socket.memory == HostMemory(received: 1, receiveBuffer: 2, sent: 3, sendBuffer: 4, drops: 9))
        let tcp = try #require(socket.tcp)
        #expect(tcp.tries == 1 && tcp.probes == 2 && tcp.backoff == 3)
        #expect(tcp.lastSent == .milliseconds(10) && tcp.lastReceived == .milliseconds(20))
        #expect(tcp.lastAcknowledged == .milliseconds(30) && tcp.roundTrip == .microseconds(70))
        #expect(tcp.congestionWindow == 80 && tcp.retransmitted == 100 && tcp.acknowledged == 120)
        #expect(tcp.received == 1_128 && tcp.notSent == 144 && tcp.windowLimited == .microseconds(176))
        #expect(tcp.bufferLimited == .microseconds(184) && tcp.sent == 200 && tcp.sendWindow == 228)
        #expect(tcp.receiveWindow == 232)
    }

    @Test("what an older kernel does not fill is not known", arguments: 0...248)
    func shortInfo(length: Int) {
        let tcp = socket(connection() + attribute(2, [UInt8](repeating: 1, count: length)))?.tcp
        #expect((tcp?.lastReceived != nil) == (length >= 56))
        #expect((tcp?.received != nil) == (length >= 136))
        #expect((tcp?.sent != nil) == (length >= 208))
        #expect((tcp?.receiveWindow != nil) == (length >= 236))
    }

    @Test("a listener has no connection's numbers")
    func listener() {
        let socket = socket(connection(state: 10, peer: []) + attribute(2, [UInt8](repeating: 1, count: 248)))
        #expect(socket?.isListening == true && socket?.tcp == nil && socket?.unread == nil)
    }

    @Test("a socket that is destroyed is told with its last counters; without its protocol it is none")
    func closing() throws {
        var info = [UInt8](repeating: 0, count: 248)
        info.replaceSubrange(128..<136, with: numbers([UInt64(1_101)]))
        let content = connection(state: 7) + attribute(10, [6]) + attribute(2, info)
        func closing(_ content: [UInt8]) -> HostSocket? {
            HostSocket(closing: content.span.bytes, 0..<content.count, time: .zero)
        }
        let socket = try #require(closing(content))
        #expect(socket.transport == .tcp && socket.state == .closed && socket.id == 0x22_0000_0011)
        #expect(socket.consumed == 1_000 && socket.unread == 101)
        let datagrams = closing(connection(state: 7) + attribute(10, [17]))
        #expect(datagrams?.transport == .udp && datagrams?.unread == nil && datagrams?.unsent == nil)
        #expect(closing(connection(state: 7)) == nil && closing(connection(state: 7) + attribute(10, [132])) == nil)
        for count in 0..<content.count { _ = closing(Array(content.prefix(count))) }
        #expect(closing([UInt8](repeating: 0xFF, count: 200)) == nil)
    }

    @Test("addresses: IPv6, IPv4 in IPv6 form, and none")
    func addresses() {
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 1]
        let own = [UInt8](repeating: 0, count: 15) + [1]
        let socket = self.socket(connection(family: 10, local: own, peer: mapped), of: .tcp6)
        #expect(socket?.local == .v6(host: "::1", port: 9_000))
        #expect(socket?.peer == .v4(host: "192.0.2.1", port: 51_022))
        var alone = connection(state: 7, peer: [])
        alone.replaceSubrange(6..<8, with: [0, 0])
        #expect(self.socket(alone, of: .udp4)?.peer == nil && self.socket(alone, of: .udp4)?.transport == .udp)
    }

    @Test("Unix-domain sockets by kind and name")
    func unix() throws {
        func unix(_ kind: UInt8, _ attributes: [UInt8]) -> HostSocket? {
            socket([1, kind, 1, 0] + numbers([UInt32(11), 0x33, 0x44]) + attributes, of: .unix)
        }
        let queues = attribute(4, numbers([UInt32(7), 768]))
        let full = try #require(
            unix(
                1,
                attribute(0, Array("/run/a\0x".utf8)) + attribute(2, numbers([UInt32(12)])) + queues
                    + attribute(6, [3]) + attribute(7, numbers([UInt32(1_000)]))))
        #expect(full.id == 0x44_0000_0033 && full.inode == 11 && full.peerInode == 12 && full.user == 1_000)
        #expect(full.local == .unix(path: "/run/a") && full.transport == .unixStream && full.shutdown == 3)
        #expect(full.receiveQueue == 7 && full.sendQueue == 768)
        #expect(unix(2, attribute(0, [0] + Array("x".utf8)))?.local == .abstract(name: "x"))
        #expect(unix(5, [])?.transport == .unixPacket && unix(5, [])?.local == .unnamed)
        #expect(unix(5, attribute(0, []))?.local == .unnamed && unix(5, [])?.receiveQueue == nil)
        #expect(unix(3, []) == nil)
    }

    @Test("a message that is cut is none, whatever table it is said to be of", arguments: SocketTable.allCases)
    func cut(table: SocketTable) {
        let whole = connection() + attribute(7, numbers([UInt32(1), 2, 3, 4, 5, 6, 7, 8, 9]))
        for count in 0..<whole.count {
            let socket = self.socket(Array(whole.prefix(count)), of: table)
            #expect(table.isUnix || (socket == nil) == (count < 72))
            #expect(socket?.memory == nil)
        }
        #expect(self.socket([UInt8](repeating: 0xFF, count: 200), of: table) == nil)
    }

    @Test("messages in one datagram, and those of another length than they say")
    func messages() {
        let bytes =
            message(20, [1, 2, 3]) + [0] + message(20, flags: 0x12, [4]) + [0, 0, 0]
            + message(2, numbers([Int32(-13)])) + message(2, numbers([Int32(0)])) + message(3, numbers([Int32(-5)]))
            + message(99, []) + message(3, numbers([Int32(0)]))
        var offset = 0
        var found: [NetlinkMessage] = []
        while let message = NetlinkMessage.next(in: bytes.span.bytes, at: &offset) { found.append(message) }
        #expect(found.map(\.kind) == [.data, .data, .failure(13), .other, .failure(5), .other, .end])
        #expect(found.map(\.wasInterrupted) == [false, true, false, false, false, false, false])
        #expect(found.first?.content == 16..<19 && found.allSatisfy { $0.sequence == 7 })
        for length: UInt32 in [0, 15, 21, .max] {
            var broken = message(20, [1, 2, 3, 4])
            broken.replaceSubrange(0..<4, with: numbers([length]))
            offset = 0
            #expect(NetlinkMessage.next(in: broken.span.bytes, at: &offset) == nil)
        }
        offset = 0
        #expect(NetlinkMessage.next(in: message(2, []).span.bytes, at: &offset)?.kind == .failure(71))
    }

    @Test("a connection by Multipath TCP has its own queues, which its first subflow shows until it is gone")
    func multipath() throws {
        let info = [UInt8](repeating: 0, count: 16) + numbers([UInt64(1_000), 600, 5])
        func connection(_ content: [UInt8], of table: SocketTable = .multipath4) -> (UInt64, HostMultipath)? {
            HostMultipath.connection(content.span.bytes, 0..<content.count, of: table, time: .zero)
        }
        let (inode, facts) = try #require(connection(self.connection() + attribute(2, info)))
        #expect(inode == 4_242 && facts == HostMultipath(receiveQueue: 101, sendQueue: 400))
        #expect(connection(self.connection(), of: .multipath6)?.1.sendQueue == 202)
        #expect(connection(self.connection(state: 10)) == nil && connection(self.connection(), of: .tcp4) == nil)

        var subflow = try #require(socket(self.connection(state: 8)))
        subflow.absorb(HostMultipath(receiveQueue: 5_832, sendQueue: 400))
        #expect(subflow.unread == 5_933 && subflow.unsent == 400 && subflow.consumed == nil)
        subflow.absorb(HostMultipath(receiveQueue: 0, sendQueue: 0))
        #expect(subflow.unread == 101 && subflow.unsent == 202)
        subflow.absorb(nil)
        #expect(subflow == socket(self.connection(state: 8)) && subflow.unread == 100)
    }

    @Test("a connection of several subflows has what all of them have, and counts no byte twice")
    func joined() throws {
        func subflow(_ numbers: [UInt64], received age: UInt32) throws -> HostSocket {
            var info = [UInt8](repeating: 0, count: 248)
            info.replaceSubrange(52..<56, with: self.numbers([age]))
            info.replaceSubrange(120..<136, with: self.numbers([numbers[0], numbers[1]]))
            info.replaceSubrange(200..<216, with: self.numbers([numbers[2], numbers[3]]))
            return try #require(socket(connection() + attribute(2, info)))
        }
        let (first, second) = try (subflow([10, 20, 31, 1], received: 500), subflow([1, 2, 3, 0], received: 40))
        var shown = first
        shown.absorb(HostMultipath(receiveQueue: 1_000, sendQueue: 0), others: [second])
        #expect(shown.multipath?.others == [HostMultipath.Ends(second)] && shown.unread == 1_202)
        #expect(shown.tcp?.acknowledged == 11 && shown.receivedBytes == 22 && shown.sentBytes == 33)
        #expect(shown.tcp?.lastReceived == .milliseconds(40))
        var whole = HostMultipath(receiveQueue: 0, sendQueue: 0)
        whole.counters = HostMultipath.Counters(sent: 300, received: 200, acknowledged: 100)
        shown.absorb(whole)
        #expect(shown.sentBytes == 300 && shown.receivedBytes == 200 && shown.tcp?.acknowledged == 100)
        shown.absorb(nil)
        #expect(shown.sentBytes == first.sentBytes && shown.tcp?.acknowledged == 10 && shown.multipath == nil)
    }

    @Test("questions ask for these states and ports")
    func questions() {
        let tcp = SocketTable.tcp4.request(sequence: 9, states: [.established], localPort: 80)
        #expect(tcp.count == 72 && tcp.span.bytes.u32(0, in: 0..<4) == 72)
        #expect(tcp[16...19].elementsEqual([2, 6, 0b1100_1010, 0]))
        #expect(tcp.span.bytes.u32(20, in: 0..<72) == 2 && tcp[24...25].elementsEqual([0, 80]))
        let multipath = SocketTable.multipath6.request(sequence: 9)
        #expect(multipath.count == 80 && multipath[16...17].elementsEqual([10, 255]))
        #expect(multipath.suffix(8).elementsEqual([8, 0, 3, 0, 6, 1, 0, 0]))
        let unix = SocketTable.unix.request(sequence: 9)
        #expect(unix.count == 40 && unix.span.bytes.u32(20, in: 0..<40) == 0x1FFE)
        #expect(unix.span.bytes.u32(8, in: 0..<40) == 9)
        let queues = SocketTable.unixQueues.request(sequence: 9)
        #expect(queues.span.bytes.u32(20, in: 0..<40) == 1 << 10 && queues.span.bytes.u32(28, in: 0..<40) == 8)
    }

    @Test("a question about one socket names it, and wants no more than one answer")
    func single() throws {
        let (near, far) = (SocketAddress.v4(host: "127.0.0.1", port: 80), SocketAddress.v4(host: "10.0.0.2", port: 99))
        let tcp = try #require(SocketTable.request(sequence: 9, local: near, peer: far))
        #expect(tcp.table == .tcp4 && tcp.bytes.count == 72 && tcp.bytes.span.bytes.u16(6, in: 0..<72) == 1)
        #expect(tcp.bytes[24...31].elementsEqual([0, 80, 0, 99, 127, 0, 0, 1]))
        #expect(tcp.bytes[44...47].elementsEqual([10, 0, 0, 2]))
        #expect(tcp.bytes.suffix(12).elementsEqual([0, 0, 0, 0] + [UInt8](repeating: 255, count: 8)))
        let loopback = SocketAddress.v6(host: "::1", port: 80)
        #expect(SocketTable.request(sequence: 9, local: loopback, peer: loopback)?.table == .tcp6)
        #expect(SocketTable.request(sequence: 9, local: near, peer: loopback) == nil)
        #expect(SocketTable.request(sequence: 9, local: near, peer: .unnamed) == nil)
        let unix = try #require(SocketTable.request(sequence: 9, inode: 4_242))
        #expect(unix.count == 40 && unix.span.bytes.u16(6, in: 0..<40) == 1)
        #expect(unix.span.bytes.u32(24, in: 0..<40) == 4_242)
        #expect(SocketTable.request(sequence: 9, inode: 1 << 32) == nil)
    }
}
