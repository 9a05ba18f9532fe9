import InspectorCore
import SocketCore

/// The encoding of a composer's line, as far as it is known before it is sent.
package struct LineSummary: Equatable, Sendable {
    /// The number of bytes, without those of files.
    var count: Int
    /// The number of files that add to it.
    var files: Int
    /// The first bytes, with `nil` for those that are only known when the line is sent.
    var beginning: [UInt8?]
    /// Whether the known bytes are UTF-8. Only computed for a line that becomes a message.
    var isText: Bool

    /// More bytes than any screen shows.
    private static let shown = 1_024

    init(_ message: [MessagePiece], of composer: Composer) {
        let preview = MessageText.preview(message, sequence: composer.sequence)
        count = preview.bytes.count
        files = preview.files
        beginning = Array(preview.bytes.prefix(Self.shown))
        isText = !composer.sendsMessages || WebSocketMessage.type(of: preview.bytes.compactMap { $0 }) == .text
    }

    /// Everything that a summary depends on. Unchanged characters are compared by their storage.
    struct Source: Equatable, Sendable {
        private let characters: [Character]
        private let mode: LineMode
        private let ending: LineEnding
        private let sendsMessages: Bool
        private let sequence: Int

        init(_ composer: Composer) {
            (characters, mode, ending) = (composer.editor.characters, composer.mode, composer.ending)
            (sendsMessages, sequence) = (composer.sendsMessages, composer.sequence)
        }
    }
}
