import SocketCore

/// Everything that the screen is drawn from. `update` is the only writer.
package struct Model: Sendable {
    /// What is decided before the first picture and never changes.
    package struct Options: Hashable, Sendable {
        /// Whether only ASCII is drawn.
        package var ascii: Bool
        /// The program's version, as the start screen shows it.
        package var version: String

        package init(ascii: Bool, version: String) {
            self.ascii = ascii
            self.version = version
        }
    }

    package let options: Options

    package init(options: Options) {
        self.options = options
    }

    /// What the next snapshot shall hold for the screen as it stands.
    package var snapshotRequest: SnapshotRequest { SnapshotRequest() }
}
