import InspectorCore
import SocketKit
import SocketTestSupport
import Testing

@testable import InspectorShell
@testable import SockTUI

@Suite("Faults and breakpoints of our own connections", .timeLimit(.minutes(10)))
struct OwnFaultTests {
    /// A program with rules, and another end.
    private final class World {
        let source: EngineSource
        let control: FaultControl
        let engine = SocketEngine()
        let served = Recorder()
        let target: Reception

        init(_ rules: [String] = [], breaks: [String] = []) throws {
            var options = FaultOptions()
            (options.rules, options.breaks, options.seed) = (rules, breaks, 1)
            control = FaultControl(options)
            #expect(control.begin(with: options) == nil)
            source = EngineSource(asks: false, control: control)
            var configuration = SocketConfiguration()
            configuration.allowsHalfOpen = true
            target = try Reception(
                engine: engine,
                accepting: Recorder(onAccept: { [served] in
                    $0.delegate = served
                    $0.read(OwnFaultTests.any)
                }), configuration: configuration)
        }

        var accepted: AsyncSocket? { target.accepting.sockets.first }

        func open(_ start: (@escaping @Sendable (Result<SocketID, SocketError>) -> Void) -> Void) throws -> SocketID {
            let answer = Lock<Result<SocketID, SocketError>?>(nil)
            start { given in answer.withLock { $0 = given } }
            try #require(eventually { answer.withLock { $0 } != nil })
            return try #require(try answer.withLock { $0 }?.get())
        }

        func connect(greeting: String = "") throws -> SocketID {
            var request = OpenRequest(.tcp(host: "127.0.0.1", port: target.port), allowsHalfOpen: true)
            request.greeting = Array(greeting.utf8)
            return try open { source.connect(request, then: $0) }
        }

        func write(_ text: String, _ id: SocketID) {
            source.perform(.write(id, WriteRequest(Array(text.utf8), tag: 5)))
        }

        func snapshot(_ id: SocketID) -> SocketSnapshot? { source.engine.snapshot().socket(id) }

        /// What the reads of a connection got.
        func read(_ id: SocketID) -> String {
            let items = source.engine.snapshot(SnapshotRequest(traffic: id)).traffic?.items ?? []
            return String(decoding: items.filter { $0.direction == .received }.flatMap(\.bytes), as: UTF8.self)
        }

        var servedText: String { String(decoding: served.received, as: UTF8.self) }
    }

    private static let any = ReadRequest(.available(limit: nil), isStanding: true)

    @Test("what we write, what we read and both ends of the stream go through the rules")
    func both() throws {
        let world = try World([
            "upstream replace ping with PING", "downstream replace /o+/ with 0", "upstream latency 20ms",
        ])
        let id = try world.connect(greeting: "a ping ")
        world.write("another ping", id)
        #expect(eventually { world.servedText == "a PING another PING" })
        world.accepted?.write(Array("foo\nbooo".utf8))
        #expect(eventually { world.read(id) == "f0\n" })
        world.source.perform(.halfClose(id))
        #expect(eventually { world.served.calls.contains(.closedReadStream) })
        world.accepted?.halfClose()
        #expect(eventually { world.read(id) == "f0\nb0" })
        #expect(eventually { world.snapshot(id)?.isLive == false })
        let rules = world.snapshot(id)?.fault?.rules ?? []
        #expect(rules.map(\.count) == [2, 2, 2] || rules.map(\.count).allSatisfy { $0 > 0 } && rules.count == 3)
    }

    @Test("a breakpoint holds what comes from the peer, FIN too, and releases it")
    func held() throws {
        let world = try World(breaks: ["downstream on bytes 3", "downstream on fin"])
        let id = try world.connect()
        try #require(eventually { world.accepted != nil })
        world.accepted?.write(Array("abcdef".utf8))
        world.accepted?.halfClose()
        #expect(eventually { world.read(id) == "abc" && world.snapshot(id)?.fault?.hold?.downstreamBytes == 3 })
        world.control.perform(.release(.bytes(1), id, nil)) { #expect(!$0.isRefusal) }
        #expect(eventually { world.read(id) == "abcd" })
        world.control.perform(.release(.all, id, nil)) { #expect(!$0.isRefusal) }
        #expect(eventually { world.read(id) == "abcdef" && world.snapshot(id)?.fault?.hold?.text == "fin" })
        #expect(world.snapshot(id)?.flags.contains(.socketHasReadEOF) == false)
        world.write("still open", id)
        #expect(eventually { world.servedText == "still open" })
        world.control.perform(.release(.all, id, nil)) { #expect(!$0.isRefusal) }
        #expect(eventually { world.snapshot(id)?.flags.contains(.socketHasReadEOF) == true })
    }

    @Test("a breakpoint at the connect holds what was to be sent first")
    func connect() throws {
        let world = try World(breaks: ["on connect"])
        let id = try world.connect(greeting: "hello")
        #expect(eventually { world.snapshot(id)?.fault?.hold?.text == "connect" })
        #expect(world.served.received.isEmpty)
        world.control.perform(.release(.all, id, nil)) { #expect(!$0.isRefusal) }
        #expect(eventually { world.servedText == "hello" })
    }

    @Test("upstream is towards us where we accepted")
    func accepted() throws {
        let world = try World(["upstream limit 3"])
        let listener = try world.open {
            world.source.listen(OpenRequest(.tcp(host: "127.0.0.1", port: 0), allowsHalfOpen: true), then: $0)
        }
        let port = try #require(world.snapshot(listener)?.local?.port)
        let client = AsyncSocket(engine: world.engine)
        try client.connect(toHost: "127.0.0.1", port: port)
        client.write(Array("abcdef".utf8))
        #expect(eventually { world.source.engine.snapshot().sockets.contains { $0.parent == listener } })
        let id = try #require(world.source.engine.snapshot().sockets.first { $0.parent == listener }?.id)
        #expect(eventually { world.read(id) == "abc" && world.snapshot(id)?.flags.contains(.socketHasReadEOF) == true })
        #expect(world.snapshot(id)?.fault?.droppedBytes == 3)
    }

    @Test("a connection that an operation times out on is held")
    func timeout() throws {
        let world = try World(breaks: ["on timeout"])
        let id = try world.connect()
        world.source.perform(.cancel(id, .reads))
        world.source.perform(.read(id, ReadRequest(.length(4), timeout: .milliseconds(20), tag: 3)))
        #expect(eventually { world.snapshot(id)?.fault?.hold?.text == "timeout" })
        world.control.perform(.release(.all, id, nil)) { #expect(!$0.isRefusal) }
        #expect(eventually { world.snapshot(id)?.fault?.hold == nil })
    }

    @Test("a rule that is added while a connection exists concerns what follows, and a reset ends it")
    func added() throws {
        let world = try World()
        let id = try world.connect()
        world.write("one", id)
        #expect(eventually { world.servedText == "one" })
        _ = try world.control.add("upstream replace o with 0")
        #expect(eventually { world.snapshot(id)?.fault != nil })
        world.write("two", id)
        #expect(eventually { world.servedText == "onetw0" })
        _ = try world.control.add("after 3 reset")
        world.write("end", id)
        #expect(eventually { world.served.lastError?.reason == .system(errno: 104) })
    }
}
