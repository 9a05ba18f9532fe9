import InspectorCore
import SocketCore

/// How bytes are shown.
package enum ViewMode: String, Equatable, Sendable, CaseIterable {
    /// Each item as text or as hex, depending on its bytes.
    case auto
    case text
    case hexText = "hex+text"
    case escaped
    /// As dissected by another program.
    case dissected

    /// Returns the next mode, for a user who sees bytes as `automatic` shows them. The other one of text and hex comes
    /// first.
    func next(after automatic: ViewMode, dissects: Bool) -> ViewMode {
        let other = automatic == .hexText ? ViewMode.text : .hexText
        let ring = [ViewMode.auto, other, .escaped, automatic] + (dissects ? [.dissected] : [])
        return ring[((ring.firstIndex(of: self) ?? 0) + 1) % ring.count]
    }

    /// Returns the mode that `auto` uses for these bytes: hex if they are not text.
    static func automatic(_ bytes: some Collection<UInt8>) -> ViewMode { isBinary(bytes) ? .hexText : .text }

    /// Whether the first bytes contain a zero byte, or an eighth of them is not valid UTF-8 text.
    static func isBinary(_ bytes: some Collection<UInt8>) -> Bool {
        let sample = Array(bytes.prefix(2_048))
        // The message may have been cut in the middle of a character.
        var index = sample.prefix(3).firstIndex { $0 & 0xC0 != 0x80 } ?? 0
        let end = sample.count < bytes.count ? max(index, sample.count - 4) : sample.count
        var strange = 0
        while index < end {
            let length = sample.count - index
            switch Sanitizer.nextPiece(sample, &index) {
            case .scalar("\0"): return true
            case .scalar(let scalar): strange += isControl(scalar) ? 1 : 0
            case .invalid: strange += length < 4 && length < sample.count ? 0 : 1
            }
        }
        return strange * 8 >= max(1, end) && strange > 0
    }

    /// BEL, backspace, TAB, LF, FF, CR and ESC are part of text.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value < 0x20 else { return scalar.value == 0x7F }
        return !(0x07...0x0D).contains(scalar.value) && scalar != "\u{1B}"
    }
}

/// One block in the traffic pane, with a key that identifies it in the next snapshot.
package enum BlockKey: Hashable, Sendable {
    /// The note that older items were dropped.
    case dropped
    /// The note that control frames are hidden.
    case hidden
    case item(UInt64)
    /// A part of a long item that is expanded, counted from 0.
    case part(UInt64, Int)
    /// The note that items before this one were dropped.
    case skipped(UInt64)
    /// The note that bytes were transferred before the traffic was kept.
    case unseen
    /// A file that was sent, counted from 0.
    case sentFile(Int)
    /// An event, by its sequence number.
    case note(UInt64)
    /// A gap in the events, by the sequence number after it.
    case lost(UInt64)
    case closed
    /// A line shown while there is no traffic.
    case waiting(Int)
    /// A remark about the dissecting.
    case remark(Int)
}

/// A line of the traffic pane.
package struct TrafficPosition: Equatable, Sendable {
    package var block: BlockKey
    /// Counted from the block's first line.
    package var line: Int

    package init(_ block: BlockKey, line: Int = 0) {
        self.block = block
        self.line = line
    }
}

/// The scroll position of one connection's traffic.
package struct TrafficScroll: Equatable, Sendable {
    /// Whether the newest line stays visible.
    package var isFollowing = true
    /// The line that Enter acts on, or `nil` while following.
    package var cursor: TrafficPosition?
    /// The first visible line, or `nil` while following.
    package var top: TrafficPosition?
    /// The expanded items.
    package var expanded: Set<UInt64> = []

    package init() {}
}
