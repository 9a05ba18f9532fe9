import Dispatch
import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// What a snapshot says of the kernel's side agrees with itself, and says nothing the kernel has not measured.
@Suite struct KernelFactsTests {
    private func row(_ engine: SocketEngine, _ id: SocketID?) -> SocketSnapshot? {
        engine.snapshot(SnapshotRequest(kernel: .all)).sockets.first { $0.id == id }
    }

    @Test func queuesAndCountersAreOfOneInstantWhileBytesArrive() throws {
        let pair = try ConnectedPair()
        let peer = pair.peer
        let ends = Lock(false)
        let sends = DispatchSemaphore(value: 0)
        DispatchQueue(label: "sender").async { @Sendable in
            let block = [UInt8](repeating: 7, count: 1_448)
            while !ends.withLock({ $0 }) { send(peer, block, block.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)) }
            sends.signal()
        }
        pair.socket.read(ReadRequest(.available(limit: nil), isStanding: true))
        var wrong: [Int] = []
        for _ in 0..<12_000 {
            guard let row = row(pair.engine, pair.socket.session), let kernel = row.kernel,
                let came = kernel.bytesReceived, let unread = kernel.receiveQueue
            else { continue }
            if Int(came) - unread != Int(row.received) { wrong.append(Int(came) - unread - Int(row.received)) }
        }
        ends.withLock { $0 = true }
        sends.wait()
        #expect(wrong.isEmpty, "\(wrong.count) of 12000: \(wrong.prefix(5))")
    }

    @Test func whatIsIdleIsNotAskedAgainForAWhile() throws {
        let pair = try ConnectedPair()
        pair.socket.read(ReadRequest(.available(limit: nil), isStanding: true))
        var request = SnapshotRequest(kernel: .all)
        request.kernelAge = .seconds(3_600)
        func look() -> SocketSnapshot? { pair.engine.snapshot(request).sockets.first { $0.id == pair.socket.session } }
        func share(_ one: SocketSnapshot?, _ other: SocketSnapshot?) -> Bool {
            guard let one, let other else { return false }
            return unsafeBitCast(one, to: UInt.self) == unsafeBitCast(other, to: UInt.self)
        }
        // Its rates take two measurements.
        #expect(eventually { share(look(), look()) })
        let idle = look()
        #expect(idle?.kernel?.receiveQueue == 0)
        #expect(!share(row(pair.engine, pair.socket.session), idle), "who does not allow an age gets the state of now")
        send(pair.peer, "abc", 3, 0)
        #expect(eventually { look()?.received == 3 && look()?.kernel?.bytesReceived == 3 })
        pair.socket.isReadingPaused = true
        send(pair.peer, "more", 4, 0)
        #expect(eventually { look()?.kernel?.receiveQueue == 4 }, "no event says that bytes came")
    }

    @Test func whatWasNeverMeasuredIsUnknown() throws {
        let pair = try ConnectedPair()
        let kernel = try #require(row(pair.engine, pair.socket.session)?.kernel)
        #expect(kernel.deliveryRate == nil, "nothing was sent")
        #expect(kernel.receiverWindowLimited == nil)
        #expect(kernel.receiveBuffer ?? 0 > 0 && kernel.state == "ESTAB")
        let unix = try ConnectedPair(.unix)
        #expect(row(unix.engine, unix.socket.session)?.kernel?.state == "ESTAB")
        #expect(row(unix.engine, unix.socket.session)?.kernel?.roundTripTime == nil)
    }

    @Test func whoWaitsAtAListenerIsCountedInEveryFamily() throws {
        let folder = try TemporaryFolder()
        var configuration = SocketConfiguration()
        configuration.startsWithAcceptingPaused = true
        let engine = SocketEngine()
        for endpoint in [Endpoint.unix(path: folder.path + "/held"), .tcp(host: "127.0.0.1", port: 0)] {
            let listener = SocketListener(engine: engine, delegate: Recorder(), configuration: configuration)
            try listener.listen(on: endpoint)
            let address = try #require(listener.localAddress)
            let family = address.family.isIP ? AF_INET : AF_UNIX
            let clients = (0..<3).map { _ in
                socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            }
            defer { clients.forEach { close($0) } }
            for client in clients { #expect(LinuxKernel().connect(client, to: address) == 0) }
            #expect(eventually { row(engine, listener.session)?.kernel?.receiveQueue == 3 }, "\(endpoint)")
            let kernel = row(engine, listener.session)?.kernel
            #expect(kernel?.sendQueue == 1_024, "the backlog that was asked for")
            #expect(kernel?.state == "LISTEN")
            listener.stop()
        }
    }
}
