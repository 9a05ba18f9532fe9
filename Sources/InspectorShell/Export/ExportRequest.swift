import InspectorCore
import SocketWorkshop

/// What to export from a capture, and in which format.
package struct ExportRequest: Equatable {
    package enum Form: String, CaseIterable {
        case pcapng, raw, script, curl

        /// Whether the format exports one session, and not for reading.
        package var isOfOneSession: Bool { self != .pcapng }
        package var isBinary: Bool { self == .pcapng || self == .raw }
    }

    package var file = ""
    package var filter = Filter()
    package var form: Form?
    package var side: ExportedConversation.Side?
    package var from = Duration.zero
    /// The end of the exported time, or `nil` for the end of the file.
    package var to: Duration?
    /// The output path, or `nil` for standard output.
    package var output: String?
    package var replaces = false

    package init() {}
}
