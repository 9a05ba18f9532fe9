import Testing

@testable import SocketCore
@testable import SocketRecords

@Suite("WebSockets on the inspection wire")
struct WebSocketWireTests {
    private func returned<Message: WireMessage>(_ message: Message) throws -> Message {
        try WireReader.message(message.encoded[...])
    }

    private static var picture: WebSocketPicture {
        var picture = WebSocketPicture(role: .server, stage: .closing, target: "/chat")
        picture.request = HTTPHead(startLine: "GET / HTTP/1.1", fields: [HTTPField("Host", "h"), HTTPField("X", "")])
        picture.response = HTTPHead(startLine: "HTTP/1.1 101 x")
        picture.subprotocol = "chat"
        picture.extensions = ["permessage-deflate"]
        picture.problem = "p"
        picture.headBytes = 3
        picture.openedIn = .milliseconds(4)
        picture.undeliveredBytes = 5
        picture.traffic = WebSocketSnapshot(
            role: .server, state: .closing, awaiting: .payload(.binary, done: 3, total: 9),
            receiving: WebSocketMessageProgress(
                id: WebSocketMessageID(4), type: .text, isCompressed: true, fragments: 2, bytes: 30, wireBytes: 20),
            sending: WebSocketSendProgress(opcode: .text, message: WebSocketMessageID(1), done: 2, total: 8),
            bufferedBytes: 7, roundTrip: .microseconds(9), closeSent: WebSocketCloseFrame(code: .normal, reason: "r"),
            closeReceived: WebSocketCloseFrame(code: nil), closeOrigin: .peer, failure: .corruptDeflate,
            deflate: PerMessageDeflateParameters(serverNoContextTakeover: true, clientMaxWindowBits: 9))
        picture.report = WebSocketCloseReport(
            sent: nil, received: nil, failure: .pongTimeout(.seconds(3)), origin: .peer, wasClean: false,
            unsentBytes: 4, began: .zero, ended: MonotonicTime(nanoseconds: 5))
        var observation = WebSocketObservation()
        observation.sending = WebSocketMessageProgress(
            id: WebSocketMessageID(2), type: .binary, isCompressed: false, fragments: 1, bytes: 9, wireBytes: 9)
        observation.receivedFailure = .maskedFrame
        observation.sentFailure = .invalidUTF8(offset: 4)
        observation.receivedSkipped = 5
        observation.sentSkipped = 6
        picture.observation = observation
        return picture
    }

    @Test("what passed comes back, and what is wrong with it")
    func traffic() throws {
        var traffic = WebSocketTraffic(.undecoded)
        traffic.problem = "opcode 0x7 has no meaning"
        #expect(try returned(traffic) == traffic)
    }

    @Test("a picture comes back as it went")
    func pictures() throws {
        #expect(try returned(Self.picture) == Self.picture)
        var socket = SocketSnapshot(id: SocketID(1), role: .client, phase: .connected, target: "", opened: .zero)
        socket.webSocket = Self.picture
        #expect(try returned(socket) == socket)
    }

    @Test("passwords and cookies stay behind")
    func secrets() throws {
        var picture = Self.picture
        let secrets = ["Authorization", "cookie", "Set-Cookie", "Proxy-Authorization"]
        picture.request?.fields = secrets.map { HTTPField($0, "secret") } + [HTTPField("Host", "h")]
        let fields = try returned(picture).request?.fields
        #expect(fields == secrets.map { HTTPField($0, "***") } + [HTTPField("Host", "h")])
    }

    @Test("every failure and every state of the parser comes back")
    func variants() throws {
        let failures: [WebSocketFailure] = [
            .reservedBits(5), .unknownOpcode(3), .unmaskedFrame, .maskedFrame, .overlongLength(3),
            .impossibleLength(1 << 61),
            .controlTooLong(126), .fragmentedControl(.ping), .nothingToContinue, .unfinishedMessage,
            .frameTooBig(length: 9, limit: 8), .messageTooBig(limit: 7), .noRoom(limit: 5),
            .messageTimeout(.seconds(4)), .tooManyEmptyFragments(limit: 6),
            .invalidUTF8(offset: 5), .corruptDeflate, .cutCloseCode, .badCloseCode(.noStatus), .badCloseReason,
            .pongTimeout(.seconds(1)), .closeTimeout(.milliseconds(2)), .endedWithoutClose,
        ]
        for failure in failures { #expect(try WebSocketFailure(written: failure.written) == failure) }
        let states: [WebSocketParserState] = [
            .header(done: 1), .extendedLength(done: 1, total: 8), .mask(done: 2), .payload(.text, done: 1, total: 2),
            .nothing,
        ]
        for state in states { #expect(try WebSocketParserState(written: state.written) == state) }
    }

    @Test("every command comes back")
    func commands() throws {
        let commands: [WebSocketCommand] = [
            .message(.text("a")), .message(.binary([])), .fragments(.text, [[], [1], []]), .begin(.binary),
            .append(OperationID(3), [1], isLast: true), .append(OperationID(3), [], isLast: false), .ping([]),
            .pong([1]),
            .close(.normal, reason: "r"), .close(nil, reason: ""),
        ]
        for command in commands {
            let wire = try returned(InspectionCommand(.webSocket(SocketID(2), command)))
            #expect(try wire.command() == .webSocket(SocketID(2), command))
        }
    }
}
