import SocketCore

// Enumerations with payloads: a word and its fields.

/// A word and its fields.
package struct WireVariant: WireMessage {
    package var word: String
    package var number: Int
    package var limit: Int?
    package var bytes: [UInt8]
    package var text: String
    package var flags: UInt64

    package init(
        _ word: String, number: Int = 0, limit: Int? = nil, bytes: [UInt8] = [], text: String = "", flags: UInt64 = 0
    ) {
        self.word = word
        self.number = number
        self.limit = limit
        self.bytes = bytes
        self.text = text
        self.flags = flags
    }

    package static var blank: WireVariant { WireVariant("") }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &word)
        try coder.exactField(2, &number)
        try coder.field(3, &limit)
        try coder.field(4, &bytes)
        try coder.field(5, &text)
        try coder.field(6, &flags)
    }

    /// The number as a count or a size, limited to the range of those.
    var count: Int { Int(written: Int64(number)) }

    /// The number as nanoseconds, limited to the range of those.
    var nanoseconds: Int64 { max(-WireLimit.nanoseconds, min(Int64(number), WireLimit.nanoseconds)) }

    /// Returns the number as a 32-bit number.
    func errno() throws(WireError) -> Int32 { try Int32(written: Int64(number)) }
}

extension SocketAddress: WireAlias {
    package var written: WireVariant {
        WireVariant(family.rawValue, number: Int(port ?? 0), text: host ?? name ?? "")
    }

    package init(written: WireVariant) throws(WireError) {
        guard let family = Family(rawValue: written.word) else { throw .unknown }
        self.init(family, text: written.text, port: UInt16(clamping: written.number))
    }
}

extension ReadRequest.Kind: WireAlias {
    package var written: WireVariant {
        let (parts, values) = (word.parts, values)
        var variant = WireVariant(word.name, number: values.length, limit: values.limit, bytes: values.terminator)
        if parts.contains(.width) {
            let prefix = values.prefix
            variant.number = prefix.offset
            variant.flags =
                UInt64(prefix.width.rawValue) << 2 | (prefix.isLittleEndian ? 1 : 0) | (prefix.countsHeader ? 2 : 0)
        }
        return variant
    }

    package init(written: WireVariant) throws(WireError) {
        guard let word = Word.allCases.first(where: { $0.name == written.word }) else { throw .unknown }
        var values = ReadValues(length: written.count, terminator: written.bytes, limit: written.limit)
        if word.parts.contains(.width) {
            guard let width = LengthPrefix.Width(rawValue: Int(written.flags >> 2 & 0xFF)),
                (0...Int(Int32.max)).contains(written.number)
            else { throw .unknown }
            values.prefix = LengthPrefix(
                width, isLittleEndian: written.flags & 1 != 0, offset: written.number,
                countsHeader: written.flags & 2 != 0, limit: 0)
        }
        self.init(word, values)
    }
}

extension OperationSnapshot.Kind: WireAlias {
    package var written: WireVariant {
        switch self {
        case .write: WireVariant(name)
        case .read(let kind): kind.written
        }
    }

    package init(written: WireVariant) throws(WireError) {
        self = written.word == Self.write.name ? .write : .read(try ReadRequest.Kind(written: written))
    }
}

extension ConnectSnapshot.Attempt.Outcome: WireAlias {
    package var written: WireVariant {
        switch self {
        case .trying: WireVariant("trying")
        case .failed(let errno): WireVariant("failed", number: Int(errno))
        case .won: WireVariant("won")
        case .abandoned: WireVariant("abandoned")
        }
    }

    package init(written: WireVariant) throws(WireError) {
        switch written.word {
        case "trying": self = .trying
        case "failed": self = .failed(errno: try written.errno())
        case "won": self = .won
        case "abandoned": self = .abandoned
        default: throw .unknown
        }
    }
}

extension TrafficItem.State: WireAlias {
    package var written: WireVariant {
        switch self {
        case .inProgress: WireVariant("inProgress")
        case .complete(let after): WireVariant("complete", number: Int(after.wholeNanoseconds))
        case .failed(let why): WireVariant("failed", text: why)
        }
    }

    package init(written: WireVariant) throws(WireError) {
        switch written.word {
        case "inProgress": self = .inProgress
        case "complete": self = .complete(after: .nanoseconds(written.nanoseconds))
        case "failed": self = .failed(written.text)
        default: throw .unknown
        }
    }
}

extension SocketError.Reason: WireAlias {
    /// The cases without a payload, by their words on the wire.
    private static let words: [(SocketError.Reason, String)] = [
        (.badConfiguration, "badConfiguration"), (.badParameter, "badParameter"), (.connectTimeout, "connectTimeout"),
        (.readTimeout, "readTimeout"), (.writeTimeout, "writeTimeout"), (.idleTimeout, "idleTimeout"),
        (.readMaxedOut, "readMaxedOut"), (.closedByPeer, "closedByPeer"), (.disconnected, "disconnected"),
        (.cancelled, "cancelled"), (.sendTimeout, "sendTimeout"), (.notConnected, "notConnected"), (.other, "other"),
    ]

    package var written: WireVariant {
        switch self {
        case .system(let errno): WireVariant("system", number: Int(errno))
        case .resolver(let code): WireVariant("resolver", number: Int(code))
        case .tls(let failure): failure.written
        case .webSocket(let problem): problem.written
        case .badConfiguration, .badParameter, .connectTimeout, .readTimeout, .writeTimeout, .idleTimeout,
            .sendTimeout, .readMaxedOut, .closedByPeer, .disconnected, .cancelled, .notConnected, .other:
            WireVariant(Self.words.first { $0.0 == self }?.1 ?? "other")
        }
    }

    /// Creates a reason. One that this version doesn't know is `other`, and the detail still describes it.
    package init(written: WireVariant) throws(WireError) {
        switch written.word {
        case "system": self = .system(errno: try written.errno())
        case "resolver": self = .resolver(code: try written.errno())
        case let word where word.hasPrefix("webSocket."):
            self = WebSocketProblem(written: written).map { .webSocket($0) } ?? .other
        case let word where word.hasPrefix("tls."): self = TLSFailure(written: written).map { .tls($0) } ?? .other
        default: self = Self.words.first { $0.1 == written.word }?.0 ?? .other
        }
    }
}
