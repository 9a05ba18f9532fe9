/// Where two answers first differ, with what is around it on both sides.
package struct AnswerDifference: Error, Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable {
        /// Another byte came.
        case bytes
        /// Less came.
        case missing
        /// More came.
        case extra
    }

    package var kind: Kind
    /// Its offset in what was expected, and in what came. They differ only where a hole had another length.
    package var expectedOffset: Int
    package var offset: Int
    package var expected: ByteExcerpt
    package var received: ByteExcerpt
}

/// Some bytes of a stream around a place.
package struct ByteExcerpt: Hashable, Sendable {
    /// The offset of the first of them in the stream.
    package var start: Int
    package var bytes: [UInt8]

    /// Bytes in a row of hex.
    package static let row = 16

    /// The row with the place, the one before it and the one after it; `base`: the offset of the first byte that there is.
    package init(of bytes: [UInt8], base: Int = 0, around place: Int) {
        start = max(base, place / Self.row * Self.row - Self.row)
        let from = min(bytes.count, start - base)
        self.bytes = Array(bytes[from..<min(bytes.count, from + 3 * Self.row)])
    }
}

/// How a stream of answers ended.
package enum AnswerEnding: String, Hashable, Sendable, CaseIterable {
    /// It did not: the connection stayed open.
    case open
    /// By FIN, or close_notify.
    case closed
    /// By RST, or another failure.
    case reset
    /// TLS was cut off without close_notify.
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
