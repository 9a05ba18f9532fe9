import SocketCore
import Testing

/// What is bounded, counted and told.
@Suite("WebSocket limits") struct WebSocketLimitTests {
    @Test func l1WhatDoesNotFitTheSendQueueIsRefused() throws {
        let bench = WebSocketBench(.server, WebSocketSettings(limits: WebSocketLimits(sendQueueBytes: 100)))
        try bench.machine.send(.binary, [UInt8](repeating: 1, count: 60))
        #expect(throws: WebSocketRefusal.queueFull(bytes: 41, queued: 60, limit: 100)) {
            try bench.machine.send(.binary, [UInt8](repeating: 2, count: 41))
        }
        try bench.machine.send(.binary, [UInt8](repeating: 3, count: 40))
        #expect(bench.machine.bufferedBytes == 100 && bench.machine.snapshot().queuedMessages == 2)
        // What was handed on counts until the kernel has it.
        let wire = bench.take()
        #expect(bench.machine.bufferedBytes == 100 && bench.machine.snapshot().queuedMessages == 0)
        bench.didWrite(62)
        #expect(bench.machine.bufferedBytes == 40)
        bench.didWrite(wire.count - 62)
        #expect(bench.machine.bufferedBytes == 0)
        #expect(bench.takeEvents() == [.sent(through: WebSocketMessageID(1)), .sent(through: WebSocketMessageID(2))])
    }

    @Test func l1EveryLimitHasItsCounter() throws {
        let bench = WebSocketBench(.client)
        bench.receive(.text("abc"), .binary([1], isFinal: false), .ping("p"), .more([]), .pong(), .more([2, 3]))
        try bench.machine.send(.text, [0x61])
        bench.flush()
        let snapshot = bench.machine.snapshot()
        #expect(snapshot.received.frames == 6 && snapshot.received.messages == 1)
        #expect(snapshot.received.messageBytes == 6 && snapshot.received.payloadBytes == 6)
        #expect(snapshot.received.wireBytes == 5 + 3 + 3 + 2 + 2 + 4)
        #expect(snapshot.received.pings == 1 && snapshot.received.pongs == 1)
        #expect(snapshot.receiving?.fragments == 3 && snapshot.receiving?.wireBytes == 3)
        #expect(snapshot.sent.frames == 2 && snapshot.sent.messages == 1 && snapshot.sent.pongs == 1)
        #expect(snapshot.sent.wireBytes == 2 + 4 + 1 + 2 + 4 + 1)
    }

    @Test func l2TheQueueSaysWhenItHasDrained() throws {
        let bench = WebSocketBench(.server, WebSocketSettings(watermarks: Watermarks(low: 10, high: 50)))
        for _ in 0..<5 { try bench.machine.send(.binary, [UInt8](repeating: 1, count: 10)) }
        #expect(bench.machine.isWritable == true)
        try bench.machine.send(.binary, [1])
        #expect(bench.machine.isWritable == false)
        _ = bench.take()
        bench.didWrite(36)
        #expect(bench.machine.isWritable == false)
        bench.didWrite(24)
        #expect(bench.machine.isWritable && bench.machine.bufferedBytes == 1)
        #expect(bench.takeEvents().filter { $0 == .writable }.count == 1)
    }

    // MARK: Messages that are half there

    @Test("what is half there takes up no more than there is room for", arguments: [false, true])
    func theRoomOfUnfinishedMessages(isCompressed: Bool) throws {
        let deflate: PerMessageDeflateParameters? = isCompressed ? PerMessageDeflateParameters() : nil
        let sender = WebSocketBench(.client, deflate: deflate)
        let id = try sender.machine.begin(.binary)
        for _ in 0..<4 { try sender.machine.append([UInt8](repeating: 7, count: 50_000), to: id) }
        sender.flush()
        let bench = WebSocketBench(.server, deflate: deflate)
        bench.machine.limitUnfinished(to: 200_000, of: 1_000)
        bench.receive(bytes: sender.wire, cut: 999)
        #expect(bench.takeEvents().isEmpty && bench.machine.unfinishedBytes == 200_000)
        let start = sender.wire.count
        try sender.machine.append([7], to: id)
        sender.flush()
        bench.receive(bytes: Array(sender.wire[start...]))
        #expect(bench.failure == .noRoom(limit: 1_000) && bench.machine.unfinishedBytes == 0)
        #expect(WebSocketFailure.noRoom(limit: 1).closeCode == .tryAgainLater)
    }

    @Test("few bytes that make many are inflated a bit at a time, also while the message is not whole")
    func unfinishedMessagesAreHeldToo() throws {
        let deflate = PerMessageDeflateParameters()
        let sender = WebSocketBench(.client, deflate: deflate)
        let id = try sender.machine.begin(.binary)
        try sender.machine.append([UInt8](repeating: 0, count: 16 << 20), to: id)
        sender.flush()
        var machine = WebSocketMachine(role: .server, deflate: deflate, now: .zero)
        var events: [WebSocketEvent] = []
        machine.receive(sender.wire.span.bytes, now: .zero, into: &events)
        var steps = 0
        while machine.hasHeldInput {
            let before = machine.unfinishedBytes
            machine.proceed(now: .zero, into: &events)
            #expect(machine.unfinishedBytes - before < 2 << 20)
            steps += 1
        }
        #expect(steps > 8 && machine.unfinishedBytes == 16 << 20 && events.isEmpty)
    }

    @Test func aMessageThatDoesNotComeWholeInTimeFails() {
        let bench = WebSocketBench(.server, WebSocketSettings(messageTimeout: .seconds(10)))
        bench.receive(.binary([1, 2], isFinal: false))
        bench.wait(.seconds(9))
        #expect(bench.takeEvents().isEmpty)
        // A byte now and then does not help.
        bench.receive(.more([3]))
        bench.wait(.seconds(2))
        #expect(bench.failure == .messageTimeout(.seconds(10)) && bench.machine.unfinishedBytes == 0)
        #expect(WebSocketFailure.messageTimeout(.zero).closeCode == .policyViolation)
    }

    @Test func aLongMessageHasTimeForItsLength() {
        let bench = WebSocketBench(.server, WebSocketSettings(messageTimeout: .seconds(10)))
        let part = [UInt8](repeating: 1, count: 16 << 10)
        bench.receive(.binary(part, isFinal: false))
        for _ in 0..<50 {
            bench.wait(.seconds(1))
            bench.receive(.more(part))
        }
        bench.receive(.more([], isFinal: true))
        #expect(bench.takeEvents().count == 1)
        bench.wait(.seconds(100))
        #expect(bench.takeEvents().isEmpty, "a whole message is not late any more")
    }

    @Test func timeInWhichThisSideLeavesTheBytesDoesNotCount() {
        let bench = WebSocketBench(.server, WebSocketSettings(messageTimeout: .seconds(10)))
        bench.receive(.binary([1], isFinal: false))
        bench.machine.putOffMessage(until: MonotonicTime.zero + .seconds(20))
        bench.wait(.seconds(19))
        bench.receive(.more([2], isFinal: true))
        #expect(bench.takeEvents() == [.message(.binary, [1, 2])])
    }

    @Test func theFrameThatIsBeingSentIsSeen() throws {
        let bench = WebSocketBench(.server)
        try bench.machine.send(.binary, [UInt8](repeating: 1, count: 100_000))
        while !bench.take().isEmpty {}
        bench.didWrite(1024)
        #expect(
            bench.machine.snapshot().sending
                == WebSocketSendProgress(opcode: .binary, message: WebSocketMessageID(1), done: 1024, total: 100_010))
        bench.didWrite(100_010 - 1024)
        #expect(bench.machine.snapshot().sending == nil)
    }

    @Test func heldInputWaitsWithTheEndBehindIt() throws {
        let sender = WebSocketBench(.server, deflate: .init())
        for _ in 0..<4 { try sender.machine.send(.binary, [UInt8](repeating: 0, count: 1 << 20)) }
        sender.flush()
        var machine = WebSocketMachine(role: .client, deflate: .init(), now: .zero)
        var events: [WebSocketEvent] = []
        machine.receive(sender.wire.span.bytes, now: .zero, into: &events)
        while events.isEmpty, machine.hasHeldInput { machine.proceed(now: .zero, into: &events) }
        #expect(events.count == 1 && machine.hasHeldInput && machine.snapshot().heldBytes > 0)
        machine.receiveEnd(now: .zero, into: &events)
        #expect(machine.state == .open)
        while machine.hasHeldInput { machine.proceed(now: .zero, into: &events) }
        #expect(events.count == 6 && machine.state == .closed && !machine.hasHeldInput)
    }

    @Test func aFloodOfEmptyFramesIsToldInBoundedPieces() {
        var machine = WebSocketMachine(role: .client, now: .zero)
        var events: [WebSocketEvent] = []
        let flood = [UInt8](repeating: 0, count: 1 << 16).indices.map { $0 % 2 == 0 ? 0x82 : 0x00 } as [UInt8]
        machine.receive(flood.span.bytes, now: .zero, into: &events)
        var total = 0
        while !events.isEmpty {
            #expect(events.count <= WebSocketMachine.mostEvents)
            total += events.count
            events = []
            machine.proceed(now: .zero, into: &events)
        }
        #expect(total == 1 << 15 && !machine.hasHeldInput)
    }

    @Test func whatWasCountedIsSeenBehindTheEndToo() {
        let bench = WebSocketBench(.client)
        bench.receive(.text("abc"), .ping())
        bench.receive(bytes: [0x82, 126, 0x10, 0x00] + [UInt8](repeating: 0, count: 1024))
        bench.receiveEnd()
        let snapshot = bench.machine.snapshot()
        #expect(snapshot.state == .closed && snapshot.awaiting == .nothing && snapshot.failure == .endedWithoutClose)
        #expect(snapshot.received.messages == 1 && snapshot.received.messageBytes == 3 + 1024)
        #expect(snapshot.receiving?.bytes == 1024, "the message that was cut")
    }

    @Test func anIdleMachineAnswersQuicklyToNothing() {
        let bench = WebSocketBench()
        #expect(bench.machine.deadline == nil && !bench.machine.hasOutgoing && bench.take().isEmpty)
        bench.machine.acknowledgeEnd(now: .zero)
        bench.wait(.seconds(100))
        #expect(bench.takeEvents() == [] && bench.machine.state == .open)
    }
}
