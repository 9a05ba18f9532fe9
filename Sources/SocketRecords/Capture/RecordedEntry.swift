import SocketCore

/// The facts about a session that a recording needs before its first packet.
package struct RecordedSession: Equatable, Sendable {
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

    /// Whether each known end is an IP address.
    var isInternet: Bool { local?.family.isIP != false && peer?.family.isIP != false }
}

/// The source of a recording's packets.
package struct RecordedCapture: Equatable, Sendable {
    package var interface: String
    /// The link type of its packets: a `LinkType`.
    package var link: UInt16
    /// The filter of the capture in tcpdump's syntax, or empty if there is none.
    package var filter: String

    package init(interface: String, link: UInt16, filter: String) {
        (self.interface, self.link, self.filter) = (interface, link, filter)
    }
}

/// One entry of a recording, at an instant of the engine's clock. An entry of bytes is small, since there is one for
/// each read and write. Other contents are stored indirectly.
package struct RecordedEntry: Sendable {
    package enum Content: Sendable {
        /// A session appeared. `isNew` is set if it has just been established.
        indirect case session(RecordedSession, isNew: Bool)
        /// Bytes that the kernel delivered or accepted. Of `length` bytes these are kept. `isPlain` is set if they are
        /// the plaintext of TLS.
        case bytes(ArraySlice<UInt8>, length: Int, isSent: Bool, isPlain: Bool)
        /// A datagram, to or from an address. `length` is its length before truncation.
        indirect case datagram([UInt8], isSent: Bool, SocketAddress?, length: Int)
        /// Lines of a TLS key log, which decrypt the packets that follow.
        case secrets([UInt8])
        /// FIN of one end, or its close_notify if `isPlain` is set.
        case ended(isLocal: Bool, isPlain: Bool)
        /// The session closed. `isReset` is set if either end sent RST.
        case closed(isReset: Bool, isLocal: Bool)
        /// Bytes that were not recorded, for lack of room.
        indirect case dropped(RecordedLoss)
        /// A captured packet. `lost` is the number of captured packets before it that did not fit.
        indirect case packet(CapturedPacket, lost: UInt64)
        /// The kernel's counts of a capture, at a time of day.
        indirect case counts(CaptureCounts, nanoseconds: Int64)
        /// The state of everything, and the recorded traffic of some sessions.
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

    package var isSnapshot: Bool { if case .snapshot = content { true } else { false } }

    /// The number of reads and writes that it reports as missing.
    package var missing: UInt64 { if case .dropped(let loss) = content { loss.operations } else { 0 } }

    /// The number of reads and writes that it stands for.
    package var operations: UInt64 {
        if case .dropped(let loss) = content { loss.operations } else { isOperation ? 1 : 0 }
    }

    /// Takes the array of its bytes, if that has this size and no other references.
    package mutating func takeArray(of size: Int) -> [UInt8]? {
        guard var array = wholeArray(size) else { return nil }
        content = .bytes([], length: size, isSent: false, isPlain: false)
        return LargeArrayPool.isHeldOnce(&array) ? array : nil
    }

    /// A slice that covers a whole array shares its memory.
    private func wholeArray(_ size: Int) -> [UInt8]? {
        if case .bytes(let slice, _, _, _) = content, slice.count == size { Array(slice) } else { nil }
    }

    /// Returns whether `count` bytes are recorded without a copy, which keeps their array of `whole` bytes alive.
    package static func sharesMemory(_ count: Int, of whole: Int) -> Bool {
        count > leastShared && (whole <= mostHeld || count >= whole / 2)
    }

    private static let leastShared = 16 << 10
    private static let mostHeld = 64 << 10

    /// The approximate memory that it keeps alive, in bytes.
    var held: Int {
        guard case .bytes(let bytes, _, _, _) = content, bytes.count > Self.leastShared else { return weight }
        return bytes.count > Self.mostHeld ? 2 * weight : Self.mostHeld + 128
    }

    /// The approximate size of its contents in bytes.
    package var weight: Int {
        switch content {
        case .bytes(let bytes, _, _, _): bytes.count + 128
        case .datagram(let bytes, _, _, _): bytes.count + 128
        case .snapshot(let snapshot, _):
            1_024 * (snapshot.sockets.count + 1) + 64 * snapshot.events.count + (snapshot.calls?.weight ?? 0)
        case .packet(let packet, _): packet.bytes.count + 128
        case .session, .ended, .closed, .dropped, .secrets, .counts: 1_024
        }
    }
}

/// The bytes and operations of one session that a recording lost.
package struct RecordedLoss: Equatable, Sendable {
    package var sent: UInt64 = 0
    package var received: UInt64 = 0
    /// The number of reads and writes.
    package var operations: UInt64 = 0
    package var isPlain: Bool

    package init(isPlain: Bool = false) { self.isPlain = isPlain }

    package mutating func add(_ count: Int, isSent: Bool) {
        if isSent { sent &+= UInt64(count) } else { received &+= UInt64(count) }
        operations &+= 1
    }
}
