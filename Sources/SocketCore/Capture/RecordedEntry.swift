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

/// One thing that goes into a recording, at an instant of the engine's clock. It is small where it is of bytes, since there is
/// one for each read and write; the rest lies elsewhere.
package struct RecordedEntry: Sendable {
    package enum Content: Sendable {
        /// A session came into sight; `isNew`: it has just been established.
        indirect case session(RecordedSession, isNew: Bool)
        /// The kernel gave or took so many bytes, of which these are kept; `isPlain`: they are the plaintext of TLS.
        case bytes(ArraySlice<UInt8>, length: Int, isSent: Bool, isPlain: Bool)
        /// A datagram, to or from an address; `length`: what it had before it was cut off.
        indirect case datagram([UInt8], isSent: Bool, SocketAddress?, length: Int)
        /// Lines of a TLS key log, which open what follows.
        case secrets([UInt8])
        /// FIN of one end; `isPlain`: its close_notify.
        case ended(isLocal: Bool, isPlain: Bool)
        /// It is over; `isReset`: by RST, of this end or of the other.
        case closed(isReset: Bool, isLocal: Bool)
        /// Bytes that were not recorded, for want of room.
        indirect case dropped(RecordedLoss)
        /// A packet as it was captured; `lost`: how many before it were captured and did not fit.
        indirect case packet(CapturedPacket, lost: UInt64)
        /// What the kernel has counted of a capture, at a time of day.
        indirect case counts(CaptureCounts, nanoseconds: Int64)
        /// The state of everything, and what was kept of the traffic of some.
        indirect case snapshot(EngineSnapshot, [SocketID: TrafficSnapshot])
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

    /// Reads and writes that it says are missing.
    package var missing: UInt64 { if case .dropped(let loss) = content { loss.operations } else { 0 } }

    /// Reads and writes that it tells of.
    package var operations: UInt64 {
        if case .dropped(let loss) = content { loss.operations } else { isOperation ? 1 : 0 }
    }

    /// Takes the array of its bytes away, if that is of this size and nobody else holds it.
    package mutating func takeArray(of size: Int) -> [UInt8]? {
        guard var array = wholeArray(size) else { return nil }
        content = .bytes([], length: size, isSent: false, isPlain: false)
        return SpareArrays.isHeldOnce(&array) ? array : nil
    }

    /// A slice that is all of an array shares its memory.
    private func wholeArray(_ size: Int) -> [UInt8]? {
        if case .bytes(let slice, _, _, _) = content, slice.count == size { Array(slice) } else { nil }
    }

    /// Whether so many bytes are recorded where they lie, in an array of `whole` bytes that they keep from being released.
    package static func sharesMemory(_ count: Int, of whole: Int) -> Bool {
        count > leastShared && (whole <= mostHeld || count >= whole / 2)
    }

    private static let leastShared = 16 << 10
    private static let mostHeld = 64 << 10

    /// About the memory that it keeps from being released.
    var held: Int {
        guard case .bytes(let bytes, _, _, _) = content, bytes.count > Self.leastShared else { return weight }
        return bytes.count > Self.mostHeld ? 2 * weight : Self.mostHeld + 128
    }

    /// About the bytes that it is of.
    package var weight: Int {
        switch content {
        case .bytes(let bytes, _, _, _): bytes.count + 128
        case .datagram(let bytes, _, _, _): bytes.count + 128
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
    package var isPlain: Bool

    package init(isPlain: Bool = false) { self.isPlain = isPlain }

    package mutating func add(_ count: Int, isSent: Bool) {
        if isSent { sent &+= UInt64(count) } else { received &+= UInt64(count) }
        operations &+= 1
    }
}
