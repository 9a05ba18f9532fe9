import SocketCore

extension EngineState {
    /// At this many operations, or bytes, queued on a session, a viewer can't add another operation.
    private static let viewerOperations = 1_024
    private static let viewerBytes = 16 << 20

    /// Carries out a viewer's command. If it does not, returns the reason as a sentence: the socket does not take such
    /// a command, or the queue that it adds to is too long for a viewer to add to it. The program's own operations are
    /// not limited by this.
    func perform(ofViewer command: SocketCommand) -> String? {
        if let refusal = (sessions[command.socket]?.role).flatMap({ command.action.refusal(of: command.socket, $0) }) {
            return refusal + "; nothing was done"
        }
        if let queued = connection(command.socket)?.queued(for: command.action),
            queued.operations >= Self.viewerOperations || queued.bytes >= Self.viewerBytes
        {
            return "#\(command.socket.number) already has \(queued.operations) operations of \(queued.bytes) bytes "
                + "queued, too many for a viewer to add more; nothing was done"
        }
        performByViewer(command)
        return nil
    }
}

extension Connection {
    /// Returns what is queued where a command adds to a queue. Bytes are limited only if it adds bytes. Returns `nil`
    /// if it adds nothing, as a close does. Datagram sockets have a limit of their own.
    fileprivate func queued(for action: SocketCommand.Action) -> (operations: Int, bytes: Int)? {
        switch action {
        case .read: (machine.readingSnapshot(listing: 0).pendingCount, 0)
        case .write: queuedToSend
        case .webSocket(let command): queued(for: command)
        default: nil
        }
    }

    private func queued(for command: WebSocketCommand) -> (operations: Int, bytes: Int)? {
        switch command {
        case .message, .fragments: queuedToSend
        // The end of a message that was started is always accepted.
        case .append(_, let bytes, let isLast): bytes.isEmpty && isLast ? nil : queuedToSend
        case .begin: (queuedToSend.operations, 0)
        // Once the WebSocket is open, these have a lane and a limit of their own.
        case .ping, .pong: (webSocket?.waiting.count ?? 0, 0)
        case .close: nil
        }
    }

    private var queuedToSend: (operations: Int, bytes: Int) {
        let writing = machine.writingSnapshot(listing: 0)
        let messages = webSocket?.queued ?? (operations: 0, bytes: 0)
        return (writing.pendingCount + messages.operations, writing.pendingBytes + messages.bytes)
    }
}

extension WebSocketLayer {
    /// The messages, and their bytes, that its user has queued and that have not been sent yet.
    fileprivate var queued: (operations: Int, bytes: Int) {
        let early = waiting.reduce(0) { $0 + $1.command.byteCount }
        return (waiting.count + unsent.count, early + (machine?.bufferedBytes ?? 0))
    }
}
