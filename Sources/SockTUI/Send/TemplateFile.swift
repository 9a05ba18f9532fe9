import Glibc
import InspectorCore

/// The person's templates, in `$XDG_CONFIG_HOME/socktui/templates` or below `~/.config`.
enum TemplateFile {
    static func path() -> String? {
        if let folder = TerminalEnvironment.variable("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
            return "\(folder)/socktui/templates"
        }
        guard let home = TerminalEnvironment.variable("HOME"), home.hasPrefix("/") else { return nil }
        return "\(home)/.config/socktui/templates"
    }

    /// Reads them; nil when there is no such file. A mistake comes as a sentence with file, line and column.
    static func read(_ path: String?) -> Message? {
        guard let path, let text = TextFile.read(path) else { return nil }
        switch Template.all(in: text) {
        case .success(let templates): return .templates(templates)
        case .failure(let failure):
            return .refused("\(path):\(failure.position.line):\(failure.position.column): \(failure.message)")
        }
    }
}
