import SocketCore

/// What a line of a composer comes to, as far as it is known before it is sent.
package struct LineSummary: Hashable, Sendable {
    /// Bytes in all, without those of files.
    var count: Int
    /// Files that add to it.
    var files: Int
    /// The first bytes, `nil` where only the sending decides.
    var beginning: [UInt8?]
    /// Whether what is known of it is UTF-8; asked only of what becomes a message.
    var isText: Bool

    /// More bytes than any screen shows of them.
    private static let shown = 1_024

    init(_ message: [MessagePiece], of composer: Composer) {
        let preview = MessageText.preview(message, sequence: composer.sequence)
        count = preview.bytes.count
        files = preview.files
        beginning = Array(preview.bytes.prefix(Self.shown))
        isText = !composer.sendsMessages || WebSocketMessage.type(of: preview.bytes.compactMap { $0 }) == .text
    }

    /// Everything that a summary is made from. Unchanged characters are compared by their place in memory.
    struct Source: Hashable, Sendable {
        private let characters: [Character]
        private let mode: Composer.Mode
        private let ending: LineEnding
        private let sendsMessages: Bool
        private let sequence: Int

        init(_ composer: Composer) {
            (characters, mode, ending) = (composer.editor.characters, composer.mode, composer.ending)
            (sendsMessages, sequence) = (composer.sendsMessages, composer.sequence)
        }
    }
}
