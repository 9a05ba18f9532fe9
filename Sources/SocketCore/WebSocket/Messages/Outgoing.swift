/// The frames given to the transport, and the remaining payload of the last one.
struct Outgoing {
    /// A frame that the kernel has not accepted completely.
    struct Flight {
        var opcode: WebSocketOpcode
        var message: WebSocketMessageID?
        var isFinal: Bool
        /// The frame's length, header included.
        var total: Int
        /// The message bytes in the frame, uncompressed.
        var messageBytes: Int
        /// The frame's end, as an offset in all bytes given to the transport.
        var end: UInt64
    }

    private var flights = OperationDeque<Flight>()
    /// The long payload being sent. The bytes after `offset` remain to be masked.
    private(set) var payload: [UInt8] = []
    private var offset = 0
    private var key: UInt32?
    /// The bytes given to the transport, and those the kernel has accepted. A frame counts in full once its header is
    /// given to the transport.
    private var made: UInt64 = 0
    private var written: UInt64 = 0
    /// The message bytes in frames that the kernel has not accepted completely.
    private(set) var messageBytes = 0

    var isEmpty: Bool { flights.isEmpty }

    /// Whether the last frame's payload was not completely given to the transport.
    var hasPayload: Bool { !payload.isEmpty }

    /// The progress of the frame being written to the kernel.
    var progress: WebSocketSendProgress? {
        guard !flights.isEmpty else { return nil }
        let first = flights[0]
        return WebSocketSendProgress(
            opcode: first.opcode, message: first.message, done: first.total - Int(first.end - written),
            total: first.total)
    }

    /// Counts a frame whose header is given to the transport.
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

    /// Stores a long payload to be sent in pieces.
    mutating func keep(_ payload: [UInt8], key: UInt32?) {
        self.payload = payload
        self.key = key
        offset = 0
    }

    /// Takes the next piece of the stored payload: all of it without a copy if it is not masked, otherwise at most
    /// `most` bytes.
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

    /// Notes that the kernel accepted `count` bytes. Returns the last message it has now accepted completely, if any.
    /// Traps if `count` is more than was given to the transport.
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
