import FuzzSupport
import SocketCore

/// Compressed messages of a stranger: whatever they are, they inflate to no more than the limit or fail, the same however
/// they are cut; and what we compress is what we inflate.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let way = input.byte()
    let parameters = PerMessageDeflateParameters(
        serverNoContextTakeover: way & 1 != 0, serverMaxWindowBits: 8 + Int(way >> 5))
    let piece = 1 + input.below(8)
    var messages: [[UInt8]] = []
    while !input.isEmpty { messages.append(input.bytes(Int(input.byte() & 63), mask: 0xFF)) }
    let stream = messages.flatMap { frame($0, isText: way & 2 != 0) }
    let delivery: WebSocketSettings.Delivery = way & 4 == 0 ? .whole : .chunks
    let whole = inflate(stream, piece: .max, parameters, delivery)
    let cut = inflate(stream, piece: piece, parameters, delivery)
    // Who looks back farther than agreed is followed as far as the bytes still happen to be there.
    let keepsWindow = parameters.serverMaxWindowBits == 15
    require(whole == cut || !keepsWindow, "\(whole) became \(cut) in pieces of \(piece)")
    again(messages, parameters, isForgotten: way & 8 != 0)
    return 0
}

private let limit = 2000

/// One message in one compressed frame.
private func frame(_ payload: [UInt8], isText: Bool) -> [UInt8] {
    [isText ? 0xC1 : 0xC2, UInt8(payload.count)] + payload
}

/// What became of the messages, and how it ended.
private struct Outcome: Equatable {
    var messages: [[UInt8]] = []
    var failure: WebSocketFailure?
}

private func inflate(
    _ stream: [UInt8], piece: Int, _ parameters: PerMessageDeflateParameters, _ delivery: WebSocketSettings.Delivery
) -> Outcome {
    let limits = WebSocketLimits(messageBytes: limit, streamedMessageBytes: limit)
    var machine = WebSocketMachine(
        role: .client, deflate: parameters, settings: WebSocketSettings(limits: limits, delivery: delivery), now: .zero)
    var events: [WebSocketEvent] = []
    var rest = stream[...]
    while !rest.isEmpty {
        machine.receive(Array(rest.prefix(piece)).span.bytes, now: .zero, into: &events)
        while machine.hasHeldInput { machine.proceed(now: .zero, into: &events) }
        rest = rest.dropFirst(piece)
    }
    var outcome = Outcome()
    var parts: [UInt8] = []
    for event in events {
        switch event {
        case .message(_, let bytes): outcome.messages.append(bytes)
        case .chunk(let chunk):
            parts += chunk.bytes
            guard chunk.isFinal else { continue }
            outcome.messages.append(parts)
            parts = []
        case .failed(let failure): outcome.failure = failure
        case .ping, .pong, .closeReceived, .sent, .writable, .frame, .endOutput, .disconnect, .closed: break
        }
    }
    require(outcome.messages.allSatisfy { $0.count <= limit } && parts.count <= limit, "more than \(limit) bytes")
    return outcome
}

/// The bytes themselves as messages, there and back.
private func again(_ messages: [[UInt8]], _ parameters: PerMessageDeflateParameters, isForgotten: Bool) {
    var parameters = parameters
    parameters.serverNoContextTakeover = isForgotten
    var sender = WebSocketMachine(
        role: .server, deflate: parameters, settings: WebSocketSettings(compressionThreshold: 0), now: .zero)
    var receiver = WebSocketMachine(role: .client, deflate: parameters, now: .zero)
    var events: [WebSocketEvent] = []
    var back: [[UInt8]] = []
    for message in messages {
        do throws(WebSocketRefusal) {
            try sender.send(.binary, message)
        } catch {
            fatalError("\(error)")
        }
        let wire = sender.takeOutgoing(now: .zero, maskKey: { fatalError("a server masks") }, into: &events)
        receiver.receive(wire.span.bytes, now: .zero, into: &events)
    }
    for case .message(_, let bytes) in events { back.append(bytes) }
    require(back == messages, "\(messages) came back as \(back)")
}
