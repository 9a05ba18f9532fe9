import SocketCore
import Testing

/// RFC 6455, 5.5.1 and 7.
@Suite("WebSocket close") struct WebSocketCloseTests {
    private static let accepted = [1000, 1001, 1002, 1003] + Array(1007...1014) + [3000, 3999, 4000, 4999]
    private static let refused =
        [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535]

    @Test(arguments: accepted) func c1ACloseIsAnsweredOnceWithItsOwnCode(code: Int) {
        let bench = WebSocketBench(.server)
        bench.receive(.close(UInt16(code), "because"), .close(1000))
        #expect(
            bench.takeEvents() == [
                .closeReceived(WebSocketCloseFrame(code: .init(rawValue: UInt16(code)), reason: "because"))
            ])
        #expect(bench.flush().isEmpty, "what came before it may still be answered")
        bench.acknowledgeEnd()
        bench.acknowledgeEnd()
        #expect(bench.flush() == [.close(UInt16(code))])
        #expect(bench.takeEvents() == [.endOutput])
    }

    @Test func c1AnEmptyCloseIsAnsweredWithAnEmptyOne() {
        let bench = WebSocketBench(.server)
        bench.receive(.close(nil))
        bench.acknowledgeEnd()
        #expect(bench.flush() == [.close(nil)])
        bench.receiveEnd()
        #expect(bench.report?.code == .noStatus && bench.report?.wasClean == true)
        #expect(bench.report?.origin == .peer && bench.report?.failure == nil)
    }

    @Test func c2NothingIsSentBehindAClose() throws {
        let bench = WebSocketBench(.client)
        try bench.machine.send(.text, [0x61])
        try bench.machine.close(.goingAway, reason: "bye", now: .zero)
        #expect(throws: WebSocketRefusal.notOpen(.closing)) {
            try bench.machine.send(.text, [0x62])
        }
        #expect(throws: WebSocketRefusal.notOpen(.closing)) {
            try bench.machine.ping()
        }
        #expect(bench.flush().map(\.opcode) == [1, 8])
        // The peer may still send until its own Close.
        bench.receive(.ping("?"), .text("late"))
        #expect(bench.takeEvents().suffix(2) == [.ping([0x3F]), .text("late")])
        #expect(bench.flush().isEmpty)
    }

    @Test func c2NothingIsDeliveredBehindAClose() {
        let bench = WebSocketBench()
        bench.receive(.text("cut", isFinal: false), .close(1000), .more([], isFinal: true), .text("late"), .ping())
        #expect(bench.takeEvents() == [.closeReceived(WebSocketCloseFrame(code: .normal))])
        bench.receive(.text("later"))
        #expect(bench.takeEvents() == [] && bench.machine.snapshot().discardedBytes == 6 + 10 + 6 + 11)
    }

    @Test(arguments: refused) func c3ACodeThatMustNotBeSentFails(code: Int) {
        let bench = WebSocketBench()
        bench.receive(.close(UInt16(code)))
        #expect(bench.takeEvents() == [.failed(.badCloseCode(.init(rawValue: UInt16(code))))])
        bench.acknowledgeEnd()
        #expect(bench.flush().first?.payload.prefix(2) == [3, 234])
    }

    @Test func c3ACloseOfOneByteFails() {
        let bench = WebSocketBench()
        bench.receive(WireFrame(opcode: 8, payload: [3]))
        #expect(bench.takeEvents() == [.failed(.cutCloseCode)])
        #expect(WebSocketFailure.cutCloseCode.closeCode == .protocolError)
    }

    @Test func c4WhatMustNotBeSentIsRefused() throws {
        let bench = WebSocketBench(.client)
        func refusal(_ code: UInt16?, _ reason: String = "") -> WebSocketRefusal? {
            do throws(WebSocketRefusal) {
                try bench.machine.close(code.map { .init(rawValue: $0) }, reason: reason, now: .zero)
                return nil
            } catch {
                return error
            }
        }
        for code in Self.refused { #expect(refusal(UInt16(code)) == .closeCode(.init(rawValue: UInt16(code)))) }
        #expect(refusal(1000, String(repeating: "\u{20AC}", count: 42)) == .reasonTooLong(126))
        #expect(refusal(nil, "why") == .reasonWithoutCode)
        #expect(bench.machine.state == .open && bench.flush().isEmpty)
        let longest = String(repeating: "\u{20AC}", count: 41)
        #expect(refusal(4999, longest) == nil)
        #expect(bench.flush().map { $0.payload.count } == [125])
    }

    @Test func c5TheEndOfTheTransportWithoutACloseIsAbnormal() {
        for role in [WebSocketRole.client, .server] {
            let bench = WebSocketBench(role)
            bench.receive(.text("last"))
            bench.receiveEnd()
            #expect(bench.report?.code == .abnormal && bench.report?.wasClean == false)
            #expect(bench.report?.failure == .endedWithoutClose && bench.report?.origin == .peer)
            #expect(bench.takeEvents().prefix(2) == [.text("last"), .disconnect])
            #expect(bench.machine.state == .closed && bench.flush().isEmpty)
        }
    }

    @Test func c6TheServerEndsFirstAndTheClientWaitsForThat() throws {
        let client = WebSocketBench(.client, WebSocketSettings(closeTimeout: .seconds(2)))
        try client.machine.close(now: .zero)
        client.flush()
        client.receive(.close(1000))
        #expect(client.takeEvents() == [.closeReceived(WebSocketCloseFrame(code: .normal))])
        client.wait(.milliseconds(1999))
        #expect(client.takeEvents() == [])
        client.wait(.milliseconds(1))
        #expect(client.takeEvents().first == .disconnect)
        let server = WebSocketBench(.server)
        try server.machine.close(now: .zero)
        server.flush()
        server.receive(.close(1000))
        #expect(server.takeEvents() == [.closeReceived(WebSocketCloseFrame(code: .normal)), .endOutput])
        server.receiveEnd()
        #expect(server.report?.wasClean == true && server.report?.code == .normal)
    }

    @Test func c7APeerThatNeverAnswersIsGivenUpInTime() throws {
        let bench = WebSocketBench(.client, WebSocketSettings(closeTimeout: .seconds(2)))
        try bench.machine.send(.binary, [UInt8](repeating: 0, count: 1 << 20))
        try bench.machine.close(now: .zero)
        bench.wait(.milliseconds(1999))
        #expect(bench.report == nil)
        bench.wait(.milliseconds(1))
        #expect(bench.report?.failure == .closeTimeout(.seconds(2)) && bench.report?.unsentBytes == 1 << 20)
        #expect(bench.report?.ended == MonotonicTime(nanoseconds: 2_000_000_000))
        #expect(bench.report?.sent == nil && bench.machine.bufferedBytes == 0 && bench.machine.deadline == nil)
    }

    @Test func c7APeerThatReadsSlowlyGetsTheTimeItNeeds() throws {
        let bench = WebSocketBench(.server, WebSocketSettings(closeTimeout: .seconds(2)))
        try bench.machine.send(.binary, [UInt8](repeating: 0, count: 1 << 20))
        try bench.machine.close(now: .zero)
        while !bench.take().isEmpty {}
        for _ in 0..<10 {
            bench.wait(.seconds(1))
            bench.didWrite(1 << 16)
        }
        #expect(bench.report == nil)
        bench.wait(.seconds(2))
        #expect(bench.report?.failure == .closeTimeout(.seconds(2)))
    }

    @Test func c8ClosingTwiceIsHarmlessAndThereIsOneEnd() throws {
        let bench = WebSocketBench(.client)
        try bench.machine.close(.normal, now: .zero)
        try bench.machine.close(.goingAway, reason: "again", now: .zero)
        #expect(bench.flush() == [WireFrame(opcode: 8, payload: [3, 232], isMasked: true)])
        bench.receive(.close(1000))
        bench.receiveEnd()
        bench.receiveEnd()
        var events = bench.takeEvents()
        bench.machine.transportFailed(now: .zero, into: &events)
        bench.machine.abort(now: .zero, into: &events)
        try bench.machine.close(now: .zero)
        bench.wait(.seconds(60))
        events += bench.takeEvents()
        #expect(events.filter { if case .closed = $0 { true } else { false } }.count == 1)
        guard case .closed = events.last else {
            Issue.record("closed is the last event: \(events)")
            return
        }
    }

    @Test func c9WhatCameBeforeAFaultIsDeliveredAndMayBeAnsweredFirst() throws {
        let bench = WebSocketBench()
        bench.receive(.text("Hello"), .more([1]))
        #expect(bench.takeEvents() == [.text("Hello"), .failed(.nothingToContinue)])
        try bench.machine.send(.text, Array("Hello".utf8))
        #expect(bench.flush() == [.text("Hello")])
        bench.acknowledgeEnd()
        #expect(
            bench.flush() == [.close(1002, "a continuation frame with no message to continue")])
        #expect(bench.takeEvents().last == .endOutput)
        bench.receiveEnd()
        #expect(bench.report?.failure == .nothingToContinue && bench.report?.wasClean == false)
    }

    @Test func c9AUserThatNeverTakesWhatCameHoldsNothingUp() {
        let bench = WebSocketBench(.server, WebSocketSettings(closeTimeout: .seconds(2)))
        bench.receive(.text("Hello"), .close(1000))
        bench.wait(.seconds(2))
        #expect(bench.flush() == [.close(1000)])
    }

    @Test func c10TheReportSaysWhoSaidWhatAndWhen() throws {
        let bench = WebSocketBench(.client)
        bench.wait(.seconds(1))
        try bench.machine.close(.init(rawValue: 4001), reason: "mine", now: bench.now)
        bench.flush()
        bench.wait(.seconds(2))
        bench.receive(.close(4002, "theirs"))
        bench.receiveEnd()
        #expect(
            bench.report
                == WebSocketCloseReport(
                    sent: WebSocketCloseFrame(code: .init(rawValue: 4001), reason: "mine"),
                    received: WebSocketCloseFrame(code: .init(rawValue: 4002), reason: "theirs"), failure: nil,
                    origin: .local, wasClean: true, unsentBytes: 0, began: MonotonicTime(nanoseconds: 1_000_000_000),
                    ended: MonotonicTime(nanoseconds: 3_000_000_000)))
        #expect(bench.report?.code.rawValue == 4002)
    }

    @Test func aPeerThatEndsItsHalfBehindItsCloseStillGetsTheAnswers() throws {
        let bench = WebSocketBench(.server)
        bench.receive(.text("question"), .close(1000))
        bench.receiveEnd()
        #expect(bench.report == nil)
        try bench.machine.send(.text, Array("answer".utf8))
        bench.acknowledgeEnd()
        #expect(bench.flush() == [.text("answer"), .close(1000)])
        #expect(bench.report?.wasClean == true)
    }

    @Test func aStreamedMessageThatIsNotFinishedIsCutByAClose() throws {
        let bench = WebSocketBench(.server)
        let id = try bench.machine.begin(.binary)
        try bench.machine.append([1, 2], to: id)
        try bench.machine.send(.binary, [3, 4, 5])
        try bench.machine.close(now: .zero)
        #expect(bench.flush().map(\.opcode) == [2, 8])
        bench.receive(.close(1000))
        bench.receiveEnd()
        #expect(bench.report?.unsentBytes == 3)
    }

    @Test func everyReasonOfAFailureFitsIntoAClose() {
        let long = UInt64.max
        let failures: [WebSocketFailure] = [
            .reservedBits(7), .unknownOpcode(15), .unmaskedFrame, .maskedFrame, .overlongLength(long),
            .impossibleLength(long), .controlTooLong(127), .fragmentedControl(.close), .nothingToContinue,
            .unfinishedMessage, .frameTooBig(length: long, limit: .max), .messageTooBig(limit: .max),
            .noRoom(limit: .max),
            .messageTimeout(.nanoseconds(Int64.max)),
            .tooManyEmptyFragments(limit: .max), .invalidUTF8(offset: .max), .corruptDeflate, .cutCloseCode,
            .badCloseCode(.noStatus), .badCloseReason, .pongTimeout(.seconds(1_000_000)),
        ]
        for failure in failures {
            #expect(failure.description.utf8.count <= 123 && failure.closeCode.isSendable, "\(failure)")
        }
        #expect("\(WebSocketFailure.reservedBits(6))" == "reserved bits set: RSV1 RSV2")
    }
}
