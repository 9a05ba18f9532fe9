import SocketCore
import Testing

/// A frame as the tests write and read it, by RFC 6455, 5.2 and without the code under test.
struct WireFrame: Equatable {
    var opcode: UInt8
    var payload: [UInt8]
    var isFinal = true
    var reserved: UInt8 = 0
    var isMasked = false

    /// Its bytes; masked with `key` if there is one.
    func bytes(key: [UInt8]? = nil) -> [UInt8] {
        var bytes: [UInt8] = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
        let mask: UInt8 = key == nil ? 0 : 0x80
        switch payload.count {
        case ..<126: bytes.append(mask | UInt8(payload.count))
        case ..<65_536: bytes += [mask | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default: bytes += [mask | 127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) }
        }
        guard let key else { return bytes + payload }
        return bytes + key + WireFrame.masked(payload, key: key)
    }

    /// RFC 6455, 5.3, byte by byte.
    static func masked(_ payload: [UInt8], key: [UInt8], from offset: Int = 0) -> [UInt8] {
        payload.enumerated().map { $0.element ^ key[(offset + $0.offset) % 4] }
    }

    /// The whole frames at the front of `bytes`, unmasked. What follows them is not looked at.
    static func read(_ bytes: [UInt8]) -> [WireFrame] {
        var frames: [WireFrame] = []
        var rest = bytes[...]
        while rest.count >= 2 {
            let start = rest.startIndex
            var index = start + 2
            var length = Int(rest[start + 1] & 0x7F)
            let width = length == 126 ? 2 : length == 127 ? 8 : 0
            guard rest.count >= 2 + width else { break }
            if width > 0 { length = rest[index..<index + width].reduce(0) { $0 << 8 | Int($1) } }
            index += width
            let isMasked = rest[start + 1] & 0x80 != 0
            guard rest.endIndex - index >= length + (isMasked ? 4 : 0) else { break }
            let key = isMasked ? Array(rest[index..<index + 4]) : [0, 0, 0, 0]
            index += isMasked ? 4 : 0
            frames.append(
                WireFrame(
                    opcode: rest[start] & 0xF, payload: masked(Array(rest[index..<index + length]), key: key),
                    isFinal: rest[start] & 0x80 != 0, reserved: rest[start] >> 4 & 7, isMasked: isMasked))
            rest = rest[(index + length)...]
        }
        return frames
    }
}

extension WireFrame {
    static func text(_ text: String, isFinal: Bool = true) -> WireFrame {
        WireFrame(opcode: 1, payload: Array(text.utf8), isFinal: isFinal)
    }

    static func binary(_ payload: [UInt8], isFinal: Bool = true) -> WireFrame {
        WireFrame(opcode: 2, payload: payload, isFinal: isFinal)
    }

    static func more(_ payload: [UInt8], isFinal: Bool = false) -> WireFrame {
        WireFrame(opcode: 0, payload: payload, isFinal: isFinal)
    }

    static func close(_ code: UInt16?, _ reason: String = "") -> WireFrame {
        WireFrame(opcode: 8, payload: (code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? []) + Array(reason.utf8))
    }

    static func ping(_ text: String = "") -> WireFrame { WireFrame(opcode: 9, payload: Array(text.utf8)) }
    static func pong(_ text: String = "") -> WireFrame { WireFrame(opcode: 10, payload: Array(text.utf8)) }
}

/// One machine, its clock and what it said.
final class WebSocketBench {
    var machine: WebSocketMachine
    private(set) var events: [WebSocketEvent] = []
    private(set) var now = MonotonicTime.zero
    /// What the machine handed on.
    private(set) var wire: [UInt8] = []
    private var key: UInt32 = 0x1234_5678
    private let role: WebSocketRole

    init(
        _ role: WebSocketRole = .server, deflate: PerMessageDeflateParameters? = nil,
        _ settings: WebSocketSettings = WebSocketSettings()
    ) {
        self.role = role
        machine = WebSocketMachine(role: role, deflate: deflate, settings: settings, now: .zero)
    }

    /// The peer's frames, masked as they must be.
    func receive(_ frames: WireFrame..., cut: Int = .max) {
        receive(bytes: frames.flatMap { $0.bytes(key: role == .server ? [0x37, 0xFA, 0x21, 0x3D] : nil) }, cut: cut)
    }

    /// Bytes of the peer, at most `cut` at a time.
    func receive(bytes: [UInt8], cut: Int = .max) {
        var index = 0
        while index < bytes.count {
            let end = index + min(cut, bytes.count - index)
            machine.receive(Array(bytes[index..<end]).span.bytes, now: now, into: &events)
            while machine.hasHeldInput { machine.proceed(now: now, into: &events) }
            index = end
        }
    }

    func receiveEnd() { machine.receiveEnd(now: now, into: &events) }
    func acknowledgeEnd() { machine.acknowledgeEnd(now: now) }

    /// Lets the clock run, with a stop at each deadline.
    func wait(_ time: Duration) {
        let end = now + time
        while let deadline = machine.deadline, deadline <= end {
            now = max(now, deadline)
            machine.expire(now: now, into: &events)
        }
        now = end
        machine.expire(now: now, into: &events)
    }

    /// What the machine has to send, all of it, given to the kernel.
    @discardableResult func flush(most: Int = 1 << 16) -> [WireFrame] {
        var new: [UInt8] = []
        while true {
            let bytes = take(most: most)
            if bytes.isEmpty { break }
            new += bytes
            machine.didWrite(bytes.count, now: now, into: &events)
        }
        return WireFrame.read(new)
    }

    /// What the machine hands on next.
    func take(most: Int = 1 << 16) -> [UInt8] {
        let bytes = machine.takeOutgoing(most: most, now: now, maskKey: nextKey, into: &events)
        wire += bytes
        return bytes
    }

    func didWrite(_ count: Int) { machine.didWrite(count, now: now, into: &events) }

    /// The events since the last call.
    func takeEvents() -> [WebSocketEvent] {
        defer { events = [] }
        return events
    }

    var failure: WebSocketFailure? {
        events.lazy.compactMap { if case .failed(let failure) = $0 { failure } else { nil } }.first
    }

    var report: WebSocketCloseReport? {
        events.lazy.compactMap { if case .closed(let report) = $0 { report } else { nil } }.first
    }

    private func nextKey() -> UInt32 {
        key = key &* 1_664_525 &+ 1_013_904_223
        return key
    }
}

extension WebSocketEvent {
    static func text(_ text: String) -> WebSocketEvent { .message(.text, Array(text.utf8)) }
}

/// Numbers that look random and are the same in every run.
struct TestNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }
}
