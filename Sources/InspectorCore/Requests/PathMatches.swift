/// The completions of a typed path.
package struct PathMatches: Equatable, Sendable {
    /// The typed path.
    package var typed: String
    /// Whole paths in alphabetical order. Folders end with a slash.
    package var paths: [String]
    /// The reason why the folder could not be read.
    package var problem: String?

    package init(typed: String, paths: [String], problem: String? = nil) {
        self.typed = typed
        self.paths = paths
        self.problem = problem
    }

    /// The common prefix of all paths.
    package var common: String {
        guard var common = paths.first else { return typed }
        for path in paths {
            while !path.hasPrefix(common) { common.removeLast() }
        }
        return common
    }

    /// The last components of the paths.
    package var names: [Substring] {
        paths.map { path in
            let end = path.hasSuffix("/") ? path.dropLast() : path[...]
            return path[(end.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]
        }
    }
}
