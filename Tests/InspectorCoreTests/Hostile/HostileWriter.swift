import InspectorCore
import SocketCore
import SocketRecords

/// Writes what a program that wants to do harm might say: every field of every message, by the same lines that read it,
/// with values that `choose` picks. A field that is new is written without a change here.
struct HostileWriter: WireCoder {
    /// A number from 0 to one less than the bound, which is at most 256.
    private let choose: (Int) -> Int
    private var writer = WireWriter()
    private let depth: Int
    /// The first field of this message, where it must ascend to be read at all.
    private var first: UInt64?

    init(_ choose: @escaping (Int) -> Int, depth: Int = 0, first: UInt64? = nil) {
        self.choose = choose
        self.depth = depth
        self.first = first
    }

    /// A message with hostile fields.
    static func message<Message: WireMessage>(
        _: Message.Type, first: UInt64? = nil, depth: Int = 0, _ choose: @escaping (Int) -> Int
    ) -> [UInt8] {
        var writer = HostileWriter(choose, depth: depth, first: first)
        var blank = Message.blank
        // Only reading throws.
        try? blank.fields(&writer)
        return writer.writer.bytes
    }

    mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value) {
        if number == 1, let first { return writer.append(1, first) }
        if choose(8) > 0 { append(number, Value.self) }
    }

    mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value?) {
        if choose(4) > 0 { append(number, Value.self) }
    }

    mutating func field<Value: WireValue>(_ number: UInt32, _ values: inout [Value]) {
        for _ in 0..<(depth > 4 ? 0 : choose(4)) { append(number, Value.self) }
    }

    private mutating func append<Value: WireValue>(_ number: UInt32, _: Value.Type) {
        switch Value.wireType {
        case .varint: writer.append(number, Value.self == SocketID.self ? UInt64(1 + choose(9)) : integer())
        case .fixed64: writer.append(number, pick(HostileValues.rates))
        case .delimited: writer.append(number, encoded: content(Value.self))
        case .fixed32: break
        }
    }

    /// Large and small, as it stands on the wire: of a signed number twice the number, and one less if it is below 0.
    private func integer() -> UInt64 {
        switch choose(4) {
        case 0: UInt64(choose(16))
        case 1: UInt64(choose(256)) << UInt64(choose(57))
        case 2: UInt64.max - UInt64(choose(4))
        default: (UInt64(1) << UInt64(choose(64))) &- UInt64(choose(3))
        }
    }

    private func pick<Value>(_ values: [Value]) -> Value { values[choose(values.count)] }

    private func content<Value: WireValue>(_: Value.Type) -> [UInt8] {
        if let words = HostileValues.words[String(reflecting: Value.self)] {
            let word = Array(pick(words).utf8)
            return Value.self is any WireWord.Type ? word : variant(word)
        }
        if let message = Value.self as? any WireMessage.Type { return nested(message) }
        if Value.self == String.self { return Array(pick(HostileValues.texts).utf8) }
        if Value.self == [UInt8].self { return pick(HostileValues.bytes) }
        fatalError("no hostile value of \(Value.self): add its words")
    }

    private func nested<Message: WireMessage>(_: Message.Type) -> [UInt8] {
        depth > 6 ? [] : Self.message(Message.self, depth: depth + 1, choose)
    }

    private func variant(_ word: [UInt8]) -> [UInt8] {
        var fields = WireWriter()
        fields.append(1, word)
        // An errno has 32 bits, or what holds it is refused.
        fields.append(2, choose(2) == 0 ? integer() : UInt64(choose(256)))
        if choose(4) > 0 { fields.append(3, integer()) }
        fields.append(4, pick(HostileValues.bytes))
        fields.append(5, pick(HostileValues.texts))
        fields.append(6, choose(2) == 0 ? integer() : UInt64(choose(16)))
        return fields.bytes
    }
}

/// What a hostile program picks from.
enum HostileValues {
    static let rates: [Double] = [0, 0.5, 1, 1.5, 1e9, 1e15, 1e300, .infinity, .nan, -1, 1e-300, 99.96]

    static let texts: [String] = [
        "", "a", "h:80", "127.0.0.1", "::1", "ESTAB", "ws://h/p?q=1", String(repeating: "x", count: 300),
        "\u{1B}[2J\u{1B}]0;t\u{7}", "\u{202E}\u{301}\u{301}", "\u{9B}2J", String(repeating: "日本", count: 40), "\0",
        "\r\n\t", "%", "\"\\", String(repeating: "e\u{301}", count: 90), String(repeating: "k", count: 40_000),
    ]

    static let bytes: [[UInt8]] = [
        [], Array("abc".utf8), Array(0...255), Array(repeating: 0xFF, count: 50), Array("\u{1B}[31m".utf8),
        Array("é\r\n".utf8), [3, 0xE8], Array(repeating: 0x61, count: 5_000),
    ]

    private static let addresses = ["ipv4", "ipv6", "unix", "abstract", "unnamed"]
    private static let reads = ["available", "length", "delimiter", "frame"]

    /// The words of each type that travels as one, by its name.
    static let words: [String: [String]] = [
        "SocketCore.SocketRole": ["client", "accepted", "listener", "datagram"],
        "SocketCore.SocketPhase": [
            "resolving", "connecting", "listening", "open", "connected", "lingering", "closed",
        ],
        "SocketCore.CloseMode": ["now", "afterReading", "afterWriting", "afterBoth", "reset"],
        "SocketCore.TrafficItem.Direction": ["received", "sent"],
        "SocketCore.SocketEvent.Kind": SocketEvent.Kind.allCases.map(\.rawValue),
        "SocketCore.InspectionRights": InspectionRights.allCases.map(\.rawValue),
        "SocketCore.WebSocketRole": ["client", "server"],
        "SocketCore.WebSocketStage": [
            "connecting", "tunnelling", "opening", "open", "closing", "refused", "closed",
        ],
        "SocketCore.WebSocketState": ["open", "closing", "closed"],
        "SocketCore.WebSocketCloseReport.Origin": ["local", "peer"],
        "SocketCore.WebSocketMessageType": ["text", "binary"],
        "SocketCore.WebSocketTraffic.Kind": ["text", "binary", "ping", "pong", "close", "undecoded"],
        "SocketCore.TLSSettings.Role": ["client", "server"],
        "SocketCore.TLSSnapshot.Phase": ["queued", "handshaking", "asking", "secure", "failed"],
        "SocketCore.DatagramReceiveMode": ["paused", "once", "continuous"],
        "SocketCore.Evidence": Evidence.allCases.map(\.rawValue) + ["other"],
        "SocketCore.HostTransport": HostTransport.allCases.map(\.rawValue),
        "SocketCore.SocketAddress": addresses,
        "SocketCore.Endpoint": ["udp", "unix", "abstract"],
        "SocketCore.ReadRequest.Kind": reads,
        "SocketCore.OperationSnapshot.Kind": reads + ["write"],
        "SocketCore.ConnectSnapshot.Attempt.Outcome": ["trying", "failed", "won", "abandoned"],
        "SocketCore.TrafficItem.State": ["inProgress", "complete", "failed"],
        "SocketCore.SocketError.Reason": [
            "system", "resolver", "other", "readTimeout", "closedByPeer", "tls.untrusted", "tls.alert", "tls.library",
            "webSocket.refused", "webSocket.closed", "webSocket.badHandshake",
        ],
        "SocketCore.TLSVerification": ["none", "passed", "pinned", "notRequired", "acceptedByHand", "failed"],
        "SocketCore.WebSocketParserState": ["header", "extendedLength", "mask", "payload", "nothing"],
        "SocketCore.WebSocketFailure": [
            "reservedBits", "unknownOpcode", "overlongLength", "impossibleLength", "controlTooLong", "frameTooBig",
            "fragmentedControl", "messageTooBig", "tooManyEmptyFragments", "invalidUTF8", "badCloseCode",
            "pongTimeout", "closeTimeout", "endedWithoutClose",
        ],
    ]
}
