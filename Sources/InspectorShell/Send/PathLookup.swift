import Glibc
import InspectorCore

/// Finds the paths that start with the typed text.
package enum PathLookup {
    /// The most entries of a folder that are examined.
    private static let most = 10_000

    package static func matches(_ typed: String) -> PathMatches {
        let end = typed.lastIndex(of: "/").map(typed.index(after:)) ?? typed.startIndex
        let (folder, beginning) = (String(typed[..<end]), typed[end...])
        if let refusal = Elevation.refusal { return PathMatches(typed: typed, paths: [], problem: refusal) }
        let place = ReadFile.expanded(folder.isEmpty ? "./" : folder)
        guard let entries = place.withNative({ opendir($0) }) else {
            return PathMatches(typed: typed, paths: [], problem: "\(folder): \(String(cString: strerror(errno)))")
        }
        defer { closedir(entries) }
        var names: [String] = []
        var seen = 0
        while seen < most, let entry = readdir(entries) {
            seen += 1
            guard let name = name(of: entry), name.hasPrefix(beginning) else { continue }
            // Include hidden files only on request.
            guard !name.hasPrefix(".") || beginning.hasPrefix("."), name != ".", name != ".." else { continue }
            names.append(isFolder(place + name) ? name + "/" : name)
        }
        return PathMatches(typed: typed, paths: names.sorted().map { folder + $0 })
    }

    /// Returns the name of an entry, or `nil` if it isn't on one line, which a composer can't hold.
    private static func name(of entry: UnsafeMutablePointer<dirent>) -> String? {
        let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
        return bytes.contains { $0 < 0x20 } ? nil : String(native: bytes)
    }

    private static func isFolder(_ path: String) -> Bool {
        var facts = stat()
        return path.withNative { stat($0, &facts) } == 0 && facts.st_mode & S_IFMT == S_IFDIR
    }
}
