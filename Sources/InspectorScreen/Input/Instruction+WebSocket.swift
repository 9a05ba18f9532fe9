import InspectorCore
import SocketCore

/// The parsers of WebSocket commands. What can't be sent is rejected here, where it was typed.
extension Instruction {
    /// Parses the payload of a ping or a pong, including escapes.
    static func control(_ arguments: Arguments) throws(Failure) -> [UInt8] {
        let bytes = try InstructionText.escaped(arguments.whole, arguments.verb)
        guard bytes.count <= 125 else {
            throw Failure(arguments.verb, "\(WebSocketRefusal.payloadTooLong(bytes.count))")
        }
        return bytes
    }

    /// Parses `A|B|C` as text, or as binary if the bytes are not valid text.
    static func fragments(_ arguments: Arguments) throws(Failure) -> WebSocketCommand {
        guard !arguments.whole.isEmpty else {
            throw Failure(arguments.verb, "needs parts after it, as in fragments Hel|lo")
        }
        var parts: [[UInt8]] = []
        for part in arguments.whole.split(separator: "|", omittingEmptySubsequences: false) {
            parts.append(try InstructionText.escaped(String(part), arguments.verb))
        }
        return .fragments(WebSocketMessage.type(of: Array(parts.joined())), parts)
    }

    /// Parses `1000 bye`.
    static func webSocketClosing(_ arguments: Arguments) throws(Failure) -> WebSocketCommand {
        let word = arguments.whole.prefix { $0 != " " }
        guard let number = UInt16(word) else { throw Failure(String(word), "a close code is a number up to 4999") }
        let code = WebSocketCloseCode(rawValue: number)
        let reason = String(arguments.whole.dropFirst(word.count).drop { $0 == " " })
        guard code.isSendable else { throw Failure(arguments.verb, "\(WebSocketRefusal.closeCode(code))") }
        guard reason.utf8.count <= 123 else {
            throw Failure(arguments.verb, "\(WebSocketRefusal.reasonTooLong(reason.utf8.count))")
        }
        return .close(code, reason: reason)
    }
}
