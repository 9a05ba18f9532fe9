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
