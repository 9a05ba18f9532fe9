/// The paths that a typed one can become.
package struct PathMatches: Hashable, Sendable {
    /// What was typed.
    package var typed: String
    /// Whole paths in alphabetical order, folders with a slash at their end.
    package var paths: [String]
    /// Why the folder could not be read.
    package var problem: String?

    package init(typed: String, paths: [String], problem: String? = nil) {
        self.typed = typed
        self.paths = paths
        self.problem = problem
    }

    /// What all of the paths begin with.
    var common: String {
        guard var common = paths.first else { return typed }
        for path in paths {
            while !path.hasPrefix(common) { common.removeLast() }
        }
        return common
    }

    /// The names that the paths end with.
    var names: [Substring] {
        paths.map { path in
            let end = path.hasSuffix("/") ? path.dropLast() : path[...]
            return path[(end.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]
        }
    }
}

extension Model {
    /// Completes the path in file mode. In the other modes it goes to the next pane.
    mutating func completePathOrStep() -> [Effect] {
        guard composer.mode == .file else {
            stepPane(1)
            return []
        }
        return [.completePath(composer.editor.text)]
    }

    /// The shell has looked which paths begin with what is typed.
    mutating func completed(_ matches: PathMatches) -> [Effect] {
        guard composer.mode == .file, composer.editor.text == matches.typed else { return [] }
        guard !matches.paths.isEmpty else {
            notice = hint(matches.problem ?? "no path begins with \(matches.typed)")
            return []
        }
        let common = matches.common
        if common != matches.typed {
            editComposer { $0.editor.set(common) }
        } else if matches.paths.count > 1 {
            let names = matches.names
            notice = hint(names.prefix(12).joined(separator: "  ") + (names.count > 12 ? "  +\(names.count - 12)" : ""))
        }
        return examineFile()
    }
}
