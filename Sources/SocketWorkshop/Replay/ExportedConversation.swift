import SocketCore

/// The reassembled traffic between the client and the server of one session.
package struct ExportedConversation: Sendable {
    package enum Side: String, CaseIterable, Sendable { case client, server }

    /// One read or write, or the bytes that a packet added.
    package struct Part: Equatable, Sendable {
        package var side: Side
        package var bytes: [UInt8]
        /// The time since the first packet.
        package var time: MonotonicTime
        /// Whether bytes of its side are missing before it.
        package var followsGap = false

        package init(side: Side, bytes: [UInt8], time: MonotonicTime = .zero) {
            (self.side, self.bytes, self.time) = (side, bytes, time)
        }
    }

    /// FIN or RST of one side.
    package struct End: Hashable, Sendable {
        package var side: Side
        package var isReset: Bool
        package var time: MonotonicTime
        /// The number of parts before it.
        package var parts: Int

        package init(side: Side, isReset: Bool = false, time: MonotonicTime = .zero, parts: Int) {
            (self.side, self.isReset, self.time, self.parts) = (side, isReset, time, parts)
        }
    }

    package var parts: [Part] = []
    package var ends: [End] = []
    /// When it began.
    package var opened = MonotonicTime.zero
    /// Whether its first bytes are the first ones of the connection.
    package var hasBeginning = true
    /// The number of bytes of each side that the file lacks.
    private var lost: [Side: UInt64] = [:]
    /// Whether the session had more traffic than is kept here.
    package var isCut = false

    /// The most bytes that are kept of one session.
    package static let limit = 256 << 20

    package init(_ parts: [Part], ends: [End] = []) { (self.parts, self.ends) = (parts, ends) }

    /// Returns the number of bytes of one side that the file lacks.
    package func missing(of side: Side) -> UInt64 { lost[side, default: 0] }

    /// Counts bytes of a side that the file lacks.
    package mutating func lose(_ count: UInt64, of side: Side) { lost[side, default: 0] += count }

    /// Returns the bytes that one side sent.
    package func bytes(of side: Side) -> [UInt8] { parts.filter { $0.side == side }.flatMap(\.bytes) }
}
