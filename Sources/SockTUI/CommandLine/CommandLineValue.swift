import InspectorCore
import InspectorShell
import SocketCore

/// The value of an option, or the operands of a command: their name in the help, and what they name. What is refused
/// under sudo and with `--secure`, and what shells complete, follows from it.
struct CommandLineValue: Equatable, Sendable {
    enum Kind: Equatable, Sendable {
        /// Nothing outside the command line.
        case text
        /// A file that this program reads. Operands may have other words after the first.
        case read
        /// A file that this program writes.
        case written
        /// An address, which may be the path of a socket.
        case address
        /// An inspection socket, by its path or its program. `AttachablePrograms` decides which paths are allowed.
        case inspected
        /// A program to run, with its arguments. Nothing after the first is an option of this program.
        case program
    }

    /// Its name in the help. Empty for no operands.
    let name: String
    let kind: Kind
    /// Whether `-` is a standard stream instead of a file.
    var hasStream = false

    static let none = text("")
    static func text(_ name: String) -> Self { Self(name: name, kind: .text) }
    static func reads(_ name: String, orInput: Bool = false) -> Self {
        Self(name: name, kind: .read, hasStream: orInput)
    }
    static func writes(_ name: String, orOutput: Bool = false) -> Self {
        Self(name: name, kind: .written, hasStream: orOutput)
    }
    static func address(_ name: String) -> Self { Self(name: name, kind: .address) }
    static func inspected(_ name: String) -> Self { Self(name: name, kind: .inspected) }
    static func program(_ name: String) -> Self { Self(name: name, kind: .program) }

    /// Whether shells complete it with the names of files.
    var completesFiles: Bool { [.read, .written, .program].contains(kind) }

    /// Returns the word that names a file or starts a program: `owner`, which has this value, or an address itself.
    /// Returns `nil` if no word does.
    func touching(_ words: some Collection<String>, of owner: String) -> String? {
        switch kind {
        case .text, .inspected: nil
        case .program: words.isEmpty ? nil : owner
        case .read, .written: words.contains { !hasStream || $0 != "-" } ? owner : nil
        case .address: words.first { ((try? OpenTarget.parse($0, listens: true))?.endpoint.path) != nil }
        }
    }
}
