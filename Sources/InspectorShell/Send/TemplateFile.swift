import Glibc
import InspectorCore

/// The user's templates, in `$XDG_CONFIG_HOME/socktui/templates` or below `~/.config`.
package enum TemplateFile {
    package static func path() -> String? {
        if Elevation.isRestricted { return nil }
        if let folder = EnvironmentVariables.value(of: "XDG_CONFIG_HOME"), folder.hasPrefix("/") {
            return "\(folder)/socktui/templates"
        }
        guard let home = EnvironmentVariables.value(of: "HOME"), home.hasPrefix("/") else { return nil }
        return "\(home)/.config/socktui/templates"
    }

    /// Reads the templates. If the file has a mistake, a second message reports it at once.
    package static func read(_ path: String?) -> [Message] {
        guard let path else { return [] }
        let text: String
        do throws(TextFile.Problem) {
            text = try TextFile.contents(of: path)
        } catch {
            return error == .system(ENOENT) ? [.templates([], from: path)] : failed(path, "\(path): \(error.sentence)")
        }
        switch Template.all(in: text) {
        case .success(let templates): return [.templates(templates, from: path)]
        case .failure(let failure):
            return failed(path, "\(path):\(failure.position.line):\(failure.position.column): \(failure.message)")
        }
    }

    private static func failed(_ path: String, _ problem: String) -> [Message] {
        [.templates([], from: path, problem: problem), .refused(problem)]
    }
}
