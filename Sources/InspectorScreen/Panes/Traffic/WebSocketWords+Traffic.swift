import InspectorCore
import SocketCore

/// The traffic of a WebSocket, in words.
extension WebSocketWords {
    /// Returns `text 18 B, sent in 0.2ms`, `pong, 0.2ms after its ping`, and whether it deserves the user's attention.
    static func traffic(_ item: TrafficItem, _ traffic: WebSocketTraffic) -> (text: String, isNotable: Bool) {
        if traffic.kind == .close { return closing(item) }
        if traffic.kind == .undecoded { return undecoded(item, traffic) }
        var text = traffic.isPart ? "part of \(traffic.kind)" : "\(traffic.kind)"
        if !traffic.kind.isControl && traffic.problem == nil || item.done > 0 { text += " \(Format.size(item.done))" }
        if let time = traffic.roundTrip { text += ", \(Format.duration(time)) after its ping" }
        if traffic.frameCount > 1 { text += ", \(traffic.frameCount) frames" }
        if let problem = traffic.problem {
            return (text + ", \(Format.size(traffic.payloadBytes)) on the wire, \(problem)", true)
        }
        if traffic.isCompressed {
            let ratio = ratio(message: UInt64(max(0, item.done)), wire: UInt64(max(0, traffic.payloadBytes)))
            text += ", \(Format.size(traffic.payloadBytes)) on the wire, \(ratio)"
        }
        switch item.state {
        case .inProgress: return (text + ", queued", false)
        case .complete(let after): return (text + (after > .zero ? ", sent in \(Format.duration(after))" : ""), false)
        case .failed(let reason): return (text + " not sent: \(reason)", true)
        }
    }

    /// `no more frames: a client's frame must be masked; 12 B`.
    private static func undecoded(_ item: TrafficItem, _ traffic: WebSocketTraffic) -> (String, Bool) {
        var text = traffic.problem.map { "no more frames: \($0)" } ?? "no frames"
        if item.done > 0 { text += "; \(Format.size(item.done))" }
        return (text, traffic.problem != nil)
    }

    private static func closing(_ item: TrafficItem) -> (text: String, isNotable: Bool) {
        guard item.bytes.count >= 2 else { return ("close, no code", false) }
        let code = WebSocketCloseCode(rawValue: UInt16(item.bytes[0]) << 8 | UInt16(item.bytes[1]))
        return ("close \(code)", !isOrderly(WebSocketCloseFrame(code: code)))
    }

    /// One row for each frame: `FIN RSV1 text         mask 37FA213D  11 B of 18 B`.
    static func frames(_ traffic: WebSocketTraffic) -> [String] {
        var rows = traffic.frames.map { frame in
            let bits = (1...3).map { frame.reserved & (8 >> UInt8($0)) != 0 ? " RSV\($0)" : "" }.joined()
            let key = frame.maskKey.map { "mask \(hex($0))" } ?? "no mask"
            let isWhole = frame.length == frame.messageBytes || frame.opcode.isControl
            return (frame.isFinal ? "FIN" : "   ") + Format.padded(bits, to: 6)
                + Format.padded(name(frame.opcode), to: 14) + Format.padded(key, to: 15)
                + Format.size(frame.length) + (isWhole ? "" : " for \(Format.size(frame.messageBytes))")
        }
        let more = traffic.frameCount - traffic.frames.count
        if more > 0 { rows.append("+\(more) more frames, not kept") }
        return rows
    }

    private static func hex(_ key: UInt32) -> String {
        let digits = String(key, radix: 16, uppercase: true)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
