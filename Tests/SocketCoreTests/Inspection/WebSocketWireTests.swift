import SocketTestSupport
import Testing

@testable import SocketCore

@Suite("WebSockets on the inspection wire")
struct WebSocketWireTests {
    /// Everything that can be said of a WebSocket, said.
    static var full: WebSocketPicture {
        var picture = WebSocketPicture(role: .server, stage: .closing, target: "/chat")
        picture.request = HTTPHead(
            startLine: "GET /chat HTTP/1.1", fields: [HTTPField("Host", "h"), HTTPField("X", "")])
        picture.response = HTTPHead(startLine: "HTTP/1.1 101 Switching Protocols")
        picture.subprotocol = "chat"
        picture.extensions = ["permessage-deflate; client_max_window_bits=12"]
        picture.problem = "p"
        picture.headBytes = 17
        picture.openingDeadline = MonotonicTime(nanoseconds: 3)
        picture.openedIn = .milliseconds(4)
        picture.undeliveredBytes = 5
        picture.traffic = traffic
        picture.report = WebSocketCloseReport(
            sent: WebSocketCloseFrame(code: .normal, reason: "bye"), received: WebSocketCloseFrame(code: nil),
            failure: .invalidUTF8(offset: 3), origin: .peer, wasClean: true, unsentBytes: 9,
            began: MonotonicTime(nanoseconds: 6), ended: MonotonicTime(nanoseconds: 7))
        return picture
    }

    private static var traffic: WebSocketSnapshot {
        var traffic = WebSocketSnapshot(role: .server, state: .closing)
        traffic.awaiting = .payload(.continuation, done: 1024, total: 65_536)
        traffic.receiving = WebSocketMessageProgress(
            id: WebSocketMessageID(7), type: .binary, isCompressed: true, fragments: 3, bytes: 10, wireBytes: 4)
        traffic.sending = WebSocketSendProgress(opcode: .text, message: WebSocketMessageID(2), done: 1, total: 9)
        traffic.received.messages = 4
        traffic.sent.pongs = 5
        traffic.queuedMessages = 6
        traffic.bufferedBytes = 7
        traffic.pendingPings = 1
        traffic.roundTrip = .microseconds(200)
        traffic.closeSent = WebSocketCloseFrame(code: .protocolError, reason: "r")
        traffic.closeOrigin = .local
        traffic.failure = .badCloseReason
        traffic.deflate = PerMessageDeflateParameters(serverNoContextTakeover: true, clientMaxWindowBits: 9)
        return traffic
    }

    @Test("a WebSocket comes back as it went")
    func roundTrip() throws {
        var socket = InspectionWireTests.full
        socket.webSocket = Self.full
        let read: SocketSnapshot = try WireReader.message(socket.encoded[...])
        #expect(read.webSocket == Self.full)
        #expect(read == socket)
    }

    @Test("every state of a parser, and every failure, comes back")
    func words() throws {
        let states: [WebSocketParserState] = [
            .header(done: 1), .extendedLength(done: 2, total: 8), .mask(done: 3), .payload(.ping, done: 1, total: 2),
            .nothing,
        ]
        for state in states { #expect(try WebSocketParserState(written: state.written) == state) }
        let failures: [WebSocketFailure] = [
            .reservedBits(3), .unknownOpcode(5), .unmaskedFrame, .maskedFrame, .overlongLength(7),
            .impossibleLength(.max), .controlTooLong(126), .fragmentedControl(.ping), .nothingToContinue,
            .unfinishedMessage, .frameTooBig(length: .max, limit: 9), .messageTooBig(limit: 8),
            .tooManyEmptyFragments(limit: 2), .invalidUTF8(offset: 4), .corruptDeflate, .cutCloseCode,
            .badCloseCode(.noStatus), .badCloseReason, .pongTimeout(.seconds(3)), .closeTimeout(.seconds(4)),
            .endedWithoutClose,
        ]
        for failure in failures { #expect(try WebSocketFailure(written: failure.written) == failure) }
        #expect(throws: WireError.unknown) { try WebSocketFailure(written: WireVariant("new")) }
        #expect(throws: WireError.unknown) { try WebSocketParserState(written: WireVariant("payload", flags: 5)) }
    }
}
