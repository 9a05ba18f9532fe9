/// Assembles messages from data frames: joins fragments (RFC 6455, 5.4), inflates (RFC 7692), checks text as it arrives
/// (8.1) and enforces the limits.
struct MessageAssembler: ~Copyable {
    /// The message that is being received.
    private struct Incoming {
        var type = WebSocketMessageType.binary
        var isCompressed = false
        var fragments = 0
        var emptyFragments = 0
        /// The message's length as delivered and as on the wire.
        var bytes = 0
        var wireBytes = 0
        var isDelivered = false
        /// Whether the message is discarded.
        var isSkipped = false
        var text = UTF8Validator()

        /// Checks the text after `start`, and that no character is incomplete if `isOver`.
        mutating func check(
            _ target: [UInt8], from start: Int, isASCII: Bool, isOver: Bool
        ) throws(WebSocketFailure) {
            if !isASCII || !text.isComplete {
                let impossible = target.withUnsafeBytes {
                    text.validate(UnsafeRawBufferPointer(rebasing: $0[start...]))
                }
                if let impossible { throw .invalidUTF8(offset: bytes + impossible) }
            }
            guard !isOver || text.isComplete else { throw .invalidUTF8(offset: bytes + target.count - start) }
        }
    }

    private let delivery: WebSocketSettings.Delivery
    private let limit: Int
    /// The longest that a compressed message can be after inflation.
    private let inflatedLimit: Int
    private let emptyFragments: Int
    private let windowBits: Int
    private let forgetsWindow: Bool
    private var inflater: Inflater?
    /// Whether the window that the next compressed message needs was dropped.
    private(set) var hasLostWindow = false
    /// The current message. Valid only while `isReceiving`.
    private var message = Incoming()
    private var isReceiving = false
    /// The message's bytes not delivered yet.
    private var whole: [UInt8] = []
    /// Whether the current frame ends the message, and how many of its bytes are missing.
    private var isFinal = false
    private var missing = 0
    /// The number of messages begun.
    private var begun: UInt64 = 0
    /// The number of complete messages.
    private(set) var completed: UInt64 = 0
    /// The number of complete messages that were compressed.
    private(set) var compressed: UInt64 = 0
    /// The message bytes received, after inflation.
    private(set) var messageBytes: UInt64 = 0
    /// The message bytes delivered.
    private(set) var delivered = 0
    /// The bytes put into the inflater and the bytes it produced, including those of abandoned messages.
    private(set) var inflation = 0
    /// The most that one call of `absorb` can inflate, if less than the message's limit.
    var allowance = Int.max
    /// The memory that an unfinished message delivered whole can use now, if less than the message limit, and the limit
    /// it derives from.
    var room = (bytes: Int.max, limit: Int.max)

    /// Creates an assembler for frames sent by the peer of `role`. It owns no memory between messages. `inflatedLimit`
    /// is the limit for a compressed message if it is below the message limit.
    init(
        role: WebSocketRole, settings: WebSocketSettings, deflate: PerMessageDeflateParameters?,
        inflatedLimit: Int = .max
    ) {
        delivery = settings.delivery
        switch settings.delivery {
        case .whole: limit = settings.limits.messageBytes
        case .chunks: limit = settings.limits.streamedMessageBytes
        }
        self.inflatedLimit = min(limit, inflatedLimit)
        emptyFragments = settings.limits.emptyFragments
        let peer: WebSocketRole = role == .client ? .server : .client
        windowBits = deflate?.windowBits(peer) ?? 15
        forgetsWindow = deflate?.forgets(peer) ?? false
    }

    /// The payload bytes to take at a time. Compressed payloads are taken in small steps, because each byte can inflate
    /// to a thousand.
    var step: Int { isReceiving && message.isCompressed ? 512 : .max }

    /// Whether the message of the last data frame is discarded.
    var isSkipped: Bool { message.isSkipped }

    /// Whether the next payload will be inflated.
    var inflates: Bool { isReceiving && message.isCompressed && !message.isSkipped }

    /// The bytes that the message can still inflate to.
    var inflatedRoom: Int { inflatedLimit - message.bytes }

    /// The identifier of the last frame's message.
    var id: WebSocketMessageID { WebSocketMessageID(begun) }

    /// The memory that the incomplete message uses, in bytes.
    var unfinishedBytes: Int { whole.count }

    /// Whether an incomplete message uses memory until it is complete.
    var isUnfinished: Bool { isReceiving && delivery == .whole }

    /// The progress of the incomplete message, or `nil` if there is none.
    var progress: WebSocketMessageProgress? {
        guard isReceiving else { return nil }
        return WebSocketMessageProgress(
            id: id, type: message.type, isCompressed: message.isCompressed, fragments: message.fragments,
            bytes: message.bytes, wireBytes: message.wireBytes - missing)
    }

    /// Frees the assembler's memory. It must not be used after that.
    mutating func freeMemory() {
        inflater = nil
        whole = []
    }

    /// Begins a data frame. Throws before any payload is taken if the frame is not allowed.
    mutating func begin(_ header: FrameHeader) throws(WebSocketFailure) {
        switch header.opcode {
        case .continuation: guard isReceiving else { throw .nothingToContinue }
        case .text: try beginMessage(.text, header)
        case .binary: try beginMessage(.binary, header)
        case .close, .ping, .pong: fatalError("\(header.opcode) is not a data frame")
        }
        message.fragments += 1
        if header.length == 0, !header.isFinal { message.emptyFragments += 1 }
        guard message.emptyFragments <= emptyFragments else { throw .tooManyEmptyFragments(limit: emptyFragments) }
        // Incompressible data can grow a little when compressed.
        let slack = message.isCompressed ? (1 << 16) + limit / 1024 : 0
        let (wireBytes, overflow) = message.wireBytes.addingReportingOverflow(header.length)
        guard !overflow, wireBytes - slack <= limit else { throw .messageTooBig(limit: limit) }
        message.wireBytes = wireBytes
        isFinal = header.isFinal
        missing = header.length
    }

    private mutating func beginMessage(
        _ type: WebSocketMessageType, _ header: FrameHeader
    ) throws(WebSocketFailure) {
        guard !isReceiving else { throw .unfinishedMessage }
        begun += 1
        isReceiving = true
        message = Incoming(type: type, isCompressed: header.isCompressed)
        message.isSkipped = header.isCompressed && hasLostWindow
    }

    /// Discards the message for which `absorb` has just thrown `messageTooBig`, and later messages that depend on its
    /// window. Their frames are still taken.
    mutating func skip(into events: inout [WebSocketEvent]) {
        inflater = nil
        whole = []
        message.isSkipped = true
        message.text = UTF8Validator()
        hasLostWindow = !forgetsWindow
        if isFinal, missing == 0 { deliver(isOver: true, into: &events) }
    }

    /// Takes and discards payload of the current frame. `skip` must follow.
    mutating func pass(_ count: Int) {
        missing -= count
    }

    /// Absorbs payload of the current frame, unmasks it and delivers the result. Also called for the empty payload of
    /// an empty frame.
    mutating func absorb(
        _ bytes: UnsafeRawBufferPointer, key: UInt32?, spares: inout LargeArrayPool, into events: inout [WebSocketEvent]
    ) throws(WebSocketFailure) {
        missing -= bytes.count
        let isOver = isFinal && missing == 0
        let start = whole.count
        var isASCII = false
        if message.isCompressed {
            try inflate(bytes, key: key, isOver: isOver)
        } else {
            guard isOver || delivery == .chunks || bytes.count <= room.bytes - start else {
                throw .noRoom(limit: room.limit)
            }
            // A chunk is delivered at once, so no room is reserved for the rest of its frame.
            let announced = bytes.count + (delivery == .whole ? missing : 0)
            if whole.capacity == 0 { whole = spares.take(for: announced) }
            whole.makeRoom(for: bytes.count, of: announced)
            isASCII = whole.append(bytes, unmaskedWith: key)
        }
        let made = whole.count - start
        if message.type == .text { try message.check(whole, from: start, isASCII: isASCII, isOver: isOver) }
        message.bytes += made
        messageBytes += UInt64(made)
        deliver(isOver: isOver, into: &events)
    }

    private mutating func deliver(isOver: Bool, into events: inout [WebSocketEvent]) {
        switch delivery {
        case .whole:
            guard isOver else { return }
            delivered += whole.count
            events.append(.message(message.type, whole.handOver()))
        case .chunks:
            guard isOver || !whole.isEmpty else { return }
            delivered += whole.count
            let chunk = WebSocketChunk(
                message: id, type: message.type, bytes: whole.handOver(), isFirst: !message.isDelivered,
                isFinal: isOver)
            message.isDelivered = true
            events.append(.chunk(chunk))
        }
        guard isOver else { return }
        completed += 1
        compressed += message.isCompressed ? 1 : 0
        if message.isCompressed, forgetsWindow { inflater?.reset() }
        isReceiving = false
    }

    /// Inflates the next bytes. If invalid text comes before invalid compressed data, the text error is thrown, as it
    /// is when the bytes arrive one at a time.
    private mutating func inflate(
        _ bytes: UnsafeRawBufferPointer, key: UInt32?, isOver: Bool
    ) throws(WebSocketFailure) {
        guard !message.isSkipped else { return }
        let start = whole.count
        let isShort = delivery == .whole && room.bytes < inflatedLimit
        let most = max(0, (isShort ? room.bytes : inflatedLimit) - message.bytes)
        var target = whole.handOver()
        defer { inflation += bytes.count }
        do throws(WebSocketFailure) {
            try inflate(bytes, key: key, isOver: isOver, into: &target, room: min(most, allowance))
        } catch {
            inflation += target.count - start
            if message.type == .text { try message.check(target, from: start, isASCII: false, isOver: false) }
            if isShort, case .messageTooBig = error { throw .noRoom(limit: room.limit) }
            throw error
        }
        inflation += target.count - start
        whole = target
    }

    /// Inflates into `target`. Masked bytes are first unmasked into temporary memory.
    private mutating func inflate(
        _ bytes: UnsafeRawBufferPointer, key: UInt32?, isOver: Bool, into target: inout [UInt8], room: Int
    ) throws(WebSocketFailure) {
        var inflater = self.inflater.take() ?? Inflater(windowBits: windowBits)
        let most = target.count + min(room, .max - target.count)
        if let key, let source = bytes.baseAddress {
            try withUnsafeTemporaryAllocation(byteCount: bytes.count, alignment: 1) { plain throws(WebSocketFailure) in
                if let target = plain.baseAddress {
                    Masking.copy(from: source, to: target, count: bytes.count, key: key)
                }
                try inflater.inflate(UnsafeRawBufferPointer(plain), into: &target, room: room, limit: inflatedLimit)
            }
        } else {
            try inflater.inflate(bytes, into: &target, room: room, limit: inflatedLimit)
        }
        if isOver { try inflater.finish(into: &target, room: most - target.count, limit: inflatedLimit) }
        self.inflater = consume inflater
    }
}

extension [UInt8] {
    /// Returns the array's buffer and leaves the array empty.
    mutating func handOver() -> [UInt8] {
        let bytes = self
        self = []
        return bytes
    }

    /// Reserves room for `added` bytes, at least doubling the capacity if there is too little.
    mutating func makeRoom(for added: Int) {
        if capacity - count < added { reserveCapacity(Swift.max(count + added, capacity * 2)) }
    }

    /// Reserves room for `arrived` bytes and for the rest the frame announces: up to 1 MiB of it at first, and up to 64
    /// MiB once 1 MiB has arrived, so that an announcement alone uses little memory.
    mutating func makeRoom(for arrived: Int, of announced: Int) {
        guard capacity - count < arrived else { return }
        let promised = Swift.min(announced, Swift.max(arrived, count < 1 << 20 ? 1 << 20 : 1 << 26))
        reserveCapacity(count == 0 ? promised : Swift.max(count + promised, capacity * 2))
    }

    /// Appends bytes, unmasked if there is a key. Returns whether they are known to be ASCII.
    @discardableResult mutating func append(_ bytes: UnsafeRawBufferPointer, unmaskedWith key: UInt32?) -> Bool {
        guard let key, let source = bytes.baseAddress else {
            append(contentsOf: bytes)
            return bytes.isEmpty
        }
        var isASCII = false
        append(addingCapacity: bytes.count) { span in
            span.withUnsafeMutableBufferPointer { buffer, initialized in
                guard let target = buffer.baseAddress else { return }
                isASCII = Masking.copy(from: source, to: target + initialized, count: bytes.count, key: key)
                initialized += bytes.count
            }
        }
        return isASCII
    }
}
