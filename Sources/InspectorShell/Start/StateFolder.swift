import Glibc

/// The folder for what outlives a run: `$XDG_STATE_HOME/socktui`, or below `~/.local/state`.
package enum StateFolder {
    /// Returns the path of a file in it, or `nil` if there is no home folder or files are disabled.
    package static func path(_ name: String) -> String? {
        if Elevation.isRestricted { return nil }
        if let state = EnvironmentVariables.value(of: "XDG_STATE_HOME"), state.hasPrefix("/") {
            return "\(state)/socktui/\(name)"
        }
        guard let home = EnvironmentVariables.value(of: "HOME"), home.hasPrefix("/") else { return nil }
        return "\(home)/.local/state/socktui/\(name)"
    }

    /// Replaces a file atomically, for its owner only. Creates missing folders.
    @discardableResult
    package static func replace(_ path: String, with text: String) -> Bool { replace(path, with: Array(text.utf8)) }

    /// Replaces a file atomically with these bytes, for its owner only. Creates missing folders.
    @discardableResult
    package static func replace(_ path: String, with bytes: [UInt8]) -> Bool {
        let parts = path.split(separator: "/").dropLast()
        for count in parts.indices {
            ("/" + parts[...count].joined(separator: "/")).withNative { mkdir($0, 0o700) }
        }
        return TextFile.replace(path, with: bytes)
    }
}
