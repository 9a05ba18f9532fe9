import SocketCore

/// What a capture lacks, and what of it is not read.
extension CapturedSessions {
    /// The number of packets that carry neither TCP nor UDP.
    package var skipped: UInt64 { parser.skipped }
    /// The packets of link types that are not read here, as text.
    package var unreadLinks: [String] { parser.unread.words }

    /// The number of holes that were given up because a limit of one stream or of all streams was reached.
    package var givenUp: UInt64 { sessions.reduce(0) { $0 &+ $1.givenUp } }

    /// Why nothing was read although there were packets, or `nil` if something was.
    package var unreadable: String? {
        guard packets > 0, seen == 0, refused == 0 else { return nil }
        return "nothing in it could be read: " + shortcomings.joined(separator: ", ")
    }

    /// As text, or an empty array if everything is there and was read.
    package var shortcomings: [String] {
        func sum(_ count: (CapturedSession) -> UInt64) -> UInt64 { sessions.reduce(0) { $0 &+ count($1) } }
        let counts = [
            givenUp.times("gap skipped for lack of buffer space", "gaps skipped for lack of buffer space"),
            sum(\.early).times(
                "byte from before the start of the capture, left out",
                "bytes from before the start of the capture, left out"),
        ]
        let unread = [
            skipped.times("packet that is neither TCP nor UDP", "packets that are neither TCP nor UDP"),
            parser.broken.times(
                "packet with invalid or incomplete headers", "packets with invalid or incomplete headers"),
            refused.times(
                "packet beyond the limit of \(limit) sessions", "packets beyond the limit of \(limit) sessions"),
            lostFragments.times(
                "fragment of an incomplete packet, or too many", "fragments of incomplete packets, or too many"),
        ]
        return unreadLinks + [beganBefore].compactMap { $0 } + counts.compactMap { $0 } + ignored
            + unread.compactMap { $0 }
    }

    /// What was captured and not taken for a part of a connection, as text, in the sessions that were forgotten too.
    package var ignored: [String] { sessions.reduce(into: forgottenParts) { $0.add($1) }.words }

    /// The most connections that are named.
    private static let namedLimit = 5

    /// `#1, #4 and 3 more began before the capture`
    private var beganBefore: String? {
        let names = sessions.lazy.filter(\.beganBefore).map(\.id.description)
        let count = names.count
        guard count > 0 else { return nil }
        let named = names.prefix(Self.namedLimit).joined(separator: ", ")
        return named + (count > Self.namedLimit ? " and \(count - Self.namedLimit) more" : "")
            + " began before the capture"
    }
}

/// The parts of connections that were ignored.
struct IgnoredParts: Sendable {
    private var differing: UInt64 = 0
    private var outside: UInt64 = 0
    private var resets: UInt64 = 0

    mutating func add(_ session: CapturedSession) {
        differing &+= session.differing
        outside &+= session.outside
        resets &+= session.ignoredResets
    }

    var words: [String] {
        [
            differing.times("retransmitted byte that differed, ignored", "retransmitted bytes that differed, ignored"),
            outside.times("segment outside the window, ignored", "segments outside the window, ignored"),
            resets.times(
                "reset not accepted by its receiver, ignored", "resets not accepted by their receivers, ignored"),
        ].compactMap { $0 }
    }
}

extension UInt64 {
    /// Returns the number with its noun, or `nil` for 0.
    func times(_ one: String, _ many: String) -> String? { self == 0 ? nil : "\(self) \(self == 1 ? one : many)" }
}
