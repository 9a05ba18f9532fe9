import Dispatch
import Glibc
import InspectorCore
import SocketKit
import SocketTestSupport
import Testing

/// What makes a warning appear on a real connection, and what makes it go.
struct Provocation: Sendable, CustomTestStringConvertible {
    let lint: String
    var configuration = SocketConfiguration()
    let provoke: @Sendable (LintBench) throws -> Void
    let relieve: @Sendable (LintBench) throws -> Void

    var testDescription: String { lint }

    init(
        _ lint: String, configuration: SocketConfiguration = SocketConfiguration(),
        _ provoke: @escaping @Sendable (LintBench) throws -> Void,
        relieved relieve: @escaping @Sendable (LintBench) throws -> Void
    ) {
        (self.lint, self.configuration, self.provoke, self.relieve) = (lint, configuration, provoke, relieve)
    }
}

@Suite("Warnings on real connections", .serialized)
struct LintTests {
    @Test("a warning appears with its cause and goes with it", arguments: Provocation.all)
    func appearsAndGoes(_ provocation: Provocation) throws {
        let bench = try LintBench(configuration: provocation.configuration)
        #expect(bench.finds(provocation.lint) == nil)
        try provocation.provoke(bench)
        #expect(eventually { bench.finds(provocation.lint) != nil })
        try provocation.relieve(bench)
        #expect(eventually { bench.finds(provocation.lint) == nil }, "\(bench.finds(provocation.lint) ?? "")")
    }

    @Test("every warning is provoked here, but for the engine's own, those of answers and those of the host")
    func complete() {
        let provoked = Set(Provocation.all.map(\.lint)).union(["socket-queue-slow", "unanswered", "answer-slow"])
        #expect(Set(Lint.all.filter { !$0.isOfHost }.map(\.name)).subtracting(provoked).isEmpty)
        #expect(Set(Lint.all.map(\.name)).count == Lint.all.count)
    }

    @Test("an engine whose queue is blocked is told of, until it runs freely again")
    func blockedQueue() throws {
        let bench = try LintBench()
        let engine = SocketEngine()
        #expect(bench.finds("socket-queue-slow", in: engine) == nil)
        let blocks = DispatchSemaphore(value: 0)
        engine.queue.async { _ = blocks.wait(timeout: .now() + .milliseconds(250)) }
        engine.post(.halfClose(SocketID(1)))
        #expect(eventually { bench.finds("socket-queue-slow", in: engine)?.contains("ready work waited") == true })
        #expect(eventually { bench.finds("socket-queue-slow", in: engine) == nil })
    }

    @Test("what is allowed is not mentioned, what is asked for is")
    func settings() {
        var settings = LintSettings()
        let idle = Lint.named("idle"), starved = Lint.named("read-starved")
        #expect(idle.map { settings.shows($0) } == false && starved.map { settings.shows($0) } == true)
        #expect(settings.warn("idle") && settings.allow("read-starved"))
        #expect(idle.map { settings.shows($0) } == true && starved.map { settings.shows($0) } == false)
        let taken = settings.warn("idler")
        #expect(!taken)
    }

    @Test("a time is set with the name, and an unknown name is refused with the nearest one")
    func times() throws {
        var settings = LintSettings()
        try settings.warn(reading: "write-blocked=1500ms")
        #expect(try settings.time(#require(Lint.named("write-blocked"))) == .milliseconds(1_500))
        func problem(_ text: String) -> String? {
            var settings = LintSettings()
            do { try settings.warn(reading: text) } catch { return error.message }
            return nil
        }
        #expect(problem("write-blcked") == "no such warning: write-blcked; did you mean write-blocked?")
        #expect(problem("tag-reuse=1s") == "tag-reuse has no duration to set")
        #expect(problem("idle=soon")?.hasPrefix("soon is not a duration") == true)
    }
}

extension Provocation {
    static let all = reading + timing + writing + ending + tls + listening + callbacks

    private static func line(_ limit: Int? = 8192) -> ReadRequest { ReadRequest(.delimiter([13, 10], limit: limit)) }

    private static func read(_ request: ReadRequest) -> @Sendable (LintBench) -> Void {
        { $0.socket.read(request) }
    }

    private static func peerSends(_ text: String) -> @Sendable (LintBench) throws -> Void {
        { try $0.pair.peerSends(text) }
    }

    private static let reading: [Provocation] = [
        Provocation("read-starved") { bench in
            try bench.pair.peerSends("hello")
            #expect(bench.pair.leavesInTheKernel(5))
            #expect(bench.finds("read-starved") == nil, "not at once")
            bench.pass(1.5)
            #expect(bench.finds("read-starved")?.contains("5 B unread for 1.5s") == true)
        } relieved: {
            $0.socket.read(ReadRequest(.available(limit: nil)))
        },
        Provocation("eof-unseen") { bench in
            try bench.pair.peerSends("the end")
            shutdown(bench.pair.peer, Int32(SHUT_WR))
            #expect(eventually { bench.pair.picture?.activity.peerClosed != nil })
            bench.pass(2)
            #expect(bench.finds("eof-unseen")?.contains("2s ago") == true)
        } relieved: {
            $0.socket.read(ReadRequest(.available(limit: nil)))
        },
        Provocation("prebuffer-held") { bench in
            bench.socket.read(line())
            try bench.pair.peerSends("one\r\ntwo")
            #expect(eventually { bench.pair.picture?.prebuffered == 3 })
            bench.pass(6)
        } relieved: {
            $0.socket.read(ReadRequest(.available(limit: nil)))
        },
        Provocation("delimiter-slow") { bench in
            bench.socket.read(line())
            try bench.pair.peerSends("hello\n")
            #expect(eventually { bench.pair.picture?.reading.current?.done == 6 })
            bench.pass(6)
            #expect(bench.finds("delimiter-slow")?.contains("6 B scanned without CRLF") == true)
        } relieved: {
            try $0.pair.peerSends("\r\n")
        },
        Provocation("near-maxlength") { bench in
            bench.socket.read(line(100))
            try bench.pair.peerSends(String(repeating: "x", count: 95))
        } relieved: {
            try $0.pair.peerSends("\r\n")
        },
        Provocation("unbounded-delimiter", read(line(nil)), relieved: peerSends("so long\r\n")),
    ]

    private static let timing: [Provocation] = [
        Provocation("timeout-asking") { bench in
            bench.socket.read(ReadRequest(.length(4), timeout: .seconds(10), tag: 3))
            bench.engine.fence()
            bench.pass(10)
            #expect(bench.finds("timeout-asking") == nil, "not at once")
            bench.pass(0.5)
        } relieved: { bench in
            let asking = bench.pair.picture?.reading.current?.id
            let session = bench.session
            if let asking, let session {
                bench.engine.post(.answerTimeout(session, asking, .extend(by: .seconds(30))))
            }
        },
        Provocation("read-timeout-near") { bench in
            bench.socket.read(ReadRequest(.length(4), timeout: .seconds(10), tag: 3))
            bench.engine.fence()
            bench.pass(7)
            #expect(bench.finds("read-timeout-near") == nil, "not yet")
            bench.pass(2)
        } relieved: {
            try $0.pair.peerSends("done")
        },
        Provocation("write-timeout-near") { bench in
            bench.fillUp(timeout: .seconds(10))
            bench.pass(9)
        } relieved: {
            $0.drain()
        },
        Provocation("no-timeout") { bench in
            bench.socket.read(ReadRequest(.length(4)))
            bench.engine.fence()
            bench.pass(61)
        } relieved: {
            try $0.pair.peerSends("I")
        },
        Provocation("idle") { bench in
            bench.socket.read(ReadRequest(.available(limit: nil)))
            bench.pass(61)
        } relieved: {
            try $0.pair.peerSends("here")
        },
    ]

    private static let writing: [Provocation] = [
        Provocation("write-blocked") { bench in
            bench.fillUp()
            #expect(bench.finds("write-blocked") == nil, "not at once")
            bench.pass(6)
            let sentence = bench.finds("write-blocked") ?? ""
            #expect(sentence.hasPrefix("peer[\(getpid())] has not read for 6s: "), "\(sentence)")
        } relieved: {
            $0.drain()
        },
        Provocation("deadlock") { bench in
            bench.fillUp()
            bench.fillFromPeer()
            #expect(eventually { bench.pair.picture?.activity.unreadSince != nil })
            bench.pass(6)
            #expect(bench.finds("deadlock")?.hasPrefix("this end and peer[\(getpid())] are both writing") == true)
            #expect(bench.finds("write-blocked") == nil && bench.finds("read-starved") == nil, "one cause, one verdict")
        } relieved: {
            $0.drain()
        },
        Provocation("reset-cause") { bench in
            bench.socket.read(ReadRequest(.available(limit: nil), isStanding: true))
            bench.socket.write([1, 2, 3])
            // The last look before the close.
            #expect(eventually { bench.hasUnreadThere })
            bench.pair.closePeer()
            #expect(eventually { bench.finds("reset-cause")?.contains("closed with 3 B unread") == true })
        } relieved: {
            $0.session = nil
        },
        Provocation("write-orphaned") { bench in
            let other = AsyncSocket(engine: bench.socket.engine)
            let (near, far) = try ConnectedPair.tcpPair()
            defer { close(far) }
            try other.adopt(descriptor: near)
            bench.socket.link(to: other)
            other.disconnect(.now)
            bench.fillUp()
            _ = bench.finds("write-orphaned")
            bench.pass(6)
        } relieved: {
            $0.drain()
        },
        Provocation("write-backlog", { $0.fillUp() }, relieved: { $0.drain() }),
        Provocation("tiny-ops") { bench in
            _ = bench.finds("tiny-ops")
            bench.writeSingleBytes()
            bench.pass(1)
        } relieved: {
            _ = $0.finds("tiny-ops")
            $0.pass(3)
        },
        Provocation("tag-reuse") { bench in
            for _ in 0..<2 { bench.socket.read(ReadRequest(.length(4), tag: 5)) }
        } relieved: {
            try $0.pair.peerSends("four")
        },
        // The ring holds 4,096 events, and each write makes two.
        Provocation("events-lost") { bench in
            _ = bench.finds("events-lost")
            bench.writeSingleBytes()
        } relieved: {
            $0.pass(61)
        },
    ]

    private static var halfOpen: SocketConfiguration {
        var configuration = SocketConfiguration()
        configuration.allowsHalfOpen = true
        return configuration
    }

    private static let ending: [Provocation] = [
        Provocation("half-closed", configuration: halfOpen) { bench in
            bench.socket.read(ReadRequest(.available(limit: nil), isStanding: true))
            bench.fillUp()
            shutdown(bench.pair.peer, Int32(SHUT_WR))
        } relieved: {
            $0.drain()
        },
        Provocation("close-wait", configuration: halfOpen) { bench in
            bench.socket.read(ReadRequest(.available(limit: nil), isStanding: true))
            bench.socket.halfClose()
            #expect(eventually { bench.pair.picture?.isWriteShut == true })
            #expect(bench.finds("close-wait") == nil, "not at once")
            bench.pass(31)
            #expect(bench.finds("close-wait")?.contains("a connection that this end closed 31s ago") == true)
            #expect(bench.finds("half-closed-long") == nil, "one cause, one verdict")
        } relieved: {
            $0.pair.closePeer()
        },
        Provocation("half-closed-long", configuration: halfOpen) { bench in
            bench.knowsPeers = false
            bench.socket.read(ReadRequest(.available(limit: nil), isStanding: true))
            bench.socket.halfClose()
            #expect(eventually { bench.pair.picture?.isWriteShut == true })
            #expect(bench.finds("half-closed-long") == nil, "not at once")
            bench.pass(31)
        } relieved: {
            $0.pair.closePeer()
        },
        Provocation("disconnect-pending") { bench in
            bench.socket.read(ReadRequest(.length(4)))
            bench.socket.disconnect(.afterReading)
            bench.engine.fence()
            bench.pass(6)
        } relieved: {
            try $0.pair.peerSends("four")
        },
        // A listener whose backlog is full does not answer; it does once somebody is accepted.
        Provocation("connecting-silent") { bench in
            let hole = try FullBacklog()
            let socket = AsyncSocket(engine: bench.engine, delegate: bench.pair.recorder)
            try socket.connect(toHost: "127.0.0.1", port: hole.port)
            bench.kept = [hole, socket]
            bench.session = socket.session
            bench.engine.fence()
            bench.pass(2.5)
        } relieved: { bench in
            (bench.kept.first as? FullBacklog)?.acceptAll()
            // The next SYN may come in a minute; another attempt is answered at once.
            let socket = bench.kept.last as? AsyncSocket
            socket?.disconnect()
            try socket?.connect(toHost: "127.0.0.1", port: (bench.kept.first as? FullBacklog)?.port ?? 0)
            bench.session = socket?.session
        },
    ]

    private static let callbacks: [Provocation] = [
        Provocation("delegate-slow") { bench in
            let queue = DispatchQueue(label: "slow delegate")
            bench.socket.delegateQueue = queue
            queue.suspend()
            bench.kept = [queue]
            bench.socket.read(ReadRequest(.available(limit: nil)))
            try bench.pair.peerSends("hello")
            #expect(eventually { bench.pair.picture?.callbacks?.lag != nil })
            bench.pass(0.2)
        } relieved: { bench in
            (bench.kept.first as? DispatchQueue)?.resume()
            #expect(eventually { bench.pair.picture?.callbacks?.ran != nil })
            bench.pass(3)
        },
        Provocation("delegate-nil") { bench in
            bench.socket.delegate = nil
            bench.socket.read(ReadRequest(.length(4)))
        } relieved: {
            $0.socket.delegate = $0.pair.recorder
        },
    ]
}

/// A listener that takes no connection more, until it is told to.
private final class FullBacklog {
    let port: UInt16
    private let listener: Int32
    private var fillers: [Int32] = []

    init() throws {
        let kernel = LinuxKernel()
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        listener = socket(AF_INET, kind, 0)
        _ = kernel.bind(listener, to: .v4(host: "127.0.0.1", port: 0))
        listen(listener, 0)
        port = kernel.localAddress(listener)?.port ?? 0
        for _ in 0..<4 {
            fillers.append(socket(AF_INET, kind, 0))
            _ = kernel.connect(fillers[fillers.count - 1], to: .v4(host: "127.0.0.1", port: port))
        }
    }

    func acceptAll() {
        for _ in 0..<4 {
            let taken = accept(listener, nil, nil)
            if taken >= 0 { fillers.append(taken) }
        }
    }

    deinit {
        for descriptor in fillers + [listener] { close(descriptor) }
    }
}
