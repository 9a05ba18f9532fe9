import SocketCore

/// How bytes are shown.
package enum ViewMode: String, Hashable, Sendable, CaseIterable {
    /// Each item as text or as hex, by what its bytes are.
    case auto
    case text
    case hexText = "hex+text"
    case escaped
    /// What another program makes of it.
    case dissected

    /// The next one for somebody who sees bytes as `automatic` shows them: first the other one of text and hex.
    func next(after automatic: ViewMode, dissects: Bool) -> ViewMode {
        let other = automatic == .hexText ? ViewMode.text : .hexText
        let ring = [ViewMode.auto, other, .escaped, automatic] + (dissects ? [.dissected] : [])
        return ring[((ring.firstIndex(of: self) ?? 0) + 1) % ring.count]
    }

    /// What `auto` comes to for these bytes: hex where they are not text.
    static func automatic(_ bytes: some Collection<UInt8>) -> ViewMode { isBinary(bytes) ? .hexText : .text }

    /// Whether they have a zero byte among the first ones, or an eighth of those is no text in UTF-8.
    static func isBinary(_ bytes: some Collection<UInt8>) -> Bool {
        let sample = Array(bytes.prefix(2_048))
        // A cut may have gone through a character.
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

/// One thing in the traffic pane, named so that it is found again in the next snapshot.
package enum BlockKey: Hashable, Sendable {
    /// The note that older items were dropped.
    case dropped
    /// The note that control frames are left out.
    case hidden
    case item(UInt64)
    /// A piece of an item that is shown whole though it is long, counted from 0.
    case part(UInt64, Int)
    /// The note that items before this one were dropped.
    case skipped(UInt64)
    /// The note that bytes passed before the traffic was kept.
    case unseen
    /// A file that was sent, counted from 0.
    case sentFile(Int)
    /// An event, by its sequence number.
    case note(UInt64)
    /// A gap in the events, by the sequence number after it.
    case lost(UInt64)
    case closed
    /// A line that stands there while nothing has passed.
    case waiting(Int)
    /// A line about the dissecting.
    case remark(Int)
}

/// A line of the traffic pane.
package struct TrafficPosition: Hashable, Sendable {
    package var block: BlockKey
    /// Counted from the block's first line.
    package var line: Int

    package init(_ block: BlockKey, line: Int = 0) {
        self.block = block
        self.line = line
    }
}

/// How far one connection's traffic is scrolled.
package struct TalkState: Hashable, Sendable {
    /// Whether the newest line stays in sight.
    package var isFollowing = true
    /// The line that Enter acts on; nil while following.
    package var cursor: TrafficPosition?
    /// The first line in sight; nil while following.
    package var top: TrafficPosition?
    /// Items that are shown whole.
    package var expanded: Set<UInt64> = []

    package init() {}
}
