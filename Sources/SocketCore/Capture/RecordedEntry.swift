/// What a recording must know of a session before its first packet.
package struct RecordedSession: Hashable, Sendable {
    package var id: SocketID
    package var local: SocketAddress?
    package var peer: SocketAddress?
    /// Whether the local end connected.
    package var isClient: Bool
    package var role: SocketRole
    package var target: String

    package init(
        id: SocketID, local: SocketAddress?, peer: SocketAddress?, isClient: Bool, role: SocketRole, target: String
    ) {
        (self.id, self.local, self.peer) = (id, local, peer)
        (self.isClient, self.role, self.target) = (isClient, role, target)
    }

    /// Whether neither end is of another family than IP.
    var isInternet: Bool { local?.family.isIP != false && peer?.family.isIP != false }
}

/// Where the packets of a recording were captured.
package struct RecordedCapture: Hashable, Sendable {
    package var interface: String
    /// How its packets begin: a `LinkType`.
    package var link: UInt16
    /// What they passed, in the language of tcpdump; empty: nothing.
    package var filter: String

    package init(interface: String, link: UInt16, filter: String) {
        (self.interface, self.link, self.filter) = (interface, link, filter)
    }
}

/// One thing that goes into a recording, at an instant of the engine's clock.
package struct RecordedEntry: Sendable {
    package enum Content: Sendable {
        /// A session came into sight; `isNew`: it has just been established.
        case session(RecordedSession, isNew: Bool)
        /// The kernel gave or took these bytes; `isPlain`: they are the plaintext of TLS.
        case bytes([UInt8], isSent: Bool, isPlain: Bool)
        /// A datagram, to or from an address; `length`: what it had before it was cut off.
        case datagram([UInt8], isSent: Bool, SocketAddress?, length: Int)
        /// Lines of a TLS key log, which open what follows.
        case secrets([UInt8])
        /// FIN of one end; `isPlain`: its close_notify.
        case ended(isLocal: Bool, isPlain: Bool)
        /// It is over; `isReset`: by RST, of this end or of the other.
        case closed(isReset: Bool, isLocal: Bool)
        /// Bytes that were not recorded, for want of room.
        case dropped(RecordedLoss)
        /// A packet as it was captured; `lost`: how many before it were captured and did not fit.
        case packet(CapturedPacket, lost: UInt64)
        /// What the kernel has counted of a capture, at a time of day.
        case counts(CaptureCounts, nanoseconds: Int64)
        /// The state of everything, and what was kept of the traffic of some.
        case snapshot(EngineSnapshot, [SocketID: TrafficSnapshot])
    }

    package var socket: SocketID
    package var time: MonotonicTime
    package var content: Content

    package init(_ socket: SocketID, at time: MonotonicTime, _ content: Content) {
        (self.socket, self.time, self.content) = (socket, time, content)
    }

    /// Whether it is a read or a write.
    package var isOperation: Bool {
        switch content {
        case .bytes, .datagram, .packet: true
        default: false
        }
    }

    /// Reads and writes that it tells of.
    package var operations: UInt64 {
        if case .dropped(let loss) = content { loss.operations } else { isOperation ? 1 : 0 }
    }

    /// About the memory that it takes while it waits.
    package var weight: Int {
        switch content {
        case .bytes(let bytes, _, _), .datagram(let bytes, _, _, _): bytes.count + 128
        case .snapshot(let snapshot, _): 1_024 * (snapshot.sockets.count + 1) + 64 * snapshot.events.count
        case .packet(let packet, _): packet.bytes.count + 128
        case .session, .ended, .closed, .dropped, .secrets, .counts: 1_024
        }
    }
}

/// What a recording lost of one session.
package struct RecordedLoss: Hashable, Sendable {
    package var sent: UInt64 = 0
    package var received: UInt64 = 0
    /// Reads and writes.
    package var operations: UInt64 = 0
    package var isPlain = false

    package init() {}

    package mutating func add(_ count: Int, isSent: Bool) {
        if isSent { sent &+= UInt64(count) } else { received &+= UInt64(count) }
        operations &+= 1
    }
}
