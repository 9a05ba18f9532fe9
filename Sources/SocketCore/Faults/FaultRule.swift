/// One fault: on which connections, where in their streams, in which direction, and what is done there.
package struct FaultRule: Hashable, Sendable {
    /// All of them must hold.
    package var conditions: [FaultCondition]
    /// `nil`: both.
    package var direction: FaultDirection?
    package var effect: FaultEffect

    package init(_ effect: FaultEffect, _ direction: FaultDirection? = nil, when conditions: [FaultCondition] = []) {
        self.conditions = conditions
        self.direction = direction
        self.effect = effect
    }

    /// Whether it concerns bytes that go this way.
    package func concerns(_ direction: FaultDirection) -> Bool { self.direction.map { $0 == direction } ?? true }
}

/// Which way bytes go.
package enum FaultDirection: String, Hashable, Sendable, CaseIterable {
    /// To the server: the side that accepted.
    case upstream
    /// To the client: the side that connected.
    case downstream

    package var other: FaultDirection { self == .upstream ? .downstream : .upstream }
}

/// When a fault happens.
package enum FaultCondition: Hashable, Sendable {
    /// On the nth connection, counted from 1.
    case connection(UInt64)
    /// On every nth one.
    case every(UInt64)
    /// On the first n.
    case first(UInt64)
    /// On those whose client has an address of this network.
    case peer(IPAddress, bits: Int)
    /// Once so many bytes have gone this way.
    case afterBytes(UInt64)
    /// So long after the connection began.
    case afterTime(Duration)
    /// Where this is found in the bytes that go this way.
    case match(BytePattern)
    /// At WebSocket frames of this kind.
    case frame(FaultFrame)
    /// Only so often: see `FaultEffect.isDrawnByRange`.
    case probability(Double)
}

/// The kinds of WebSocket frame that a rule can name.
package enum FaultFrame: String, Hashable, Sendable, CaseIterable {
    case text, binary, ping, pong, close

    package var opcode: WebSocketOpcode {
        switch self {
        case .text: .text
        case .binary: .binary
        case .ping: .ping
        case .pong: .pong
        case .close: .close
        }
    }
}

/// What a fault does.
package enum FaultEffect: Hashable, Sendable {
    // To streams.
    case latency(Duration, jitter: Duration)
    /// Bytes per second.
    case bandwidth(UInt64)
    case slice(UInt64, vary: UInt64, every: Duration?)
    /// `nil`: for ever.
    case stall(Duration?)
    case limit(UInt64)
    case reset
    case halfClose
    case slowClose(Duration)
    /// To datagrams too.
    case corrupt(bits: UInt64)
    case insert([UInt8])
    case replace(BytePattern, with: [UInt8])
    // To connections at the listener.
    case refuse
    case noAccept
    // To datagrams.
    case loss(Double)
    case duplicate(Double)
    case reorder(Double, Duration)
    case delay(Duration)
    case truncate(UInt64)
}

/// Bytes to look for.
package enum BytePattern: Hashable, Sendable {
    /// These very bytes, wherever they are.
    case literal([UInt8])
    /// A regular expression, within one line or one WebSocket frame.
    case expression(Pattern)
}

extension FaultEffect {
    /// What an effect is done to.
    package enum Carrier: Sendable { case streams, datagrams, both, listeners }

    package var carrier: Carrier {
        switch self {
        case .latency, .bandwidth, .slice, .stall, .limit, .reset, .halfClose, .slowClose, .insert, .replace: .streams
        case .corrupt: .both
        case .refuse, .noAccept: .listeners
        case .loss, .duplicate, .reorder, .delay, .truncate: .datagrams
        }
    }

    package var concernsStreams: Bool {
        switch carrier {
        case .streams, .both: true
        case .datagrams, .listeners: false
        }
    }

    package var concernsDatagrams: Bool {
        switch carrier {
        case .datagrams, .both: true
        case .streams, .listeners: false
        }
    }

    /// Whether `prob` is drawn for each range of bytes that the effect would change; for other effects it is drawn once
    /// for the connection.
    package var isDrawnByRange: Bool {
        switch self {
        case .corrupt, .replace: true
        default: carrier == .datagrams
        }
    }
}
