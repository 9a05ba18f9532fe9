/// One word of the fault grammar. The help, the man page, completions, the manual and the names in JSON are made from
/// these rows.
package struct FaultWord: Sendable {
    package enum Part: String, Sendable, CaseIterable {
        case condition, direction, effect
        /// An effect on datagrams.
        case datagrams
        /// A point of a breakpoint.
        case point
    }

    package let part: Part
    /// The word itself.
    package let name: String
    /// The word with its arguments, as shown in the help.
    package let usage: String
    /// A sentence for the help.
    package let help: String

    fileprivate init(_ part: Part, _ usage: String, _ help: String) {
        self.part = part
        self.usage = usage
        self.help = help
        name = String(usage.prefix { $0 != " " })
    }

    package static let all: [FaultWord] = [
        FaultWord(.condition, "connection N", "on the Nth connection, counting from 1"),
        FaultWord(.condition, "every N", "on every Nth connection"),
        FaultWord(.condition, "first N", "on the first N connections"),
        FaultWord(.condition, "peer CIDR", "on clients in this network, as in 10.0.0.0/8"),
        FaultWord(
            .condition, "after BYTES|TIME",
            "after this many bytes in this direction (1K), or this long after the start (5s)"),
        FaultWord(
            .condition, "match /RE/|hex:BYTES|TEXT", "where this occurs; /RE/ within one line or WebSocket frame"),
        FaultWord(.condition, "frame text|binary|ping|pong|close", "at WebSocket frames of this kind"),
        FaultWord(.condition, "on exchange N", "during the Nth request and its answer on a connection"),
        FaultWord(
            .condition, "after question /RE/|hex:BYTES|TEXT",
            "during answers to requests with this in their first 256 bytes"),
        FaultWord(.condition, "prob P", "with probability P, as in 0.1"),
        FaultWord(.direction, "upstream", "toward the server, the side that accepted"),
        FaultWord(.direction, "downstream", "toward the client, the side that connected"),
        FaultWord(
            .effect, "latency TIME [jitter TIME]", "delay delivery by TIME, in both directions unless one is given"),
        FaultWord(.effect, "bandwidth RATE", "deliver at most RATE bytes per second"),
        FaultWord(.effect, "slice N [vary M] [every TIME]", "deliver in pieces of N bytes, give or take M"),
        FaultWord(.effect, "dribble [every TIME]", "deliver byte by byte: slice 1"),
        FaultWord(.effect, "stall [TIME]", "stop reading from the sender, so that the window closes"),
        FaultWord(.effect, "limit BYTES", "deliver BYTES more, then send FIN"),
        FaultWord(.effect, "reset", "reset both sides (RST)"),
        FaultWord(.effect, "half-close", "send FIN, and deliver nothing more in this direction"),
        FaultWord(.effect, "slow-close TIME", "delay FIN by TIME"),
        FaultWord(.effect, "corrupt N bits", "flip N bits in each KiB, or in the match"),
        FaultWord(.effect, "insert BYTES", "deliver these bytes first"),
        FaultWord(.effect, "replace /RE/|BYTES with BYTES", "deliver other bytes instead of the matching ones"),
        FaultWord(.effect, "refuse", "accept the connection, then reset it"),
        FaultWord(.effect, "no-accept", "accept no connections"),
        FaultWord(.datagrams, "loss P", "drop each datagram with probability P"),
        FaultWord(.datagrams, "duplicate P", "deliver each datagram twice with probability P"),
        FaultWord(.datagrams, "reorder P TIME", "delay datagrams by TIME with probability P, letting others overtake"),
        FaultWord(.datagrams, "delay TIME", "delay datagrams by TIME"),
        FaultWord(.datagrams, "truncate N", "deliver only the first N bytes of a datagram"),
        FaultWord(.point, "accept", "before a new connection is handled"),
        FaultWord(.point, "connect", "once the connection is established"),
        FaultWord(.point, "bytes N", "after N bytes in this direction"),
        FaultWord(.point, "match /RE/|hex:BYTES|TEXT", "where this occurs"),
        FaultWord(.point, "frame text|binary|ping|pong|close", "at WebSocket frames of this kind"),
        FaultWord(.point, "fin", "at the sender's FIN"),
        FaultWord(.point, "reset", "when one side sends RST"),
        FaultWord(.point, "timeout", "when an operation times out"),
        FaultWord(.point, "write-blocked", "when the receiver accepts no more bytes"),
    ]

    package static func names(_ parts: Part...) -> [String] {
        // Two conditions begin with the same word.
        all.filter { parts.contains($0.part) }.map(\.name).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Returns the row of an effect.
    package static func effect(_ effect: FaultEffect) -> FaultWord {
        let name = effect.name
        guard let row = all.first(where: { $0.name == name && ($0.part == .effect || $0.part == .datagrams) }) else {
            preconditionFailure("\(name) has no row")
        }
        return row
    }
}

extension FaultEffect {
    /// The effect's word, as used by the filter's `fault:` and in JSON.
    package var name: String {
        switch self {
        case .latency: "latency"
        case .bandwidth: "bandwidth"
        case .slice: "slice"
        case .stall: "stall"
        case .limit: "limit"
        case .reset: "reset"
        case .halfClose: "half-close"
        case .slowClose: "slow-close"
        case .corrupt: "corrupt"
        case .insert: "insert"
        case .replace: "replace"
        case .refuse: "refuse"
        case .noAccept: "no-accept"
        case .loss: "loss"
        case .duplicate: "duplicate"
        case .reorder: "reorder"
        case .delay: "delay"
        case .truncate: "truncate"
        }
    }
}
