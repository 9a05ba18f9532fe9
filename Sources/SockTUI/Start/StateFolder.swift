import Glibc

/// Where this program keeps what outlives a run: `$XDG_STATE_HOME/socktui`, or below `~/.local/state`.
enum StateFolder {
    /// The path of a file in it; nil without a home, and where files are off.
    static func path(_ name: String) -> String? {
        if Elevation.isRestricted { return nil }
        if let state = TerminalEnvironment.variable("XDG_STATE_HOME"), state.hasPrefix("/") {
            return "\(state)/socktui/\(name)"
        }
        guard let home = TerminalEnvironment.variable("HOME"), home.hasPrefix("/") else { return nil }
        return "\(home)/.local/state/socktui/\(name)"
    }

    /// Puts a file in the place of another, for its owner only; its folders are made where they are missing.
    @discardableResult
    static func replace(_ path: String, with text: String) -> Bool { replace(path, with: Array(text.utf8)) }

    /// The same with bytes.
    @discardableResult
    static func replace(_ path: String, with bytes: [UInt8]) -> Bool {
        let parts = path.split(separator: "/").dropLast()
        for count in parts.indices { mkdir("/" + parts[...count].joined(separator: "/"), 0o700) }
        return TextFile.replace(path, with: bytes)
    }
}
