/// Makes messages of data frames: joins fragments (RFC 6455, 5.4), inflates (RFC 7692), checks text as it comes (8.1)
/// and keeps within the limits.
struct MessageAssembler: ~Copyable {
    /// The message that is being received.
    private struct Incoming {
        var type = WebSocketMessageType.binary
        var isCompressed = false
        var fragments = 0
        var emptyFragments = 0
        /// As delivered, and as on the wire.
        var bytes = 0
        var wireBytes = 0
        var isDelivered = false
        /// Nothing is made of it.
        var isSkipped = false
        var text = UTF8Validator()

        /// Checks the text behind `start`; that it may end there, if it is over.
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
    /// Of a message that is compressed: what it may inflate to.
    private let inflatedLimit: Int
    private let emptyFragments: Int
    private let windowBits: Int
    private let forgetsWindow: Bool
    private var inflater: Inflater?
    /// The window that the next compressed message builds on was not kept.
    private(set) var hasLostWindow = false
    /// Means something only while a message is half there.
    private var message = Incoming()
    private var isReceiving = false
    /// What came of the message and is not delivered.
    private var whole: [UInt8] = []
    /// The frame at hand: whether the message ends with it, and what is missing of it.
    private var isFinal = false
    private var missing = 0
    /// Messages begun so far.
    private var begun: UInt64 = 0
    /// Messages that came whole.
    private(set) var completed: UInt64 = 0
    /// Those of them that were compressed.
    private(set) var compressed: UInt64 = 0
    /// Bytes of messages that came, inflated.
    private(set) var messageBytes: UInt64 = 0
    /// Those of them that were delivered.
    private(set) var delivered = 0
    /// Bytes that went into the inflater and came out of it, those of messages that were given up included.
    private(set) var inflation = 0
    /// The most that a call of `take` may inflate, if that is less than the message may come to.
    var allowance = Int.max
    /// What an unfinished message that is delivered whole may take up now, if that is less than any may, and the limit
    /// that it comes of.
    var room = (bytes: Int.max, limit: Int.max)

    /// An assembler of what the other end of `role` sends. It owns no memory while no message is half there.
    /// `inflatedLimit`: what a compressed message may come to, if that is less than any may.
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

    /// How many bytes of a frame to take at a time: compressed ones in small steps, for each may make a thousand.
    var step: Int { isReceiving && message.isCompressed ? 512 : .max }

    /// Whether nothing is made of the message of the last data frame.
    var isSkipped: Bool { message.isSkipped }

    /// Whether the next payload is inflated.
    var inflates: Bool { isReceiving && message.isCompressed && !message.isSkipped }

    /// What the message may still inflate to.
    var inflatedRoom: Int { inflatedLimit - message.bytes }

    /// The message that the last frame belongs to.
    var id: WebSocketMessageID { WebSocketMessageID(begun) }

    /// What a message that is half there takes up.
    var unfinishedBytes: Int { whole.count }

    /// Whether a message is half there that takes up memory until it is whole.
    var isUnfinished: Bool { isReceiving && delivery == .whole }

    /// The message that is half there.
    var progress: WebSocketMessageProgress? {
        guard isReceiving else { return nil }
        return WebSocketMessageProgress(
            id: id, type: message.type, isCompressed: message.isCompressed, fragments: message.fragments,
            bytes: message.bytes, wireBytes: message.wireBytes - missing)
    }

    /// Gives back what it owns; nothing is taken after that.
    mutating func freeMemory() {
        inflater = nil
        whole = []
    }

    /// A data frame begins. It throws what forbids that, before any of its payload is taken.
    mutating func begin(_ header: FrameHeader) throws(WebSocketFailure) {
        switch header.opcode {
        case .continuation: guard isReceiving else { throw .nothingToContinue }
        case .text: try beginMessage(.text, header)
        case .binary: try beginMessage(.binary, header)
        case .close, .ping, .pong: fatalError("\(header.opcode) is no frame of a message")
        }
        message.fragments += 1
        if header.length == 0, !header.isFinal { message.emptyFragments += 1 }
        guard message.emptyFragments <= emptyFragments else { throw .tooManyEmptyFragments(limit: emptyFragments) }
        // Data that will not shrink may grow a little when compressed.
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

    /// Makes nothing more of the message that `take` has just thrown `messageTooBig` for, nor of those behind it that
    /// build on what it comes to; their frames are still taken.
    mutating func skip(into events: inout [WebSocketEvent]) {
        inflater = nil
        whole = []
        message.isSkipped = true
        message.text = UTF8Validator()
        hasLostWindow = !forgetsWindow
        if isFinal, missing == 0 { deliver(isOver: true, into: &events) }
    }

    /// Takes payload of the frame at hand and makes nothing of it; `skip` has to follow.
    mutating func pass(_ count: Int) {
        missing -= count
    }

    /// Takes payload of the frame at hand, unmasks it on the way, and delivers what it makes; also the empty payload of
    /// an empty frame.
    mutating func take(
        _ bytes: UnsafeRawBufferPointer, key: UInt32?, spares: inout SpareArrays, into events: inout [WebSocketEvent]
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
            // A chunk goes on its way now; room for the rest of its frame would go with it.
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

    /// Inflates the next bytes. Text that is wrong before the place at which they are no data is what it fails for, as
    /// it is when they come one by one.
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

    /// Inflates into `target`, from memory of its own if the bytes are masked.
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
    /// Gives its own memory away.
    mutating func handOver() -> [UInt8] {
        let bytes = self
        self = []
        return bytes
    }

    /// Makes room for so many bytes, twice as much as before if there is too little.
    mutating func makeRoom(for added: Int) {
        if capacity - count < added { reserveCapacity(Swift.max(count + added, capacity * 2)) }
    }

    /// Makes room for so many bytes, and for what else the frame announced: 1 MiB of it at first, 64 MiB once that much
    /// is there, so that an announcement alone takes up little.
    mutating func makeRoom(for arrived: Int, of announced: Int) {
        guard capacity - count < arrived else { return }
        let promised = Swift.min(announced, Swift.max(arrived, count < 1 << 20 ? 1 << 20 : 1 << 26))
        reserveCapacity(count == 0 ? promised : Swift.max(count + promised, capacity * 2))
    }

    /// Appends bytes, unmasked if there is a key; whether they are known to be ASCII.
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
