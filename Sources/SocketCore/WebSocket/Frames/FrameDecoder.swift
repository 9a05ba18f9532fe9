/// Splits a byte stream into frames, however it is fragmented. It copies no payload and reports its range in the input.
package struct FrameDecoder: Sendable {
    /// What the next bytes of the input are.
    package enum Step: Equatable {
        /// All input is used up.
        case wait
        /// A frame's header, already checked (RFC 6455, 5.2 and 5.5). Its payload follows unless it is empty.
        case header(FrameHeader)
        /// A range of the input that is payload. `key` is rotated so that it begins with the byte for the first payload
        /// byte, or `nil` if the payload is not masked. `isLast` is whether the frame ends here.
        case payload(Range<Int>, key: UInt32?, isLast: Bool)
    }

    private let rules: FrameRules
    private var gathered = InlineArray<14, UInt8>(repeating: 0)
    /// The bytes received of an incomplete header.
    private var headerDone = 0
    private var headerTotal = 2
    private var header = FrameHeader(opcode: .continuation, length: 0)
    /// The payload bytes of the current frame still to come.
    package private(set) var missing = 0

    /// Creates a decoder for frames sent by the peer of `role`.
    package init(role: WebSocketRole, allowsCompression: Bool, frameBytes: Int) {
        rules = FrameRules(
            expectsMask: role == .server, allowsCompression: allowsCompression, frameBytes: frameBytes)
    }

    /// Takes the next step from `input` after `offset` and advances the offset. Takes at most `most` bytes of payload
    /// at a time. Throws at the byte that breaks the protocol. The decoder must not be used after that.
    package mutating func next(
        _ input: UnsafeRawBufferPointer, _ offset: inout Int, most: Int = .max
    ) throws(WebSocketFailure) -> Step {
        guard offset < input.count, let start = input.baseAddress else { return .wait }
        if missing > 0 { return payload(input.count, &offset, most) }
        var found = headerDone == 0 ? try wholeHeader(start, input.count, &offset) : nil
        if found == nil { found = try gather(input, &offset) }
        guard let found else { return .wait }
        header = found
        missing = found.length
        return .header(found)
    }

    /// What the decoder is waiting for.
    package var awaiting: WebSocketParserState {
        if missing > 0 { return .payload(header.opcode, done: header.length - missing, total: header.length) }
        let extended = headerDone < 2 ? 0 : headerTotal - 2 - (rules.expectsMask ? 4 : 0)
        if headerDone < 2 { return .header(done: headerDone) }
        if headerDone < 2 + extended { return .extendedLength(done: headerDone - 2, total: extended) }
        return .mask(done: headerDone - 2 - extended)
    }

    /// The bytes taken of an incomplete or invalid header.
    var unfinished: [UInt8] { (0..<headerDone).map { gathered[$0] } }

    private mutating func payload(_ end: Int, _ offset: inout Int, _ most: Int) -> Step {
        let count = min(missing, end - offset, most)
        let key = header.maskKey.map { Masking.rotated($0, by: header.length - missing) }
        let start = offset
        offset += count
        missing -= count
        return .payload(start..<offset, key: key, isLast: missing == 0)
    }

    /// Parses a header in place if all of it has arrived.
    private func wholeHeader(
        _ start: UnsafeRawPointer, _ end: Int, _ offset: inout Int
    ) throws(WebSocketFailure) -> FrameHeader? {
        guard end - offset >= 2 else { return nil }
        let opcode = try rules.check(first: start.load(fromByteOffset: offset, as: UInt8.self))
        let total = try rules.check(second: start.load(fromByteOffset: offset + 1, as: UInt8.self), of: opcode)
        guard end - offset >= total else { return nil }
        let header = try rules.header(at: start + offset, opcode: opcode)
        offset += total
        return header
    }

    /// Collects a header that arrives in pieces, and checks each byte as it arrives.
    private mutating func gather(
        _ input: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(WebSocketFailure) -> FrameHeader? {
        while offset < input.count {
            gathered[headerDone] = input[offset]
            headerDone += 1
            offset += 1
            let opcode = try rules.check(first: gathered[0])
            if headerDone == 2 { headerTotal = try rules.check(second: gathered[1], of: opcode) }
            guard headerDone == headerTotal else { continue }
            let whole = try header(of: opcode)
            headerDone = 0
            headerTotal = 2
            return whole
        }
        return nil
    }

    private func header(of opcode: WebSocketOpcode) throws(WebSocketFailure) -> FrameHeader {
        var bytes = gathered
        return try withUnsafeBytes(of: &bytes) { bytes throws(WebSocketFailure) in
            guard let start = bytes.baseAddress else { fatalError("an empty header") }
            return try rules.header(at: start, opcode: opcode)
        }
    }
}
