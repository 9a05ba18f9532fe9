import SocketCore

/// One WebSocket frame as it is on the wire.
struct WireFrame {
    var header: FrameHeader
    /// The whole frame, including its header.
    var bytes: [UInt8]

    var payloadStart: Int { bytes.count - header.length }

    /// The payload, unmasked.
    var payload: [UInt8] {
        var payload = Array(bytes[payloadStart...])
        if let key = header.maskKey { payload.withUnsafeMutableBytes { Masking.apply(key, to: $0) } }
        return payload
    }

    /// Returns the same frame with another payload, masked with the same key.
    func with(_ payload: [UInt8]) -> [UInt8] {
        var header = header
        header.length = payload.count
        var bytes: [UInt8] = []
        header.append(to: &bytes, with: payload)
        return bytes
    }
}

/// Splits one direction of a connection into WebSocket frames, if its first exchange is an upgrade. Bytes outside
/// frames pass unchanged, and so does everything after a frame that violates the protocol.
struct FrameSplitter {
    enum Unit {
        case raw([UInt8])
        case frame(WireFrame)
        /// WebSocket bytes that are not a whole frame: too long to hold, cut off, or in violation of the protocol.
        case part([UInt8])
    }

    /// The longest frame that is held until it is complete. A longer one passes as bytes.
    static let longest = 256 << 10

    private enum State {
        case head(HTTPHeadParser)
        case frames
        /// Inside a frame that is too long to hold. This many bytes of it are still to come.
        case passing(UInt64)
        case raw
        /// After a frame that violated the protocol.
        case broken
    }

    private let isUpstream: Bool
    private let rules: FrameRules
    private var state = State.head(HTTPHeadParser(limit: 65_536))
    /// The start of an incomplete frame.
    private var gathered: [UInt8] = []
    /// The number of gathered bytes that were removed from the stream. Their frame is no longer whole.
    private var taken = 0

    init(_ direction: FaultDirection) {
        isUpstream = direction == .upstream
        rules = FrameRules(expectsMask: isUpstream, allowsCompression: true, frameBytes: .max)
    }

    /// The part of an incomplete frame that is still in the stream.
    var held: ArraySlice<UInt8> { gathered[taken...] }

    /// Removes and returns the held bytes. Remembers where their frame ends.
    mutating func takeHeld() -> [UInt8] {
        defer { taken = gathered.count }
        return Array(held)
    }

    mutating func split(_ bytes: [UInt8], into units: inout [Unit]) {
        var rest = bytes[...]
        while !rest.isEmpty { absorb(&rest, into: &units) }
    }

    /// Handles the end of the stream by passing an incomplete frame unchanged.
    mutating func finish(into units: inout [Unit]) {
        if case .frames = state, !held.isEmpty { units.append(.part(Array(held))) }
        (gathered, taken) = ([], 0)
        state = .raw
    }

    private mutating func absorb(_ rest: inout ArraySlice<UInt8>, into units: inout [Unit]) {
        switch state {
        case .raw:
            units.append(.raw(Array(rest)))
            rest = []
        case .broken:
            units.append(.part(Array(rest)))
            rest = []
        case .passing(let left):
            let count = Int(min(left, UInt64(rest.count)))
            units.append(.part(Array(rest.prefix(count))))
            rest = rest.dropFirst(count)
            state = left == UInt64(count) ? .frames : .passing(left - UInt64(count))
        case .head(let parser): absorbHead(parser, &rest, into: &units)
        case .frames:
            gathered += rest
            rest = []
            cutFrames(into: &units)
        }
    }

    private mutating func absorbHead(
        _ parser: HTTPHeadParser, _ rest: inout ArraySlice<UInt8>, into units: inout [Unit]
    ) {
        var parser = parser
        let start = Array((isUpstream ? "GET " : "HTTP/1.1 101 ").utf8)
        let seen = parser.count
        let expected = start.dropFirst(seen).prefix(rest.count)
        guard rest.prefix(expected.count).elementsEqual(expected) else {
            state = .raw
            return
        }
        let bytes = Array(rest)
        switch parser.receive(bytes.span.bytes) {
        case .wait:
            state = .head(parser)
            units.append(.raw(bytes))
            rest = []
        case .failed: state = .raw
        case .head(let head, let taken):
            units.append(.raw(Array(rest.prefix(taken))))
            rest = rest.dropFirst(taken)
            state = head.lists("websocket", in: "Upgrade") ? .frames : .raw
        }
    }

    private mutating func cutFrames(into units: inout [Unit]) {
        var start = 0
        defer {
            gathered.removeFirst(min(start, gathered.count))
            if start > 0 { taken = 0 }
        }
        while gathered.count - start >= 2 {
            guard let header = header(at: start, into: &units) else { return }
            guard let header else { return }
            let total = UInt64(header.count) + UInt64(header.length)
            let here = UInt64(gathered.count - start)
            if total > UInt64(Self.longest) {
                let count = Int(min(total, here))
                units.append(.part(rest(start..<start + count)))
                start += count
                if total > here {
                    state = .passing(total - here)
                    return
                }
            } else {
                guard here >= total else { return }
                let frame = start..<start + Int(total)
                let isWhole = taken == 0 || start > 0
                units.append(
                    isWhole ? .frame(WireFrame(header: header, bytes: Array(gathered[frame]))) : .part(rest(frame)))
                start += Int(total)
            }
        }
    }

    /// Returns those of the gathered bytes in a range that are still part of the stream.
    private func rest(_ range: Range<Int>) -> [UInt8] {
        Array(gathered[range].dropFirst(range.lowerBound == 0 ? taken : 0))
    }

    /// Returns the header that begins at `start`, or `.some(nil)` if it is incomplete. Returns `nil` if it violates the
    /// protocol; all gathered bytes have then passed.
    private mutating func header(at start: Int, into units: inout [Unit]) -> FrameHeader?? {
        do throws(WebSocketFailure) {
            let opcode = try rules.check(first: gathered[start])
            let count = try rules.check(second: gathered[start + 1], of: opcode)
            guard gathered.count - start >= count else { return .some(nil) }
            let bytes = Array(gathered[start..<start + count])
            let parsed = bytes.withUnsafeBytes { bytes -> Result<FrameHeader?, WebSocketFailure> in
                guard let base = bytes.baseAddress else { return .success(nil) }
                return Result { () throws(WebSocketFailure) in try rules.header(at: base, opcode: opcode) }
            }
            return .some(try parsed.get())
        } catch {
            units.append(.part(rest(start..<gathered.count)))
            (gathered, taken) = ([], 0)
            state = .broken
            return nil
        }
    }
}
