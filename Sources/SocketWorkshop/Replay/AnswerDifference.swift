/// The first difference between two answers, with the bytes around it on both sides.
package struct AnswerDifference: Error, Equatable, Sendable {
    package enum Kind: String, Hashable, Sendable {
        /// A byte differs.
        case bytes
        /// Bytes are missing.
        case missing
        /// There are extra bytes.
        case extra
    }

    package var kind: Kind
    /// Its offsets in the expected and in the received answer. They differ only after a hole of another length.
    package var expectedOffset: Int
    package var offset: Int
    package var expected: ByteExcerpt
    package var received: ByteExcerpt
}

/// Some bytes of a stream around a position.
package struct ByteExcerpt: Equatable, Sendable {
    /// The offset of the first of them in the stream.
    package var start: Int
    package var bytes: [UInt8]

    /// The number of bytes in a row of hex.
    package static let row = 16

    /// Takes the row with the position, and the rows before and after it. `base` is the offset of the first of `bytes`.
    package init(of bytes: [UInt8], base: Int = 0, around place: Int) {
        start = max(base, place / Self.row * Self.row - Self.row)
        let from = min(bytes.count, start - base)
        self.bytes = Array(bytes[from..<min(bytes.count, from + 3 * Self.row)])
    }
}

/// How a stream of answers ended.
package enum AnswerEnding: String, Equatable, Sendable, CaseIterable {
    /// It did not end: the connection stayed open.
    case open
    /// With FIN, or close_notify.
    case closed
    /// With RST, or another failure.
    case reset
    /// TLS was truncated without close_notify.
    case cut
    /// There was no connection.
    case refused

    package var words: String {
        switch self {
        case .open: "stays open"
        case .closed: "closed (FIN)"
        case .reset: "reset (RST)"
        case .cut: "cut off without close_notify"
        case .refused: "no connection"
        }
    }
}
