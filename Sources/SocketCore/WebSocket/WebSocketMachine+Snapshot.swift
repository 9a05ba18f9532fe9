/// Reports the machine's state.
extension WebSocketMachine {
    /// Returns the current state.
    package borrowing func snapshot() -> WebSocketSnapshot {
        var received = received
        received.messages = assembler.completed
        received.compressedMessages = assembler.compressed
        received.messageBytes = assembler.messageBytes
        // Includes the current frame, because the message bytes decoded from it are already counted.
        if case .payload(let opcode, let done, _) = decoder.awaiting, !opcode.isControl {
            received.payloadBytes += UInt64(done)
        }
        return WebSocketSnapshot(
            role: role, state: state, awaiting: closing.acceptsInput ? decoder.awaiting : .nothing,
            receiving: assembler.progress, sending: outbox.progress, received: received, sent: sent,
            queuedMessages: lanes.messages, bufferedBytes: bufferedBytes, heldBytes: held.count,
            discardedBytes: discarded, pendingPings: pings.pending, roundTrip: pings.roundTrip,
            supersededPings: controls.superseded, closeSent: closing.own,
            closeReceived: closing.received, closeOrigin: closing.origin, failure: closing.failure, deflate: deflate)
    }
}
