import SocketCore

extension EngineState {
    /// Operations, and bytes of them, that may be queued on a session for a viewer to add another one.
    private static let viewerOperations = 1_024
    private static let viewerBytes = 16 << 20

    /// Carries out what a viewer asks for. Returns why it was not done, as a sentence, where the session has so much
    /// queued that one who only looks must not add to it; what the program itself queues is not limited by this.
    func perform(ofViewer command: SocketCommand) -> String? {
        if command.isQueued, let queued = queued(on: command.socket),
            queued.operations >= Self.viewerOperations || queued.bytes >= Self.viewerBytes
        {
            return "#\(command.socket.number) has \(queued.operations) operations of \(queued.bytes) bytes queued "
                + "already, the most that a viewer may add to; nothing was done"
        }
        perform(command)
        return nil
    }

    private func queued(on id: SocketID) -> (operations: Int, bytes: Int)? {
        guard let connection = connections[id] else { return nil }
        let reading = connection.machine.readingSnapshot(listing: 0)
        let writing = connection.machine.writingSnapshot(listing: 0)
        let messages = connection.webSocket?.queued ?? (operations: 0, bytes: 0)
        return (
            max(reading.pendingCount, writing.pendingCount) + messages.operations, writing.pendingBytes + messages.bytes
        )
    }
}

extension SocketCommand {
    /// Whether it adds something to a queue. Datagram sockets have a limit of their own.
    fileprivate var isQueued: Bool {
        switch self {
        case .read, .write, .webSocket: true
        case .send, .close, .halfClose, .pauseReading, .answerTimeout, .cancel, .answerTrust, .setTimeout,
            .setWatermarks, .answerConnection:
            false
        }
    }
}

extension WebSocketLayer {
    /// What its user queued and has not left yet.
    fileprivate var queued: (operations: Int, bytes: Int) {
        let early = waiting.reduce(0) { $0 + $1.command.byteCount }
        return (waiting.count + unsent.count, early + (machine?.bufferedBytes ?? 0))
    }
}
