import SocketCore

/// One fault: the connections, the places in their streams and the direction it applies to, and what it does.
package struct FaultRule: Equatable, Sendable {
    /// The conditions, all of which must hold.
    package var conditions: [FaultCondition]
    /// The direction, or `nil` for both.
    package var direction: FaultDirection?
    package var effect: FaultEffect

    package init(_ effect: FaultEffect, _ direction: FaultDirection? = nil, when conditions: [FaultCondition] = []) {
        self.conditions = conditions
        self.direction = direction
        self.effect = effect
    }

    /// Whether the rule applies to bytes in this direction.
    package func concerns(_ direction: FaultDirection) -> Bool { self.direction.map { $0 == direction } ?? true }
}

/// The direction in which bytes travel.
package enum FaultDirection: String, Equatable, Sendable, CaseIterable {
    /// To the server, the side that accepted.
    case upstream
    /// To the client, the side that connected.
    case downstream

    package var other: FaultDirection { self == .upstream ? .downstream : .upstream }
}

/// When a fault happens.
package enum FaultCondition: Equatable, Sendable {
    /// On the nth connection, counted from 1.
    case connection(UInt64)
    /// On every nth connection.
    case every(UInt64)
    /// On the first n connections.
    case first(UInt64)
    /// On connections whose client has an address in this network.
    case peer(IPAddress, bits: Int)
    /// Once this many bytes have passed in this direction.
    case afterBytes(UInt64)
    /// This long after the connection began.
    case afterTime(Duration)
    /// Where this pattern is found in the bytes of this direction.
    case match(BytePattern)
    /// At WebSocket frames of this kind.
    case frame(FaultFrame)
    /// During the nth question and its answer, counted from 1.
    case exchange(UInt64)
    /// During answers to questions in whose first bytes this is found.
    case question(BytePattern)
    /// Only with this probability. See `FaultEffect.isDrawnByRange`.
    case probability(Double)
}

/// The kinds of WebSocket frame that a rule can name.
package enum FaultFrame: String, Equatable, Sendable, CaseIterable {
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
    // For streams.
    case latency(Duration, jitter: Duration)
    /// Bytes per second.
    case bandwidth(UInt64)
    case slice(UInt64, vary: UInt64, every: Duration?)
    /// For this long, or forever if `nil`.
    case stall(Duration?)
    case limit(UInt64)
    case reset
    case halfClose
    case slowClose(Duration)
    /// For streams and datagrams.
    case corrupt(bits: UInt64)
    case insert([UInt8])
    case replace(BytePattern, with: [UInt8])
    // For connections at the listener.
    case refuse
    case noAccept
    // For datagrams.
    case loss(Double)
    case duplicate(Double)
    case reorder(Double, Duration)
    case delay(Duration)
    case truncate(UInt64)
}

/// A pattern of bytes to search for.
package enum BytePattern: Hashable, Sendable {
    /// Exactly these bytes, wherever they are.
    case literal([UInt8])
    /// A regular expression, within one line or one WebSocket frame.
    case expression(Pattern)
}

extension FaultEffect {
    /// What an effect applies to.
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

    /// Whether `prob` is drawn for each range of bytes that the effect would change. For other effects it is drawn once
    /// for each connection.
    package var isDrawnByRange: Bool {
        switch self {
        case .corrupt, .replace: true
        default: carrier == .datagrams
        }
    }
}
