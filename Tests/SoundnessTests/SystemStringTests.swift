import Testing

/// A path goes to the system by `withNative`, which gives it the bytes that it had, and by nothing else.
@Suite("The system's strings")
struct SystemStringTests {
    /// Calls that take a path, an argument or a variable.
    private static let calls = [
        "open", "stat", "lstat", "access", "unlink", "rename", "mkdir", "rmdir", "opendir", "chmod", "link", "symlink",
        "readlink", "realpath", "fopen", "chdir", "strdup", "posix_spawn", "execv", "execve",
        "SSL_CTX_load_verify_file", "SSL_CTX_load_verify_dir", "SSL_CTX_use_certificate_chain_file",
        "SSL_CTX_use_PrivateKey_file", "SSL_load_client_CA_file",
    ]
    /// What the kernel itself names, under /proc, is ASCII.
    private static let kernelsOwn: Set = ["HostSystem.swift", "Lead.swift"]

    @Test("no call gets a path as text")
    func paths() {
        for file in SourceTree.swift where file.path.hasPrefix("Sources/") && !Self.kernelsOwn.contains(file.name) {
            guard file.lines.contains(where: { $0.hasPrefix("import Glibc") || $0.hasPrefix("import CSocketKit") })
            else { continue }
            for (index, line) in file.lines.enumerated() where Self.isForbidden(line) {
                Issue.record("\(file.path):\(index + 1): give the path by withNative: \(line)")
            }
        }
    }

    @Test("what the system gives is not read as UTF-8")
    func reading() {
        for file in SourceTree.swift where file.path.hasPrefix("Sources/") {
            for (index, line) in file.lines.enumerated() {
                let isForbidden =
                    line.contains("CommandLine.") || line.contains("getenv(") && line.contains("String(cString")
                if isForbidden { Issue.record("\(file.path):\(index + 1): use String(native:): \(line)") }
            }
        }
    }

    @Test("the check itself finds what it forbids")
    func itself() {
        #expect(Self.isForbidden("        let file = open(path, O_RDONLY)"))
        #expect(Self.isForbidden("guard stat(self.path(name), &facts) == 0"))
        #expect(!Self.isForbidden("path.withNative { open($0, O_RDONLY) }"))
        #expect(!Self.isForbidden("open(\"/proc/self/stat\", O_RDONLY)"))
        #expect(!Self.isForbidden("    func open(path: String)"))
        #expect(!Self.isForbidden("        return try open(address, configuration)"))
    }

    /// Whether a line passes to one of the calls what looks like a path.
    private static func isForbidden(_ line: Substring) -> Bool {
        let code = line.drop { $0 == " " }
        guard !code.hasPrefix("//"), !code.contains("func ") else { return false }
        for call in calls {
            var rest = code
            while let range = rest.range(of: call + "(") {
                let before = rest[..<range.lowerBound].last
                rest = rest[range.upperBound...]
                if let before, before.isLetter || before == "_" || before == "." { continue }
                let argument = rest.prefix { !",)".contains($0) }
                if argument.lowercased().contains("path") || argument.lowercased().contains("folder")
                    || argument.contains("name") || argument.contains("file")
                {
                    if !argument.hasPrefix("\"/proc") { return true }
                }
            }
        }
        return false
    }
}

extension Substring {
    /// The first place of a text.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
