import Glibc

/// A folder of its own for a test, removed with all that is in it when released.
package final class TemporaryFolder {
    /// Its path.
    package let path: String

    /// Makes it.
    package init() throws {
        var template = Array("/tmp/socktui-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw PeerFailure(errno: errno) }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        Self.remove(path)
    }

    package static func remove(_ path: String) {
        for name in names(in: path) where unlink(path + "/" + name) != 0 { remove(path + "/" + name) }
        rmdir(path)
    }

    /// The names of its files.
    package var names: [String] { Self.names(in: path) }

    private static func names(in path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Whether a file of this name is there.
    package func contains(_ name: String) -> Bool {
        names.contains(name)
    }

    /// Writes a file.
    package func write(_ text: String, to name: String) {
        guard let file = fopen(path + "/" + name, "w") else { return }
        fputs(text, file)
        fclose(file)
    }
}
