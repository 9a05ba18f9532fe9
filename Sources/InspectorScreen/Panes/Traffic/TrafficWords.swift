import SocketCore

/// The texts that replace the traffic and the composer's line.
package enum TrafficWords {
    /// Returns the lines shown while there is no traffic.
    package static func empty(_ model: Model) -> [String] {
        guard let socket = model.selected else {
            if model.expected != nil { return ["opening..."] }
            return [model.list.selected.map(model.shared.absence) ?? "no connection is selected"]
        }
        if socket.role != .listener, let refusal = model.payloadRefusal { return [refusal] }
        switch socket.phase {
        case .listening:
            if let rule = socket.fault?.rules.first {
                return ["fault \(rule.number) (\(rule.text)) accepts no connections: they wait in the backlog"]
            }
            guard socket.isReadingPaused else {
                return [(model.hasEnded(socket.id) ? "was " : "") + "waiting for connections on \(socket.peerText)"]
            }
            return ["accepting is paused: new connections wait in the backlog"]
        case .resolving: return ["resolving \(socket.target)..."]
        case .connecting: return ["connecting to \(socket.target)..."]
        case .closed: return []
        case .open:
            let place = socket.local?.description ?? socket.target
            return socket.received == 0 && socket.sent == 0 ? ["open on \(place); no datagrams yet"] : []
        case .connected, .lingering:
            if socket.webSocket != nil { return [] }
            return socket.received == 0 && socket.sent == 0
                ? ["connected; no traffic" + (model.hasEnded(socket.id) ? "" : " yet")] : []
        }
    }

    /// Returns why nothing can be written to a socket, or `nil` if something can.
    package static func whyNoWriting(_ socket: SocketSnapshot) -> String? {
        if let ending = socket.ending { return "closed: \(ending)" }
        if socket.ends != nil { return "captured: it cannot be written to" }
        if socket.role == .listener { return "a listener cannot send: select one of its connections" }
        if let webSocket = socket.ownWebSocket, [.closing, .refused, .closed].contains(webSocket.stage) {
            return "closing: nothing is sent after a Close"
        }
        if let passing = socket.passingWebSocket?.traffic, socket.linked != nil, passing.closeSent != nil {
            return "a Close was sent: no message can follow it"
        }
        if socket.isWriteShut { return "we sent FIN; no more writes are possible" }
        if socket.phase == .lingering { return "closing: waiting for the peer's FIN" }
        if socket.flags.contains(.forbidReadsWrites) { return "closing when its queues are empty" }
        return nil
    }
}
