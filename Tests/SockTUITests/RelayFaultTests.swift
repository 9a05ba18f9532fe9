import InspectorCore
import SocketKit
import SocketTestSupport
import Testing

@testable import InspectorShell
@testable import SockTUI

@Suite("Faults and breakpoints of a relay", .timeLimit(.minutes(10)))
struct RelayFaultTests {
    /// A relay with rules, its target, and clients through it, all on one engine.
    final class World {
        let engine = SocketEngine()
        let control: FaultControl
        let target: Reception
        let served = Recorder()
        let relay: Relay

        init(_ rules: [String] = [], breaks: [String] = [], seed: UInt64 = 1, holdLimit: Duration? = nil) throws {
            var options = FaultOptions()
            (options.rules, options.breaks, options.seed, options.holdLimit) = (rules, breaks, seed, holdLimit)
            control = FaultControl(options)
            #expect(control.begin(with: options) == nil)
            var configuration = SocketConfiguration()
            configuration.allowsHalfOpen = true
            target = try Reception(
                engine: engine,
                accepting: Recorder(onAccept: { [served] in
                    $0.delegate = served
                    $0.read(RelayFaultTests.any)
                }), configuration: configuration)
            relay = Relay(
                engine: engine,
                request: RelayRequest(
                    listen: .tcp(host: "127.0.0.1", port: 0),
                    target: .endpoint(.tcp(host: "127.0.0.1", port: target.port))),
                control: control)
            try relay.start()
        }

        var port: UInt16 {
            let session = relay.session
            return engine.snapshot().sockets.first { $0.id == session }?.local?.port ?? 0
        }

        func connect() throws -> (socket: AsyncSocket, told: Recorder) {
            let told = Recorder()
            var configuration = SocketConfiguration()
            configuration.allowsHalfOpen = true
            let socket = AsyncSocket(engine: engine, delegate: told, configuration: configuration)
            try socket.connect(toHost: "127.0.0.1", port: port)
            socket.read(RelayFaultTests.any)
            return (socket, told)
        }

        func accepted(_ index: Int = 0) -> AsyncSocket? {
            target.accepting.sockets.count > index ? target.accepting.sockets[index] : nil
        }

        /// The relay's legs, clients' and targets' in turn.
        var legs: [SocketSnapshot] { engine.snapshot().sockets.filter { $0.linked != nil } }
        var fault: FaultSnapshot? { legs.first?.fault }

        func events(_ kind: SocketEvent.Kind) -> [SocketEvent] {
            engine.snapshot(SnapshotRequest(eventsFrom: 0)).events.filter { $0.kind == kind }
        }

        func perform(_ line: String) throws -> FaultAnswer {
            let answer = Lock<FaultAnswer?>(nil)
            control.perform(try FaultCommand.parse(line).get()) { given in answer.withLock { $0 = given } }
            try #require(eventually { answer.withLock { $0 } != nil })
            return answer.withLock { $0 } ?? FaultAnswer(lines: [])
        }
    }

    private static let any = ReadRequest(.available(limit: nil), isStanding: true)
    private static let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }

    @Test("a listener that a rule shuts and a user pauses accepts only when neither says no")
    func shutAndPaused() throws {
        let world = try World(["no-accept"])
        let session = try #require(world.relay.session)
        func listener() -> SocketSnapshot? {
            world.engine.snapshot(SnapshotRequest(kernel: .all)).socket(session)
        }
        #expect(eventually { listener()?.fault != nil && listener()?.isReadingPaused == false })
        #expect(world.events(.faulted).map(\.first) == [1])
        let client = try world.connect()
        client.socket.write([1])
        for isPaused in [true, false, true] {
            world.engine.post(.pauseReading(session, isPaused))
            #expect(eventually { listener()?.isReadingPaused == isPaused && listener()?.fault != nil })
            #expect(eventually { (listener()?.kernel?.receiveQueue ?? 0) > 0 } && listener()?.accepted == 0)
        }
        #expect(try world.perform("fault clear").isRefusal == false)
        #expect(eventually { listener()?.fault == nil })
        #expect(listener()?.isReadingPaused == true && listener()?.accepted == 0)
        world.engine.post(.pauseReading(session, false))
        #expect(eventually { world.served.received == [1] })
    }

    @Test("what is held is listed, with its next bytes in the snapshot and no more than those")
    func listing() throws {
        let world = try World(breaks: ["upstream on bytes 3"])
        #expect(try world.perform("held") == FaultAnswer(lines: ["nothing is held"]))
        let client = try world.connect()
        client.socket.write(Array("abc\r\n".utf8) + [UInt8](repeating: 0x78, count: 1_000))
        #expect(eventually { world.fault?.hold?.upstreamBytes == 1_002 })
        let hold = try #require(world.fault?.hold)
        #expect(hold.upstreamNext == [13, 10] + [UInt8](repeating: 0x78, count: 62) && hold.downstreamNext.isEmpty)
        let lines = try world.perform("held").lines
        let id = try #require(world.legs.first?.id)
        #expect(lines.count == 1 && lines[0].hasPrefix("\(id) held by breakpoint 1 (bytes 3) for "), "\(lines)")
        #expect(lines[0].hasSuffix(", upstream 1002 B, downstream 0 B"), "\(lines)")
        #expect(try world.perform("release").isRefusal == false)
        #expect(eventually { world.served.received.count == 1_005 && world.fault?.hold == nil })
    }

    @Test("without a rule that concerns a connection, none is shown and bytes pass")
    func none() throws {
        let world = try World(["connection 2 reset"])
        let client = try world.connect()
        client.socket.write(Self.bytes)
        #expect(eventually { world.served.received == Self.bytes })
        #expect(world.legs.count == 2 && world.legs.allSatisfy { $0.fault == nil })
    }

    @Test("bytes that several rules delay and cut arrive unaltered and in order, and FIN after them")
    func order() throws {
        let world = try World(["latency 20ms jitter 20ms", "slice 5000 vary 3000", "bandwidth 64M", "slow-close 10ms"])
        let client = try world.connect()
        client.socket.write(Self.bytes)
        client.socket.halfClose()
        #expect(eventually { world.served.received.count == Self.bytes.count })
        #expect(world.served.received == Self.bytes)
        #expect(eventually { world.legs.last?.isWriteShut == true })
        world.accepted()?.write(Array("answer".utf8))
        #expect(eventually { client.told.received == Array("answer".utf8) })
        let rules = world.fault?.rules ?? []
        #expect(rules.map(\.effect) == ["latency", "slice", "bandwidth", "slow-close"])
        #expect(rules.allSatisfy { $0.count > 0 })
        #expect(world.events(.faulted).map(\.first).sorted().first == 1)
    }

    @Test(
        "a client that ends while its bytes are delayed loses none of them, before the server's end or after it",
        arguments: [false, true])
    func lateEnd(isAfter: Bool) throws {
        let world = try World(["upstream latency 300ms"])
        let client = try world.connect()
        client.socket.write(Array("last words".utf8))
        try #require(eventually { world.accepted() != nil })
        world.accepted()?.halfClose()
        if isAfter { #expect(eventually { client.told.calls.contains(.closedReadStream) }) }
        client.socket.halfClose()
        #expect(eventually { world.served.received == Array("last words".utf8) })
        #expect(eventually { world.engine.snapshot().sockets.filter { $0.linked != nil }.allSatisfy { !$0.isLive } })
        #expect(world.legs.allSatisfy { $0.relay?.lostBytes == 0 })
    }

    @Test("a stall closes the sender's window, holds little, and ends with its rule")
    func stall() throws {
        let world = try World(["after 100 upstream stall"])
        let client = try world.connect()
        for _ in 0..<40 { client.socket.write(Self.bytes) }
        #expect(eventually { world.served.received.count == 100 })
        #expect(eventually { world.legs.first?.isHeldBack == true })
        let received = world.legs.first?.received ?? 0
        #expect(received <= 2 << 20 && client.socket.pendingWriteBytes > 0)
        #expect(try world.perform("fault off 1").isRefusal == false)
        #expect(eventually { world.served.received.count == 40 * Self.bytes.count })
        #expect(Array(world.served.received.prefix(Self.bytes.count)) == Self.bytes)
        #expect(eventually { world.fault?.rules.isEmpty == true })
    }

    @Test("connections are reset, refused and cut as their rules say")
    func ends() throws {
        let world = try World(["connection 1 after 10 reset", "connection 2 refuse", "connection 3 downstream limit 3"])
        let first = try world.connect()
        first.socket.write(Array("0123456789abc".utf8))
        #expect(eventually { first.told.lastError?.reason == .system(errno: 104) })
        let second = try world.connect()
        #expect(eventually { second.told.lastError?.reason == .system(errno: 104) })
        let third = try world.connect()
        try #require(eventually { world.accepted(1) != nil })
        world.accepted(1)?.write(Array("hello".utf8))
        #expect(eventually { third.told.received == Array("hel".utf8) && third.told.calls.contains(.closedReadStream) })
        third.socket.write(Array("still".utf8))
        #expect(eventually { world.served.received.suffix(5) == Array("still".utf8) })
        let cut = world.legs.first { $0.fault?.rules.contains { $0.effect == "limit" } ?? false }
        #expect(cut?.fault?.droppedBytes == 2)
        let told = world.events(.faulted)
        #expect(Set(told.map(\.first)) == [1, 2, 3] && told.first?.second == 10)
        #expect(world.target.accepting.sockets.count == 2)
    }

    @Test("what a rule delays when its sender resets is counted as lost")
    func lostWithItsSender() throws {
        let world = try World(["upstream latency 600s"])
        let client = try world.connect()
        client.socket.write(Self.bytes)
        let count = UInt64(Self.bytes.count)
        #expect(eventually { world.legs.first?.received == count && world.legs.count == 2 })
        client.socket.disconnect(.reset)
        #expect(eventually { world.legs.contains { $0.relay?.lostBytes == count } }, "\(world.legs.map(\.relay))")
        #expect(world.served.received.isEmpty)
    }

    @Test("a listener that a rule shuts accepts again when the rule goes")
    func noAccept() throws {
        let world = try World(["no-accept"])
        let session = world.relay.session
        func isShut() -> Bool {
            world.engine.snapshot().sockets.first { $0.id == session }?.fault?.rules.map(\.effect) == ["no-accept"]
        }
        #expect(eventually { isShut() })
        let client = try world.connect()
        #expect(try world.perform("fault clear").lines == ["1 fault removed"])
        #expect(eventually { world.accepted() != nil && !isShut() })
        client.socket.write([1])
        #expect(eventually { world.served.received == [1] })
    }

    @Test("a breakpoint stops at its byte, releases what is asked for, and leaves other connections alone")
    func breakpoint() throws {
        let world = try World(breaks: ["upstream on bytes 4711"])
        let client = try world.connect()
        for _ in 0..<20 { client.socket.write(Self.bytes) }
        #expect(eventually { world.served.received.count == 4_711 && world.fault?.hold != nil })
        #expect(eventually { world.legs.first?.isHeldBack == true })
        let hold = try #require(world.fault?.hold)
        #expect(hold.breakpoint == 1 && hold.text == "bytes 4711" && hold.upstreamBytes <= 256 << 10)
        #expect(try world.perform("release 1").isRefusal == false)
        #expect(eventually { world.served.received.count == 4_712 })
        #expect(try world.perform("release 10").isRefusal == false)
        #expect(eventually { world.served.received.count == 4_722 })
        let other = try world.connect()
        other.socket.write(Array("other".utf8))
        #expect(eventually { world.served.received.count == 4_727 })
        #expect(try world.perform("release all").isRefusal == false)
        #expect(eventually { world.served.received.count == 20 * Self.bytes.count + 5 })
        var whole = world.served.received
        whole.removeSubrange(4_722..<4_727)
        #expect(whole == [UInt8]([[UInt8]](repeating: Self.bytes, count: 20).joined()))
        #expect(world.events(.held).count == 1 && world.events(.released).count == 1)
        #expect(try world.perform("release").lines == ["nothing is held"])
    }

    @Test("held bytes are edited or dropped, and a held connection is reset")
    func heldBytes() throws {
        let world = try World(breaks: ["upstream on match secret"])
        let client = try world.connect()
        client.socket.write(Array("a secret!".utf8))
        #expect(eventually { world.fault?.hold?.upstreamBytes == 7 })
        let id = try #require(world.legs.first?.id)
        let held = Lock<[UInt8]>([])
        world.control.heldBytes(of: id, 100) { bytes in held.withLock { $0 = bytes } }
        #expect(eventually { held.withLock { $0 } == Array("secret!".utf8) })
        #expect(try world.perform("release edit word? \(id)").lines == ["released \(id)"])
        #expect(eventually { world.served.received == Array("a word?".utf8) })
        #expect(world.events(.injected).map(\.first) == [5])
        #expect(eventually { world.fault?.droppedBytes == 7 })
        client.socket.write(Array("secret".utf8))
        #expect(eventually { world.fault?.hold != nil })
        #expect(try world.perform("release drop").lines == ["dropped the held bytes of \(id)"])
        #expect(eventually { world.fault?.droppedBytes == 13 })
        client.socket.write(Array("secret".utf8))
        #expect(eventually { world.fault?.hold != nil })
        #expect(try world.perform("release all #999").lines == ["#999 is not held"])
        #expect(try world.perform("release reset").lines == ["reset \(id)"])
        #expect(eventually { client.told.lastError?.reason == .system(errno: 104) })
        #expect(world.served.received == Array("a word?".utf8))
    }

    @Test("a connection is held before anything is done with it, and when it is established")
    func accept() throws {
        let world = try World(breaks: ["on accept", "on connect"])
        let client = try world.connect()
        client.socket.write([7])
        #expect(eventually { world.control.isAnyHeld })
        #expect(world.target.accepting.sockets.isEmpty)
        #expect(try world.perform("release").isRefusal == false)
        #expect(eventually { world.accepted() != nil && world.fault?.hold?.breakpoint == 2 })
        #expect(world.served.received.isEmpty)
        #expect(try world.perform("release").isRefusal == false)
        #expect(eventually { world.served.received == [7] })
    }

    @Test("FIN and a reset are held from the other side until they are released")
    func heldEnds() throws {
        let world = try World(breaks: ["upstream on fin", "upstream on reset"])
        let first = try world.connect()
        first.socket.write([1])
        first.socket.halfClose()
        #expect(eventually { world.served.received == [1] && world.fault?.hold?.text == "fin" })
        #expect(world.legs.last?.isWriteShut == false)
        #expect(try world.perform("release").isRefusal == false)
        #expect(eventually { world.legs.last?.isWriteShut == true })
        let second = try world.connect()
        try #require(eventually { world.accepted(1) != nil })
        second.socket.disconnect(.reset)
        #expect(eventually { world.control.isAnyHeld })
        #expect(world.accepted(1)?.isConnected == true)
        #expect(try world.perform("release").isRefusal == false)
        #expect(eventually { world.accepted(1)?.isConnected == false })
    }

    @Test("a connection that ends while it is held is not shown as held, nor bytes of it as delayed")
    func endsHeld() throws {
        let world = try World(["upstream latency 60s"], breaks: ["upstream on bytes 3"])
        let client = try world.connect()
        client.socket.write(Array("hello world".utf8))
        #expect(eventually { world.fault?.hold?.upstreamBytes == 8 && world.fault?.delayedBytes == 3 })
        client.socket.disconnect(.reset)
        #expect(eventually { world.legs.count == 2 && world.legs.allSatisfy { $0.phase == .closed } })
        #expect(eventually { world.legs.allSatisfy { $0.fault?.hold == nil && $0.fault?.delayedBytes == 0 } })
        #expect(eventually { world.legs.contains { $0.relay?.lostBytes == 11 } })
    }

    @Test("a breakpoint that is removed, and the limit of a hold, release what is held")
    func holdLimit() throws {
        let world = try World(breaks: ["on bytes 1"], holdLimit: .milliseconds(50))
        let client = try world.connect()
        client.socket.write([1, 2, 3])
        #expect(eventually { world.served.received == [1, 2, 3] })
        #expect(world.events(.held).count == 1)
        let endless = try World(breaks: ["on bytes 1"])
        let other = try endless.connect()
        other.socket.write([1, 2, 3])
        #expect(eventually { endless.fault?.hold != nil })
        #expect(try endless.perform("break off 1").isRefusal == false)
        #expect(eventually { endless.served.received == [1, 2, 3] })
    }

    @Test("rules are added to connections that exist")
    func added() throws {
        let world = try World()
        let client = try world.connect()
        client.socket.write(Array("one".utf8))
        #expect(eventually { world.served.received == Array("one".utf8) })
        #expect(
            try world.perform("fault add upstream replace two with TWO").lines[0].hasPrefix("fault 1: upstream replace")
        )
        #expect(eventually { world.fault?.rules.count == 1 })
        client.socket.write(Array("two three".utf8))
        #expect(eventually { world.served.received == Array("oneTWO three".utf8) })
        #expect(try world.perform("fault add slow").lines.count == 1)
        #expect(
            try world.perform("fault list").lines.dropFirst() == [
                "fault 1: upstream replace two with TWO", "fault 2: latency 300ms jitter 100ms",
                "fault 3: bandwidth 32K",
            ])
        #expect(try world.perform("fault add nosuchprofile").isRefusal)
        #expect(try world.perform("fault clear").lines == ["3 faults removed"])
        client.socket.write(Array(" two".utf8))
        #expect(eventually { world.served.received == Array("oneTWO three two".utf8) })
    }

    @Test("warnings never take a fault for the peer's doing")
    func lints() throws {
        var socket = SocketSnapshot(id: SocketID(1), role: .accepted, phase: .connected, target: "", opened: .zero)
        socket.activity.unreadSince = .zero
        socket.linked = SocketID(2)
        var snapshot = EngineSnapshot(engine: "e", time: .zero + .seconds(3_600), wallNanoseconds: 0)
        func found(_ fault: FaultSnapshot?) -> Int {
            var socket = socket
            socket.fault = fault
            snapshot.sockets = [socket]
            var findings = Findings(LintSettings())
            findings.absorb(snapshot, lost: 0)
            return findings[SocketID(1)].count
        }
        var fault = FaultSnapshot()
        fault.rules = [FaultSnapshot.Rule(number: 1, effect: "stall", text: "stall")]
        #expect(found(nil) > 0 && found(fault) > 0)
        fault.rules[0].count = 1
        #expect(found(fault) == 0)
    }
}

extension FaultControl {
    fileprivate var isAnyHeld: Bool {
        let answer = Lock<Bool?>(nil)
        heldCount { count in answer.withLock { $0 = count > 0 } }
        return eventually { answer.withLock { $0 } != nil } && answer.withLock { $0 } == true
    }
}
