import Dispatch
import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// Statements 114 to 122, as the better engine has them.
@Suite(.timeLimit(.minutes(10))) struct DatagramStatements {
    private let client = DatagramEnd()

    @Test func statement114_aDatagramOfAnyLengthArrivesWholeAndIsReportedOnce() throws {
        let server = try DatagramEnd.bound()
        let lengths = [1, 2, 63, 64, 512, 1_472, 2_047, 2_048, 2_049, 9_216, 9_217, 20_000, 65_506, 65_507]
        for (tag, length) in lengths.enumerated() {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ tag) }
            client.socket.send(bytes, to: server.place, tag: tag)
            #expect(eventually { server.payloads.count == tag + 1 })
            #expect(server.payloads.last == bytes)
        }
        #expect(eventually { client.recorder.calls == lengths.indices.map { .sent(tag: $0) } })
        #expect(
            server.recorder.datagrams.allSatisfy { !$0.isTruncated && $0.destination == server.socket.localAddress })
        let counters = try #require(server.picture?.datagrams?.counters)
        #expect(counters.received == UInt64(lengths.count) && counters.dropped == 0)
        #expect(server.picture?.received == UInt64(lengths.reduce(0, +)))
    }

    @Test func statement115_aDatagramThatIsTooLongFailsAloneAndTheSocketStaysOpen() throws {
        let server = try DatagramEnd.bound()
        client.socket.send([1], to: server.place, tag: 1)
        client.socket.send([UInt8](repeating: 7, count: 65_508), to: server.place, tag: 2)
        client.socket.send([3], to: server.place, tag: 3)
        #expect(eventually { server.payloads == [[1], [3]] })
        #expect(
            eventually {
                client.recorder.calls == [.sent(tag: 1), .notSent(tag: 2, .system(errno: EMSGSIZE)), .sent(tag: 3)]
            })
        let detail = client.recorder.failures.first?.error.detail ?? ""
        #expect(detail.contains("65508 bytes") && detail.contains("65507"))
        #expect(client.recorder.failures.first?.bytes.count == 65_508)
        #expect(!client.socket.isClosed && client.picture?.datagrams?.counters.failed == 1)
    }

    @Test func statement116_nothingIsReceivedBeforeAskedForOneWhenOneAllWhenAllAndNoneWhilePaused() throws {
        for receive in [DatagramSocket.receiveOnce, DatagramSocket.beginReceiving] {
            let error = try #require(throws: SocketError.self) { try receive(client.socket)() }
            #expect(error.code == 1)
        }
        let server = try DatagramEnd.bound(isReceiving: false)
        for number in 1...5 { client.socket.send([UInt8(number)], to: server.place) }
        #expect(eventually { client.recorder.calls.count == 5 })
        #expect(server.payloads.isEmpty)
        try server.socket.receiveOnce()
        #expect(eventually { server.payloads == [[1]] })
        try server.socket.receiveOnce()
        #expect(eventually { server.payloads == [[1], [2]] })
        server.engine.fence()
        #expect(server.payloads.count == 2 && server.picture?.datagrams?.mode == .paused)
        try server.socket.beginReceiving()
        #expect(eventually { server.payloads == [[1], [2], [3], [4], [5]] })
        server.socket.pauseReceiving()
        for number in 6...8 { client.socket.send([UInt8(number)], to: server.place) }
        #expect(eventually { client.recorder.calls.count == 8 })
        server.engine.fence()
        #expect(server.payloads.count == 5)
        try server.socket.beginReceiving()
        #expect(eventually { server.payloads.suffix(3) == [[6], [7], [8]] })
    }

    @Test(arguments: [nil, DispatchQueue(label: "filter")])
    func statement117_filtersHoldBackAndGiveAContextAlong(_ queue: DispatchQueue?) throws {
        let server = try DatagramEnd.bound(isReceiving: false)
        client.socket.sendFilter = DatagramSendFilter(queue: queue) { bytes, destination, _ in
            destination != nil && bytes != [2]
        }
        for number in 1...4 { client.socket.send([UInt8(number)], to: server.place, tag: number) }
        // Held back, and reported all the same.
        #expect(eventually { client.recorder.calls == (1...4).map { .sent(tag: $0) } })
        server.socket.receiveFilter = DatagramReceiveFilter(queue: queue) { datagram in
            datagram.bytes == [1] ? .drop : .pass(context: "seen \(datagram.bytes)")
        }
        try server.socket.receiveOnce()
        #expect(eventually { server.payloads == [[3]] })
        #expect(server.recorder.datagrams.first?.context as? String == "seen [3]")
        try server.socket.beginReceiving()
        #expect(eventually { server.payloads == [[3], [4]] })
        #expect(client.picture?.datagrams?.counters.filteredOut == 1)
        #expect(client.picture?.datagrams?.counters.sent == 3)
        #expect(server.picture?.datagrams?.counters.filteredIn == 1)
        #expect(server.picture?.datagrams?.counters.received == 3)
    }

    @Test func statement118_aConnectedSocketHearsAndSpeaksToItsPeerAloneAndIsBoundOnce() throws {
        let server = try DatagramEnd.bound()
        let stranger = try DatagramEnd.bound()
        let own = try DatagramEnd.bound(isReceiving: false)
        // Before it is connected, and so past the kernel's own check.
        stranger.socket.send([1], to: own.place)
        #expect(eventually { stranger.recorder.calls == [.sent(tag: 0)] })
        try own.socket.connect(to: server.place)
        #expect(eventually { own.recorder.calls == [.connected] })
        try own.socket.beginReceiving()
        stranger.socket.send([2], to: own.place)
        server.socket.send([3], to: own.place)
        #expect(eventually { own.payloads == [[3]] })
        #expect(own.picture?.datagrams?.counters.foreign == 1)
        own.socket.send([4], to: .udp(host: "localhost", port: 9), tag: 4)
        own.socket.send([5], to: stranger.place, tag: 5)
        own.socket.send([6], tag: 6)
        #expect(eventually { server.payloads == [[6]] })
        #expect(eventually { own.recorder.failures.map(\.tag) == [4, 5] })
        #expect(own.recorder.failures.map(\.error.code) == [1, 1])
        let bound = try #require(throws: SocketError.self) { try server.socket.bind(to: .udp(host: "", port: 0)) }
        let late = DatagramEnd()
        try late.socket.connect(to: server.place)
        let connected = try #require(throws: SocketError.self) { try late.socket.bind(to: .udp(host: "", port: 0)) }
        #expect(bound.code == 1 && connected.code == 1)
        #expect(!stranger.socket.isClosed && stranger.payloads.isEmpty)
    }

    @Test func statement119_aDatagramWithoutBytesIsDeliveredAndTheSocketStaysOpen() throws {
        let server = try DatagramEnd.bound()
        client.socket.send([], to: server.place, tag: 1)
        client.socket.send([2], to: server.place, tag: 2)
        #expect(eventually { server.payloads == [[], [2]] })
        #expect(eventually { client.recorder.calls == [.sent(tag: 1), .sent(tag: 2)] })
        #expect(!server.socket.isClosed && server.picture?.datagrams?.counters.received == 2)
    }

    @Test func statement120_closingAfterSendingSendsAllFirstAndTheSocketCanBeUsedAgain() throws {
        let server = try DatagramEnd.bound()
        for number in 1...100 { client.socket.send([UInt8(number)], to: server.place, tag: number) }
        client.socket.send([101], to: .udp(host: "localhost", port: server.socket.localAddress?.port ?? 0), tag: 101)
        client.engine.fence()
        client.socket.closeAfterSending()
        #expect(eventually { client.recorder.calls.last == .closed(nil) })
        #expect(client.recorder.calls.dropLast() == (1...101).map { .sent(tag: $0) })
        #expect(eventually { server.payloads == (1...101).map { [UInt8($0)] } })
        #expect(client.socket.isClosed && client.socket.session == nil)
        client.socket.send([200], to: server.place, tag: 200)
        #expect(eventually { server.payloads.last == [200] })
        client.socket.close()
        #expect(eventually { client.recorder.calls.suffix(2) == [.sent(tag: 200), .closed(nil)] })
    }

    @Test func statement121_aDatagramBeyondTheSocketsOwnLimitIsRejected() throws {
        let server = try DatagramEnd.bound()
        var configuration = DatagramConfiguration()
        configuration.maximumSendLength = 1_000
        let client = DatagramEnd(configuration: configuration)
        client.socket.send([UInt8](repeating: 1, count: 1_000), to: server.place, tag: 1)
        client.socket.send([UInt8](repeating: 2, count: 1_001), to: server.place, tag: 2)
        client.socket.send([3], to: server.place, tag: 3)
        #expect(eventually { server.payloads.map(\.count) == [1_000, 1] })
        #expect(eventually { client.recorder.failures.map(\.tag) == [2] })
        #expect(client.recorder.failures.first?.error.reason == .system(errno: EMSGSIZE))
        #expect(client.recorder.failures.first?.error.detail.contains("1000") == true)
        #expect(!client.socket.isClosed)
    }

    @Test func statement122_aFullBufferIsWaitedForAndATimeoutFailsOneDatagramAlone() throws {
        let folder = try TemporaryFolder()
        let time = ManualTime()
        let engine = SocketEngine.with(time: time)
        let server = DatagramEnd(engine: engine)
        try server.socket.bind(to: .unix(path: folder.path + "/s"))
        let client = DatagramEnd(engine: engine)
        // A receiver's queue holds a few datagrams (net.unix.max_dgram_qlen); the rest wait here.
        let count = 200
        for number in 0..<count { client.socket.send([7], to: server.place, tag: number) }
        engine.fence()
        let sent = client.recorder.calls.count
        #expect(sent > 0 && sent < count && client.recorder.failures.isEmpty)
        #expect(client.socket.pendingCount == count - sent)
        try server.socket.beginReceiving()
        #expect(
            eventually {
                time.pass(.milliseconds(5))
                return server.payloads.count == count
            })
        #expect(eventually { client.recorder.calls == (0..<count).map { .sent(tag: $0) } })

        server.socket.pauseReceiving()
        for number in 0..<count { client.socket.send([8], to: server.place, timeout: .seconds(5), tag: number) }
        engine.fence()
        let before = client.recorder.calls.count - count
        time.pass(.seconds(4))
        #expect(client.recorder.failures.isEmpty)
        time.pass(.seconds(1))
        // The one in hand alone; the clock of the next begins when it comes to be in hand.
        #expect(client.recorder.failures.map(\.tag) == [before])
        #expect(client.recorder.failures.first?.error.code == 3)
        try server.socket.beginReceiving()
        #expect(
            eventually {
                time.pass(.milliseconds(5))
                return server.payloads.count == 2 * count - 1
            })
        #expect(!client.socket.isClosed && client.recorder.failures.count == 1)
    }
}
