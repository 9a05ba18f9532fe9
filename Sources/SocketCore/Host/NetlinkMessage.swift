/// One message of netlink(7) and its place in a datagram.
package struct NetlinkMessage: Equatable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// Part of the answer.
        case data
        /// The last part of a dump (NLMSG_DONE).
        case end
        /// The kernel refused the request with this errno.
        case failure(Int32)
        /// Something unrelated to the request.
        case other
    }

    package var kind: Kind
    /// The sequence number of the request it answers.
    package var sequence: UInt32
    /// Whether the table changed during the dump, so that something may be missing (NLM_F_DUMP_INTR).
    package var wasInterrupted: Bool
    package var content: Range<Int>

    /// SOCK_DIAG_BY_FAMILY, the type of every request and every part of an answer.
    static let socketType: UInt16 = 20
    static let headerLength = 16
    private static let errorType: UInt16 = 2
    private static let endType: UInt16 = 3
    private static let interrupted: UInt16 = 0x10

    /// Returns the message at `offset` and moves `offset` to the next one. Returns `nil` if there is none, or if its
    /// length is invalid.
    package static func next(in bytes: RawSpan, at offset: inout Int) -> NetlinkMessage? {
        guard offset >= 0, offset <= bytes.byteCount else { return nil }
        let rest = offset..<bytes.byteCount
        guard let length = bytes.u32(0, in: rest).map(Int.init), let type = bytes.u16(4, in: rest),
            let flags = bytes.u16(6, in: rest), let sequence = bytes.u32(8, in: rest),
            headerLength...max(headerLength, rest.count) ~= length, length <= rest.count
        else { return nil }
        let content = (offset + headerLength)..<(offset + length)
        offset = min(bytes.byteCount, offset + (length + 3) & ~3)
        return NetlinkMessage(
            kind: kind(type, bytes, content), sequence: sequence, wasInterrupted: flags & interrupted != 0,
            content: content)
    }

    private static func kind(_ type: UInt16, _ bytes: RawSpan, _ content: Range<Int>) -> Kind {
        let failure = bytes.number(Int32.self, 0, in: content)
        switch type {
        case socketType: return .data
        // The kernel negates the errno. A truncated message is EPROTO.
        case errorType: return failure == 0 ? .other : .failure(failure.map { 0 &- $0 } ?? 71)
        case endType: return failure.map { $0 < 0 } == true ? .failure(0 &- (failure ?? 0)) : .end
        default: return .other
        }
    }
}

/// One attribute of a netlink message.
package struct NetlinkAttribute: Equatable, Sendable {
    package var type: UInt16
    package var content: Range<Int>

    /// Returns the attribute at `offset`, which must end before `end`, and moves `offset` to the next one. Returns
    /// `nil` if there is none, or if its length is invalid.
    package static func next(in bytes: RawSpan, at offset: inout Int, end: Int) -> NetlinkAttribute? {
        guard offset >= 0, offset <= end, end <= bytes.byteCount else { return nil }
        let rest = offset..<end
        guard let length = bytes.u16(0, in: rest).map(Int.init), let type = bytes.u16(2, in: rest),
            length >= 4, length <= rest.count
        else { return nil }
        let content = (offset + 4)..<(offset + length)
        offset = min(end, offset + (length + 3) & ~3)
        // The two highest bits are flags.
        return NetlinkAttribute(type: type & 0x3FFF, content: content)
    }
}
