import Dispatch
import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// What a datagram socket does beyond the numbered statements.
@Suite(.timeLimit(.minutes(10))) struct DatagramTests {
    private let client = DatagramEnd()

    // MARK: Addresses

    @Test func eachDatagramSaysWhereItCameFromAndWhereItWent() throws {
        let server = try DatagramEnd.bound("")
        let port = try #require(server.socket.localAddress?.port)
        #expect(server.socket.localAddresses == [.v4(host: "0.0.0.0", port: port), .v6(host: "::", port: port)])
        for host in ["127.0.0.1", "127.0.0.2", "::1"] { client.socket.send([1], to: .udp(host: host, port: port)) }
        #expect(eventually { server.payloads.count == 3 })
        let destinations = server.recorder.datagrams.compactMap(\.destination)
        // The two families have no order between them.
        #expect(
            Set(destinations) == [
                .v4(host: "127.0.0.1", port: port), .v4(host: "127.0.0.2", port: port), .v6(host: "::1", port: port),
            ])
        let loopback = if_nametoindex("lo")
        #expect(server.recorder.datagrams.allSatisfy { $0.interface == loopback })
        let sources = Set(server.recorder.datagrams.map(\.source.port))
        #expect(sources == Set(client.socket.localAddresses.map(\.port)))
        let peers = try #require(server.picture?.datagrams?.peers)
        // One for each family: a source is an address and a port.
        #expect(Set(peers.map(\.packetsReceived)) == [1, 2])
    }

    @Test func anAnswerGoesBackOverUnixDomainSockets() throws {
        let folder = try TemporaryFolder()
        let server = DatagramEnd()
        try server.socket.bind(to: .unix(path: folder.path + "/s"))
        try server.socket.beginReceiving()
        try client.socket.connect(to: .unix(path: folder.path + "/s"))
        client.socket.send([1])
        #expect(eventually { server.payloads == [[1]] })
        try client.socket.beginReceiving()
        let source = try #require(server.recorder.datagrams.first?.source)
        server.socket.send([2], to: Endpoint(source))
        #expect(eventually { client.payloads == [[2]] })
        // Left behind by a program that crashed, the file would be replaced; one in use is not.
        let error = try #require(throws: SocketError.self) {
            try DatagramEnd().socket.bind(to: .unix(path: folder.path + "/s"))
        }
        #expect(error.reason == .system(errno: EADDRINUSE))
        server.socket.close()
        #expect(!folder.contains("s"))
        // Nobody is there any more: an error of the datagram, and of the socket none.
        client.socket.send([3], tag: 3)
        #expect(eventually { client.recorder.failures.map(\.tag) == [3] })
        #expect(!client.socket.isClosed)
    }

    // MARK: What was cut off, refused, dropped

    @Test func aDatagramLongerThanWhatIsKeptIsCutOffAndSaysSo() throws {
        var configuration = DatagramConfiguration()
        configuration.maximumReceiveLength = 100
        let server = try DatagramEnd.bound(configuration: configuration)
        for length in [99, 100, 101, 5_000] {
            client.socket.send([UInt8](repeating: 7, count: length), to: server.place)
        }
        #expect(eventually { server.payloads.map(\.count) == [99, 100, 100, 100] })
        #expect(server.recorder.datagrams.map(\.length) == [99, 100, 101, 5_000])
        #expect(server.recorder.datagrams.map(\.isTruncated) == [false, false, true, true])
        #expect(server.picture?.datagrams?.counters.truncated == 2)
    }

    @Test func thatNobodyListensIsToldAndTheSocketStaysOpen() throws {
        let gone = try DatagramEnd.bound()
        let place = gone.place
        gone.socket.close()
        try client.socket.connect(to: place)
        try client.socket.beginReceiving()
        client.socket.send([1], tag: 1)
        #expect(eventually { client.recorder.calls.contains(.met(.system(errno: ECONNREFUSED))) })
        #expect(client.recorder.calls.first == .connected && client.recorder.calls.contains(.sent(tag: 1)))
        #expect(!client.socket.isClosed && client.picture?.datagrams?.counters.errors == 1)
        let turns = client.engine.snapshot().counters.turns
        client.engine.fence()
        #expect(client.engine.snapshot().counters.turns - turns < 10)
    }

    @Test func aBadArgumentGetsAnErrorOfItsOwnThatNamesIt() throws {
        let end = try DatagramEnd.bound()
        func refusal(_ body: () throws -> Void) throws -> SocketError {
            try #require(throws: SocketError.self, performing: body)
        }
        let refusals = [
            (try refusal { try end.socket.joinGroup("10.0.0.1") }, "not a multicast group"),
            (try refusal { try end.socket.joinGroup("nonsense") }, "nonsense"),
            (try refusal { try end.socket.joinGroup("ff02::1") }, "wrong address family"),
            (try refusal { try end.socket.joinGroup("239.1.2.3", interface: "nosuch0") }, "nosuch0"),
            (try refusal { try end.socket.leaveGroup("239.1.2.3", interface: "lo") }, "not joined"),
            (try refusal { try end.socket.sendMulticast(onInterface: "nosuch0") }, "nosuch0"),
            (try refusal { try DatagramEnd().socket.bind(to: .udp(host: "no.such.name", port: 0)) }, "no.such.name"),
            (try refusal { try DatagramEnd().socket.connect(to: .udp(host: "127.0.0.1", port: 0)) }, "port"),
        ]
        for (error, word) in refusals { #expect(error.code == 2 && error.detail.contains(word), "\(error)") }
        end.socket.send([1], to: .udp(host: "::1", port: 9), tag: 1)
        end.socket.send([2], tag: 2)
        end.socket.send([3], to: .unix(path: "/nosuch"), tag: 3)
        end.socket.send([4], to: .udp(host: "127.0.0.1", port: 0), tag: 4)
        end.socket.send([5], to: .udp(host: "127.0.0.1", port: 9), timeout: .seconds(-1), tag: 5)
        end.socket.send([6], to: end.place, tag: 6)
        #expect(eventually { end.payloads == [[6]] })
        let failures = Dictionary(uniqueKeysWithValues: end.recorder.failures.map { ($0.tag, $0.error) })
        #expect(failures[1]?.detail.contains("wrong address family") == true)
        #expect(failures[2]?.code == 1 && failures[3]?.detail.contains("wrong address family") == true)
        #expect(failures[4]?.detail.contains("port") == true && failures[5]?.detail.contains("timeout") == true)
        #expect(!end.socket.isClosed)
    }

    @Test func aNameThatCannotBeResolvedFailsItsDatagramAndThoseBehindItKeepTheirOrder() throws {
        let server = try DatagramEnd.bound()
        let port = try #require(server.socket.localAddress?.port)
        let resolver = ScriptedResolver(["server.test": [.v4(host: "127.0.0.1", port: port)]])
        let client = DatagramEnd(engine: SocketEngine.with(resolver: resolver))
        client.socket.send([1], to: .udp(host: "server.test", port: port), tag: 1)
        client.socket.send([2], to: .udp(host: "nosuch.test", port: port), tag: 2)
        client.socket.send([3], to: server.place, tag: 3)
        #expect(eventually { server.payloads == [[1], [3]] })
        #expect(
            eventually {
                client.recorder.calls == [.sent(tag: 1), .notSent(tag: 2, .resolver(code: -2)), .sent(tag: 3)]
            })
    }

    @Test func aQueueThatIsFullRefusesAndSaysHowMuchItHolds() throws {
        var configuration = DatagramConfiguration()
        configuration.sendQueueLimit = 1_000
        let client = DatagramEnd(
            engine: SocketEngine.with(resolver: SilentResolver()), configuration: configuration)
        for tag in 1...4 {
            client.socket.send([UInt8](repeating: 1, count: 200), to: .udp(host: "x.test", port: 9), tag: tag)
        }
        client.engine.fence()
        #expect(client.recorder.calls == [.notSent(tag: 4, .system(errno: ENOBUFS))])
        #expect(client.recorder.failures.first?.error.detail.contains("3 datagrams of 600 bytes") == true)
        client.socket.close()
        #expect(eventually { client.recorder.calls.last == .closed(nil) })
        #expect(client.recorder.failures.map(\.tag) == [4, 1, 2, 3])
    }

    @Test func errorsAndAFullBufferOfTheKernelConcernOneDatagram() throws {
        let kernel = FaultyKernel()
        let server = try DatagramEnd.bound()
        let client = DatagramEnd(engine: SocketEngine.with(kernel: kernel))
        kernel.fail(.sendDatagrams, with: [EAGAIN, EPERM, EAGAIN, ENETUNREACH])
        for tag in 1...4 { client.socket.send([UInt8(tag)], to: server.place, tag: tag) }
        #expect(eventually { server.payloads.count == 2 })
        #expect(server.payloads == [[3], [4]])
        let reasons: [SocketError.Reason] = [.system(errno: EPERM), .system(errno: ENETUNREACH)]
        #expect(eventually { client.recorder.failures.map(\.error.reason) == reasons })
        kernel.fail(.receiveDatagrams, with: [ECONNREFUSED])
        try client.socket.beginReceiving()
        server.socket.send([9], to: client.place.onLoopback)
        #expect(eventually { client.payloads == [[9]] })
        #expect(client.recorder.calls.contains(.met(.system(errno: ECONNREFUSED))))
        client.socket.close()
        #expect(kernel.openDescriptors.isEmpty)
    }

    @Test func whatTheKernelDroppedIsCountedAlsoTheLastOfIt() throws {
        var configuration = DatagramConfiguration()
        configuration.receiveBuffer = 4_096
        let server = try DatagramEnd.bound(configuration: configuration, isReceiving: false)
        for tag in 0..<500 { client.socket.send([UInt8](repeating: 1, count: 500), to: server.place, tag: tag) }
        #expect(eventually { client.recorder.calls.count == 500 })
        try server.socket.beginReceiving()
        #expect(eventually { UInt64(server.payloads.count) + (server.picture?.kernel?.drops ?? 0) == 500 })
        let drops = try #require(server.picture?.kernel?.drops)
        #expect(drops > 0 && drops < 500)
        #expect(server.picture?.datagrams?.kernelDrops == drops)
        server.socket.close()
        let closed = server.engine.snapshot().sockets.last?.datagrams
        #expect(closed?.kernelDrops == drops && closed?.counters.received == 500 - drops)
    }

    // MARK: Groups and broadcast

    @Test func aGroupOnLoopbackReachesAllWhoJoinedAndNobodyElse() throws {
        let group = Endpoint.udp(host: "239.255.77.1", port: 0)
        let first = DatagramEnd()
        try first.socket.bind(to: group)
        let port = try #require(first.socket.localAddress?.port)
        let second = DatagramEnd()
        try second.socket.bind(to: .udp(host: "239.255.77.1", port: port))
        let outsider = try DatagramEnd.bound()
        for end in [first, second] {
            try end.socket.joinGroup("239.255.77.1", interface: "lo")
            try end.socket.beginReceiving()
        }
        #expect(first.picture?.datagrams?.groups == ["239.255.77.1 on lo"])
        try client.socket.sendMulticast(onInterface: "lo")
        client.socket.send([1], to: .udp(host: "239.255.77.1", port: port), tag: 1)
        #expect(eventually { first.payloads == [[1]] && second.payloads == [[1]] })
        #expect(first.recorder.datagrams.first?.destination == .v4(host: "239.255.77.1", port: port))
        try first.socket.leaveGroup("239.255.77.1", interface: "lo")
        client.socket.send([2], to: .udp(host: "239.255.77.1", port: port), tag: 2)
        #expect(eventually { second.payloads == [[1], [2]] })
        #expect(first.payloads == [[1]] && outsider.payloads.isEmpty)
    }

    /// On `lo` itself they change nothing that could be seen.
    @Test func loopbackAndHopsOfGroupsAreSetOnWhatIsOpenAndOnWhatIsOpenedLater() throws {
        let end = try DatagramEnd.bound("")
        try end.socket.setMulticast(loopback: false, timeToLive: 7)
        func values(_ end: DatagramEnd) -> [Int32] {
            end.socket.withDescriptors { descriptors in
                [IP_MULTICAST_LOOP, IP_MULTICAST_TTL].map { name in
                    var value: Int32 = -1
                    var length = socklen_t(MemoryLayout<Int32>.size)
                    getsockopt(descriptors[0], Int32(IPPROTO_IP), name, &value, &length)
                    return value
                }
            }
        }
        #expect(values(end) == [0, 7])
        end.socket.close()
        try end.socket.bind(to: .udp(host: "127.0.0.1", port: 0))
        #expect(values(end) == [0, 7])
        let error = try #require(throws: SocketError.self) {
            try end.socket.setMulticast(loopback: true, timeToLive: 256)
        }
        #expect(error.detail.contains("256"))
    }

    @Test func aBroadcastNeedsToBeAllowed() throws {
        let server = try DatagramEnd.bound("")
        let port = try #require(server.socket.localAddress?.port)
        let place = Endpoint.udp(host: "127.255.255.255", port: port)
        client.socket.send([1], to: place, tag: 1)
        #expect(eventually { client.recorder.calls == [.notSent(tag: 1, .system(errno: EACCES))] })
        try client.socket.setBroadcastEnabled(true)
        client.socket.send([2], to: place, tag: 2)
        #expect(eventually { server.payloads == [[2]] })
        #expect(server.recorder.datagrams.first?.destination?.host == "127.255.255.255")
    }

    @Test func socketsThatAgreeToShareAPortDo() throws {
        var configuration = DatagramConfiguration()
        configuration.reusePort = true
        let first = try DatagramEnd.bound(configuration: configuration)
        let second = DatagramEnd(configuration: configuration)
        try second.socket.bind(to: first.place)
        let third = DatagramEnd()
        let error = try #require(throws: SocketError.self) { try third.socket.bind(to: first.place) }
        #expect(error.reason == .system(errno: EADDRINUSE) && third.socket.session == nil)
    }

    // MARK: Connecting and closing

    @Test func afterADisconnectItHearsAndSpeaksToAnybodyAgain() throws {
        let server = try DatagramEnd.bound()
        let other = try DatagramEnd.bound()
        let own = try DatagramEnd.bound()
        own.socket.send([1], to: other.place, tag: 1)
        try own.socket.connect(to: server.place)
        #expect(eventually { own.socket.isConnected })
        #expect(eventually { own.recorder.calls == [.sent(tag: 1), .connected] })
        let again = try #require(throws: SocketError.self) { try own.socket.connect(to: other.place) }
        #expect(again.code == 1)
        let place = own.place
        own.socket.disconnect()
        #expect(!own.socket.isConnected && own.socket.peerAddress == nil && own.place == place)
        own.socket.send([2], to: other.place, tag: 2)
        other.socket.send([3], to: own.place)
        #expect(eventually { other.payloads == [[1], [2]] && own.payloads == [[3]] })
    }

    @Test func aSocketThatIsLetGoClosesAndAnotherTakesItsPort() throws {
        let kernel = FaultyKernel()
        let engine = SocketEngine.with(kernel: kernel)
        let port: UInt16
        do {
            let end = try DatagramEnd.bound(engine: engine)
            port = try #require(end.socket.localAddress?.port)
        }
        #expect(eventually { kernel.openDescriptors.isEmpty })
        let next = DatagramEnd(engine: engine)
        try next.socket.bind(to: .udp(host: "127.0.0.1", port: port))
    }

    // MARK: Queues and awaiting

    @Test func aSlowDelegateQueueHoldsBackAndNothingIsLostThatTheKernelGave() throws {
        let queue = DispatchQueue(label: "slow")
        let engine = SocketEngine()
        let recorder = DatagramRecorder()
        let socket = DatagramSocket(engine: engine, delegate: recorder, delegateQueue: queue)
        try socket.bind(to: .udp(host: "127.0.0.1", port: 0))
        try socket.beginReceiving()
        queue.suspend()
        let place = try #require(socket.localAddress.flatMap(Endpoint.init))
        for tag in 0..<3_000 { client.socket.send([UInt8](repeating: 3, count: 1_000), to: place, tag: tag) }
        #expect(eventually { client.recorder.calls.count == 3_000 })
        let counters = try #require(engine.picture(of: socket.session)?.datagrams?.counters)
        #expect(counters.received < 3_000 && recorder.calls.isEmpty)
        queue.resume()
        #expect(
            eventually {
                guard let picture = engine.picture(of: socket.session), let facts = picture.datagrams else {
                    return false
                }
                return facts.counters.received + (picture.kernel?.drops ?? 0) == 3_000
                    && recorder.calls.count == Int(facts.counters.received)
            })
    }

    @Test func awaitedDatagramsComeInOrderAndThoseWithoutRoomAreCounted() async throws {
        let server = try DatagramEnd.bound(isReceiving: false)
        let datagrams = try server.socket.datagrams(limit: 10)
        for number in 0..<25 { try await client.socket.send([UInt8(number)], to: server.place) }
        #expect(await eventually { server.picture?.datagrams?.counters.unfetched == 15 })
        var iterator = datagrams.makeAsyncIterator()
        for number in 0..<10 { #expect(try await iterator.next()?.bytes == [UInt8(number)]) }
        try await client.socket.send([99], to: server.place)
        #expect(try await iterator.next()?.bytes == [99])
        server.socket.close()
        #expect(try await iterator.next() == nil)
        #expect(server.payloads.isEmpty && client.recorder.calls.isEmpty)
        await #expect(throws: SocketError.self) { try await client.socket.send([1]) }
    }

    @Test func aCancelledWaitEndsAtOnce() async throws {
        let server = try DatagramEnd.bound(isReceiving: false)
        let datagrams = try server.socket.datagrams()
        let waiting = Task {
            var iterator = datagrams.makeAsyncIterator()
            return try await iterator.next() == nil
        }
        waiting.cancel()
        #expect(try await waiting.value)
        #expect(!server.socket.isClosed)
    }
}

/// A resolver that never answers.
private final class SilentResolver: Resolver {
    func resolve(
        host: String, port: UInt16, answer: @escaping @Sendable (Result<[SocketAddress], SocketError>) -> Void
    ) {}
}

extension Endpoint {
    /// The same port on loopback.
    fileprivate var onLoopback: Endpoint {
        port.map { .udp(host: "127.0.0.1", port: $0) } ?? self
    }
}
