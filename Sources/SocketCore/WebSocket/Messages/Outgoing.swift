/// The frames that were handed on, and the payload of the one of which only the header was.
struct Outgoing {
    /// A frame that is not wholly with the kernel.
    struct Flight {
        var opcode: WebSocketOpcode
        var message: WebSocketMessageID?
        var isFinal: Bool
        /// Its bytes, header included.
        var total: Int
        /// Bytes of the message that it carries, uncompressed.
        var messageBytes: Int
        /// Where in all that is handed on it ends.
        var end: UInt64
    }

    private var flights = OperationDeque<Flight>()
    /// What is left of a long payload: the bytes behind `offset`, to be masked.
    private(set) var payload: [UInt8] = []
    private var offset = 0
    private var key: UInt32?
    /// Bytes handed on, and those with the kernel. A frame counts with its header, though its payload may follow.
    private var made: UInt64 = 0
    private var written: UInt64 = 0
    /// Bytes of messages in frames that are not wholly with the kernel.
    private(set) var messageBytes = 0

    /// Whether nothing is on its way.
    var isEmpty: Bool { flights.isEmpty }

    /// Whether the payload of the last frame was not handed on in full.
    var hasPayload: Bool { !payload.isEmpty }

    /// The frame that goes to the kernel now.
    var progress: WebSocketSendProgress? {
        guard !flights.isEmpty else { return nil }
        let first = flights[0]
        return WebSocketSendProgress(
            opcode: first.opcode, message: first.message, done: first.total - Int(first.end - written),
            total: first.total)
    }

    /// Counts a frame whose header is handed on.
    mutating func add(
        _ header: FrameHeader, message: WebSocketMessageID?, messageBytes: Int
    ) {
        let total = header.count + header.length
        made += UInt64(total)
        self.messageBytes += messageBytes
        flights.append(
            Flight(
                opcode: header.opcode, message: message, isFinal: header.isFinal, total: total,
                messageBytes: messageBytes, end: made))
    }

    /// Keeps a long payload, to hand it on in pieces.
    mutating func keep(_ payload: [UInt8], key: UInt32?) {
        self.payload = payload
        self.key = key
        offset = 0
    }

    /// The next piece of the payload that is kept: all of it where it lies if it need not be masked, at most `most`
    /// bytes otherwise.
    mutating func takePayload(most: Int, into wire: inout [UInt8]) {
        guard let key else {
            if wire.isEmpty { wire = payload.handOver() }
            return
        }
        let count = min(most, payload.count - offset)
        payload.withUnsafeBytes {
            let piece = UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count])
            wire.append(piece, unmaskedWith: Masking.rotated(key, by: offset))
        }
        offset += count
        if offset == payload.count { payload = [] }
    }

    /// The kernel took so many bytes. The answer is the last message that is wholly with it now. Traps on more than were
    /// handed on.
    mutating func didWrite(_ count: Int) -> WebSocketMessageID? {
        precondition(0...(made - written) ~= UInt64(count), "wrote \(count) of \(made - written) bytes of frames")
        written += UInt64(count)
        var last: WebSocketMessageID?
        while !flights.isEmpty, flights[0].end <= written, let flight = flights.popFirst() {
            messageBytes -= flight.messageBytes
            if flight.isFinal, let message = flight.message { last = message }
        }
        return last
    }
}
