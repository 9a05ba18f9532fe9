import FoundationEssentials
import SocketCore

/// What `--json` printed.
enum Report {
    /// Reads it back. JSONDecoder throws on anything that is not wholly JSON, and on a form that is not this one.
    static func read(_ text: String) throws -> EngineSnapshot {
        try JSONDecoder().decode(EngineSnapshot.self, from: Data(text.utf8))
    }
}
