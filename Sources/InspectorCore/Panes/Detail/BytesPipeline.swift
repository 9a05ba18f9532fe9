import SocketCore

/// Where the bytes are: our write queue, the kernel's send queue, bytes in flight, and what the peer has not read; and,
/// the other way, what came but was not read here.
package struct BytesPipeline {
    let socket: SocketSnapshot

    package init(_ socket: SocketSnapshot) {
        self.socket = socket
    }

    /// The stages from our queue to the other program, in order. What is known of the peer's own process stands last.
    package var outgoing: Line {
        var line = Line("queued \(Format.bytes(socket.writing.pendingBytes))", Style(.sent))
        line.append(" > ")
        let kernel = socket.kernel
        line.append("sndq \((kernel?.notSent ?? kernel?.sendQueue).map { Format.bytes($0) } ?? "-")", Style(.sent))
        if socket.phase == .connected, !socket.isWriteShut, !socket.flags.contains(.socketCanAcceptBytes) {
            line.append(" (full)", Style(.warn))
        }
        if let all = kernel?.sendQueue, let waiting = kernel?.notSent, all > waiting {
            line.append(" > ")
            line.append("in flight \(Format.bytes(all - waiting))", Style(.sent))
        }
        return line
    }

    /// What came and was not read.
    package var unread: Line {
        var line = Line()
        if let unread = socket.kernel?.receiveQueue, unread > 0 {
            let role: Role = socket.reading.current == nil ? .warn : .received
            line.append("\(Format.size(unread)) not read here", Style(role))
        }
        if socket.prebuffered > 0 {
            if line.width > 0 { line.append(", ") }
            line.append("\(Format.size(socket.prebuffered)) read ahead", Style(.received))
        }
        return line
    }
}
