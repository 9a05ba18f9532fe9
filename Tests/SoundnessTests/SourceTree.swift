import Glibc
import Testing

/// The package's own files, read as text.
enum SourceTree {
    /// One Swift or C file.
    struct File: Sendable, CustomTestStringConvertible {
        /// From the package's folder: `Sources/SocketCore/SocketID.swift`.
        var path: String
        var text: String

        var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
        var target: String { String(path.split(separator: "/")[1]) }
        var name: String { String(path.split(separator: "/").last ?? "") }
        var testDescription: String { path }
    }

    /// The package's folder, with no slash at its end.
    static let root = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }

    /// All Swift files below Sources and Tests.
    static let swift = (files(below: "Sources") + files(below: "Tests")).filter { $0.name.hasSuffix(".swift") }

    /// All Swift files of one target's sources.
    static func sources(_ target: String) -> [File] {
        swift.filter { $0.path.hasPrefix("Sources/\(target)/") }
    }

    /// Files below a folder of the package, in the order of their paths.
    static func files(below folder: String) -> [File] {
        names(in: "\(root)/\(folder)").sorted().flatMap { name -> [File] in
            let path = "\(folder)/\(name)"
            var status = stat()
            guard stat("\(root)/\(path)", &status) == 0 else { return [] }
            if status.st_mode & S_IFMT == S_IFDIR { return files(below: path) }
            return [File(path: path, text: text(of: path))]
        }
    }

    /// One file of the package, of any kind.
    static func file(_ path: String) -> File { File(path: path, text: text(of: path)) }

    /// Whether a file may be run.
    static func isExecutable(_ path: String) -> Bool { access("\(root)/\(path)", X_OK) == 0 }

    /// Whether there is a file or folder at a path.
    static func exists(_ path: String) -> Bool { access("\(root)/\(path)", F_OK) == 0 }

    private static func text(of path: String) -> String {
        guard let file = fopen("\(root)/\(path)", "r") else { return "" }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            // Where it lies: the record ends behind the name, and is shorter than its type.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }
}
