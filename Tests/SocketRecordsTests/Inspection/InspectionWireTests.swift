import SocketTestSupport
import Testing

@testable import SocketCore
@testable import SocketRecords

@Suite("The inspection wire")
struct InspectionWireTests {
    /// Everything that a block can say, said.
    static var full: SocketSnapshot {
        var socket = SocketSnapshot(
            id: SocketID(7), role: .accepted, phase: .closed, target: "héllo:1", opened: MonotonicTime(nanoseconds: 5))
        socket.name = "n"
        socket.parent = SocketID(3)
        socket.linked = SocketID(8)
        socket.local = .v6(host: "::1", port: 65_535)
        socket.peer = .abstract(name: "x")
        socket.descriptor = 14
        socket.connected = MonotonicTime(nanoseconds: 6)
        socket.flags = [.connected, .readsPaused]
        socket.isReadingPaused = true
        socket.isHeldBack = true
        socket.isWriteShut = true
        let frame = LengthPrefix(.u32, isLittleEndian: true, offset: 2, countsHeader: true, limit: 99)
        let kinds: [ReadRequest.Kind] = [
            .available(limit: nil), .available(limit: 9), .length(4_096), .delimiter([13, 10], limit: nil),
            .frame(frame),
        ]
        socket.reading = QueueSnapshot(
            current: OperationSnapshot(
                id: OperationID(1), kind: .read(.length(300)), tag: -3, done: 200, total: 300, isStanding: true,
                isAsking: true, timeout: .seconds(3), started: MonotonicTime(nanoseconds: 7),
                deadline: MonotonicTime(nanoseconds: 8), lastProgress: MonotonicTime(nanoseconds: 9),
                preview: [0, 255]),
            pending: kinds.map { OperationSnapshot(id: OperationID(2), kind: .read($0)) }, pendingCount: 70,
            completed: 12, since: MonotonicTime(nanoseconds: 4))
        socket.writing = QueueSnapshot(
            current: OperationSnapshot(id: OperationID(3), kind: .write, total: 0), pendingBytes: 1 << 40)
        socket.prebuffered = 4
        socket.received = 1 << 50
        socket.sent = 3
        socket.receiveRate = 0
        socket.sendRate = 1.5
        socket.accepted = 2
        socket.connect = ConnectSnapshot(
            resolvedIn: .milliseconds(12), addressCount: 2,
            attempts: [.failed(errno: 111), .won, .trying, .abandoned].map {
                .init(address: .v4(host: "1.2.3.4", port: 1), outcome: $0, duration: .microseconds(3))
            })
        socket.closed = CloseRecord(
            time: MonotonicTime(nanoseconds: 11),
            error: SocketError(
                .system(errno: 104), operation: "read", detail: "gone",
                attempts: [.init(address: .unix(path: "/s"), errno: nil, duration: .zero)]),
            mode: .afterBoth, readsLost: 1, writesLost: 2, unreadBytes: 3)
        var kernel = KernelSnapshot()
        kernel.receiveQueue = 0
        kernel.state = "ESTAB"
        kernel.roundTripTime = .microseconds(31)
        kernel.receiverWindowLimited = 0.87
        kernel.bytesSent = 9
        socket.kernel = kernel
        socket.activity.lastByte = MonotonicTime(nanoseconds: 10)
        socket.activity.operationRate = 3
        socket.activity.isKeptAlive = true
        socket.watermarks = Watermarks(low: 1, high: 2)
        socket.isAboveHighMark = true
        socket.reading.barrier = 0
        socket.tls = tls
        var datagrams = DatagramSnapshot(mode: .continuous)
        datagrams.flags = [.didBind]
        datagrams.locals = [.v4(host: "1.2.3.4", port: 5), .abstract(name: "a")]
        datagrams.groups = ["239.1.2.3 on lo"]
        datagrams.counters.foreign = 3
        datagrams.kernelDrops = 0
        datagrams.peers = [DatagramPeer(address: .unix(path: "/p"), lastActivity: .zero)]
        datagrams.peerCount = 2
        socket.datagrams = datagrams
        socket.callbacks = CallbackSnapshot(isHeard: true, lag: .milliseconds(3), undelivered: 9)
        return socket
    }

    private static var tls: TLSSnapshot {
        let certificate = TLSCertificate(
            subject: "CN=a", issuer: "CN=b", names: ["DNS:a", "DNS:b"], notBefore: -1, notAfter: 1_900_000_000,
            fingerprint: [1, 2], publicKeyDigest: [3])
        var tls = TLSSnapshot(role: .server, phase: .secure, asked: MonotonicTime(nanoseconds: 1))
        tls.handshakeTime = .milliseconds(3)
        tls.version = "TLSv1.3"
        tls.chain = [certificate, certificate]
        tls.verification = .acceptedByHand("expired")
        tls.question = TLSTrust(
            question: OperationID(9), chain: [certificate], expectedName: "a", code: 10, problem: nil)
        tls.isResumed = true
        tls.plaintextSent = 77
        tls.hasReceivedCloseNotify = true
        return tls
    }

    @Test("every way in which TLS fails and certificates are judged comes back")
    func tlsWords() throws {
        let failures: [TLSFailure] = [
            .closedAbort, .handshakeTimeout, .untrusted(code: 10, text: "t"), .refused, .alert(40, name: "n"),
            .library(reason: "r"),
        ]
        for failure in failures {
            #expect(try SocketError.Reason(written: SocketError.Reason.tls(failure).written) == .tls(failure))
        }
        let verdicts: [TLSVerification] = [
            .none, .passed, .pinned, .notRequired(code: 1, text: "t"), .acceptedByHand(nil), .acceptedByHand(""),
            .failed(code: 2, text: ""),
        ]
        for verdict in verdicts { #expect(try TLSVerification(written: verdict.written) == verdict) }
    }

    private static var item: TrafficItem {
        var item = TrafficItem(
            sequence: 4, operation: OperationID(5), time: MonotonicTime(nanoseconds: 6), direction: .received, tag: 7,
            kind: .read(.delimiter([0], limit: 3)), done: 8, total: 9, state: .complete(after: .seconds(1)),
            bytes: [1, 2, 3], address: .unnamed, tail: [4], skipped: 5)
        item.isInjected = true
        return item
    }

    static var frames: [InspectionFrame] {
        var hello = InspectionHello()
        hello.process = 4242
        hello.program = "chatd"
        hello.rights = .control
        var tick = InspectionTick()
        tick.time = MonotonicTime(nanoseconds: 77)
        tick.wallNanoseconds = 1_763_766_000_000_000_000
        tick.counters.turns = 3
        tick.times.longestTurn = .milliseconds(2)
        tick.removed = [SocketID(1), SocketID(9)]
        tick.nextEvent = 44
        var traffic = InspectionTraffic()
        traffic.socket = SocketID(7)
        traffic.items = [item]
        var watch = InspectionWatch()
        watch.sockets = [SocketID(7)]
        watch.traffic = SocketID(0)
        watch.wantsEvents = true
        let events = SocketEvent.Kind.allCases.map {
            SocketEvent(sequence: 3, time: .zero, socket: SocketID(1), kind: $0, tag: 1, first: -1, second: 2)
        }
        return [
            .hello(hello), .refusal("no"), .sockets([full, .blank]), .tick(tick), .events(events), .traffic(traffic),
            .notice("n"), .watch(watch), .reset,
        ] + commands.map { .command($0) }
    }

    private static var commands: [SocketCommand] {
        let id = SocketID(7)
        return [
            .read(id, ReadRequest(.length(3), timeout: .seconds(1), tag: 2, isStanding: false)),
            .send(id, DatagramRequest([1], to: .udp(host: "h", port: 2), timeout: .seconds(1), tag: 4)),
            .send(id, DatagramRequest([])), .write(id, WriteRequest([1, 2], timeout: nil, tag: 3)), .halfClose(id),
            .pauseReading(id, true),
            .answerTimeout(id, OperationID(4), .extend(by: .seconds(2))), .answerTimeout(id, OperationID(4), .later),
            .answerTimeout(id, OperationID(4), .failOperation), .answerTimeout(id, OperationID(4), .close),
            .cancel(id, .operation(OperationID(4))), .cancel(id, .reads), .cancel(id, .writes),
            .setTimeout(id, OperationID(4), nil), .setTimeout(id, OperationID(4), .seconds(9)),
            .setWatermarks(id, Watermarks(low: 1, high: 2)), .setWatermarks(id, nil), .answerConnection(id, .accept),
            .answerTrust(id, OperationID(4), .accept), .answerTrust(id, OperationID(4), .refuse),
            .answerTrust(id, OperationID(4), .later), .answerTrust(id, OperationID(4), .unhandled),
            .answerConnection(id, .refuse),
        ] + CloseMode.allCases.map { .close(id, $0) }
    }

    @Test("every frame comes back as it went, whole and byte by byte")
    func roundTrip() throws {
        let bytes = Self.frames.flatMap(\.bytes)
        for piece in [1, 7, bytes.count] {
            var decoder = InspectionFrameDecoder()
            var read: [InspectionFrame] = []
            for start in stride(from: 0, to: bytes.count, by: piece) {
                decoder.append(bytes[start..<min(bytes.count, start + piece)])
                while let frame = try decoder.next() { read.append(frame) }
            }
            #expect(read == Self.frames)
            #expect(decoder.pending == 0)
        }
    }

    @Test("whoever gives a block a new field is reminded to put it on the wire")
    func completeness() {
        func count(_ value: Any) -> Int { Mirror(reflecting: value).children.count }
        // Two of them, `host` and `ends`, are of sockets that no engine has: they are never on the wire.
        #expect(count(SocketSnapshot.blank) == 39)
        #expect(count(QueueSnapshot.blank) == 7)
        #expect(count(OperationSnapshot.blank) == 12)
        #expect(count(KernelSnapshot.blank) == 15)
        #expect(count(ActivitySnapshot.blank) == 7)
        #expect(count(CallbackSnapshot.blank) == 4)
        #expect(count(CloseRecord.blank) == 6)
        #expect(count(EngineTimes.blank) == 5)
        #expect(count(EngineCounters.blank) == 10)
        #expect(count(TLSSnapshot.blank) == 21)
        #expect(count(DatagramSnapshot.blank) == 11)
        #expect(count(DatagramCounters.blank) == 9)
        #expect(count(DatagramPeer.blank) == 6)
        #expect(count(Self.item) == 15)
        #expect(count(TLSCertificate.blank) == 7)
        // `encodedChain` stays where the question is asked.
        #expect(count(TLSTrust.blank) == 6)
    }

    @Test("fields and kinds that this version does not know are skipped")
    func unknown() throws {
        var writer = WireWriter()
        writer.append(1, encoded: Self.full.encoded)
        writer.append(900, UInt64(5))
        writer.append(901, encoded: [1, 2, 3])
        writer.append(902, 1.5)
        var decoder = InspectionFrameDecoder()
        decoder.append(InspectionFrame.frame(.sockets, writer.bytes))
        decoder.append([0, 0, 0, 3, 200, 9, 9])
        #expect(try decoder.next() == .sockets([Self.full]))
        #expect(try decoder.next() == .unknown(200))
    }

    @Test("a block whose role is not known yet is left out, and the others are there")
    func unknownWord() throws {
        var strange = WireWriter()
        strange.append(1, UInt64(9))
        strange.append(2, "carrier pigeon")
        var writer = WireWriter()
        writer.append(1, encoded: strange.bytes)
        writer.append(1, encoded: Self.full.encoded)
        var decoder = InspectionFrameDecoder()
        decoder.append(InspectionFrame.frame(.sockets, writer.bytes))
        #expect(try decoder.next() == .sockets([Self.full]))
    }

    @Test(
        "what breaks the rules is refused with a sentence",
        arguments: [
            ([0, 0, 0, 0], "a frame of 0 bytes; must be 1 to 1048576"),
            (Array("GET / HTTP/1.1\r\n".utf8), "a frame of 1195725856 bytes; must be 1 to 1048576"),
            ([0, 0, 0, 3, 4, 8, 0x80], "a number is truncated"),
            ([0, 0, 0, 3, 4, 0x2A, 9], "a field is longer than its message"),
            ([0, 0, 0, 3, 4, 3, 0], "a field has no number, or the unknown wire type 3"),
        ] as [([UInt8], String)])
    func malformed(bytes: [UInt8], sentence: String) {
        var decoder = InspectionFrameDecoder()
        decoder.append(bytes)
        #expect(throws: WireError.malformed(sentence)) { try decoder.next() }
    }

    @Test("numbers that would overflow what is done with them are held back")
    func clamps() throws {
        var tick = WireWriter()
        tick.append(1, Int64.min)
        tick.append(6, UInt64.max)
        var decoder = InspectionFrameDecoder()
        decoder.append(InspectionFrame.frame(.tick, tick.bytes))
        var expected = InspectionTick()
        expected.nextEvent = 1 << 53
        #expect(try decoder.next() == .tick(expected))
    }

    @Test("of what a breakpoint holds no more is taken than is shown")
    func heldBytes() {
        var socket = SocketSnapshot(id: SocketID(1), role: .accepted, phase: .connected, target: "t", opened: .zero)
        var held = FaultSnapshot.Hold(
            breakpoint: 1, text: "fin", since: .zero, upstreamBytes: 1 << 20, downstreamBytes: -1)
        (held.upstreamNext, held.downstreamNext) = ([UInt8](repeating: 0, count: 1 << 20), [1])
        socket.fault = FaultSnapshot()
        socket.fault?.hold = held
        socket.makePlausible()
        #expect(socket.fault?.hold?.upstreamNext.count == FaultSnapshot.Hold.preview)
        #expect(socket.fault?.hold?.downstreamNext == [] && socket.fault?.hold?.downstreamBytes == 0)
    }

    @Test("a frame whose lists would take much more memory than it has bytes is refused")
    func amplification() {
        let empty = Array(repeating: [0x0A, 0] as [UInt8], count: InspectionFrame.limit / 2 - 1).flatMap { $0 }
        for kind in [InspectionFrame.Kind.sockets, .traffic] {
            let content = kind == .traffic ? empty.map { $0 == 0x0A ? 0x22 : $0 } : empty
            var decoder = InspectionFrameDecoder()
            decoder.append(InspectionFrame.frame(kind, content))
            #expect(throws: WireError.malformed("its lists take more than 32 MiB of memory")) { try decoder.next() }
        }
    }

    @Test("a text that is longer than any a program has is cut, and read again as the same")
    func longTexts() throws {
        var hello = InspectionHello()
        hello.program = String(repeating: "日", count: 20_000)
        var decoder = InspectionFrameDecoder()
        decoder.append(InspectionFrame.hello(hello).bytes)
        let frame = try #require(try decoder.next())
        guard case .hello(let read) = frame else {
            Issue.record("\(frame)")
            return
        }
        #expect(read.program.utf8.count <= WireLimit.text && read.program.hasSuffix("日..."))
        decoder.append(InspectionFrame.hello(read).bytes)
        #expect(try decoder.next() == .hello(read))
    }

    @Test("a greeting that says no version has none")
    func olderGreeting() throws {
        var decoder = InspectionFrameDecoder()
        decoder.append(InspectionFrame.frame(.hello, []))
        #expect(try decoder.next() == .hello(.blank))
        #expect(InspectionHello.blank.minor == 0)
        var older = InspectionHello()
        older.minor = 0
        decoder.append(InspectionFrame.hello(older).bytes)
        #expect(try decoder.next() == .hello(older))
    }

    @Test("tags keep all their bits")
    func tags() throws {
        let event = SocketEvent(sequence: 1, time: .zero, socket: SocketID(1), kind: .readDone, tag: .min)
        var decoder = InspectionFrameDecoder()
        decoder.append(InspectionFrame.events([event]).bytes)
        #expect(try decoder.next() == .events([event]))
    }

    @Test("another version is refused in words that name both")
    func versions() {
        var mine = InspectionHello()
        mine.program = "chatd"
        var theirs = InspectionHello()
        #expect(mine.refusal(of: theirs, who: "the viewer") == nil)
        theirs.minor = 9
        #expect(mine.refusal(of: theirs, who: "the viewer") == nil)
        theirs.major = 2
        #expect(
            mine.refusal(of: theirs, who: "the viewer")
                == "the viewer speaks version 2 of the inspection protocol, and chatd version 1; both sides need the same"
        )
    }
}
