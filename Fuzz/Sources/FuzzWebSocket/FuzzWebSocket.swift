import FuzzSupport
import SocketCore

/// Frames of a peer that wants to do harm, and two of us that talk: whatever comes, and however it is cut, the machine
/// says the same, keeps its limits and ends once; what one of us sends is what the other gets, and who only looks on sees
/// what the machine gets.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let way = input.byte()
    if way & 1 == 0 {
        attack(&input, way: way, count: count)
    } else {
        var talk = Talk(way: way)
        while !input.isEmpty { talk.step(&input) }
        talk.end()
    }
    return 0
}

// MARK: A stranger's bytes

private func attack(_ input: inout FuzzInput, way: UInt8, count: Int) {
    let piece = 1 + input.below(16)
    let bytes = input.bytes(count, mask: 0xFF)
    var whole = Attacked(way: way)
    whole.receive(bytes)
    var cut = Attacked(way: way)
    var rest = bytes[...]
    while !rest.isEmpty {
        cut.receive(Array(rest.prefix(piece)))
        rest = rest.dropFirst(piece)
    }
    whole.end()
    cut.end()
    require(whole.told == cut.told, "\(whole.told) became \(cut.told) when it came in pieces of \(piece)")
    require(whole.wire == cut.wire, "\(whole.wire) is sent, \(cut.wire) if it came in pieces")
    let deflate = way & 4 == 0 ? nil : PerMessageDeflateParameters()
    Observed(role: way & 2 == 0 ? .client : .server, deflate: deflate).check(bytes, piece: piece)
}

/// A machine with small limits, and what it told, chunks of a message put together.
private struct Attacked: ~Copyable {
    private var machine: WebSocketMachine
    private var events: [WebSocketEvent] = []
    private(set) var told: [WebSocketEvent] = []
    private(set) var wire: [UInt8] = []
    private var given = 0

    init(way: UInt8) {
        let limits = WebSocketLimits(
            frameBytes: 300, messageBytes: 400, streamedMessageBytes: 400, emptyFragments: 3, queuedControls: 2)
        machine = WebSocketMachine(
            role: way & 2 == 0 ? .client : .server, deflate: way & 4 == 0 ? nil : PerMessageDeflateParameters(),
            settings: WebSocketSettings(limits: limits, delivery: way & 8 == 0 ? .whole : .chunks), now: .zero)
        // The record of a frame comes with its last bytes: where among the chunks is a matter of how they came.
        machine.reportsFrames = way & 24 == 16
    }

    mutating func receive(_ bytes: [UInt8]) {
        given += bytes.count
        machine.receive(bytes.span.bytes, now: .zero, into: &events)
        while machine.hasHeldInput { machine.proceed(now: .zero, into: &events) }
        take()
    }

    /// The stream ends, the user takes everything, and time passes.
    mutating func end() {
        let snapshot = machine.snapshot()
        require(
            snapshot.received.wireBytes == UInt64(given), "\(snapshot.received.wireBytes) of \(given) bytes counted")
        require(snapshot.discardedBytes <= given, "\(snapshot.discardedBytes) of \(given) bytes discarded")
        require((snapshot.receiving?.bytes ?? 0) <= 400, "a message of \(snapshot.receiving?.bytes ?? 0) bytes")
        machine.acknowledgeEnd(now: .zero)
        flush()
        machine.receiveEnd(now: .zero, into: &events)
        flush()
        var time = MonotonicTime.zero
        for _ in 0..<4 {
            time = time + .seconds(60)
            machine.expire(now: time, into: &events)
        }
        take()
        // How much of a message is told before it fails is a matter of how it came.
        told.removeAll { if case .chunk(let chunk) = $0 { !chunk.isFinal } else { false } }
        let ends = told.filter { if case .closed = $0 { true } else { false } }.count
        require(ends == 1 && machine.state == .closed && machine.deadline == nil, "\(ends) ends: \(told)")
    }

    private mutating func flush() {
        while true {
            let bytes = machine.takeOutgoing(most: 100, now: .zero, maskKey: { 0x0102_0304 }, into: &events)
            guard !bytes.isEmpty else { break }
            wire += bytes
            machine.didWrite(bytes.count, now: .zero, into: &events)
        }
        take()
    }

    private mutating func take() {
        for event in events {
            if case .chunk(let new) = event, case .chunk(var last) = told.last, !last.isFinal {
                require(new.message == last.message && new.type == last.type && !new.isFirst, "\(new) behind \(last)")
                last.bytes += new.bytes
                last.isFinal = new.isFinal
                told[told.count - 1] = .chunk(last)
            } else {
                told.append(event)
            }
            if case .message(.text, let bytes) = event {
                require(String(validating: bytes, as: UTF8.self) != nil, "\(bytes) was told as text")
            }
        }
        events = []
    }
}
