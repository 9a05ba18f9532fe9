import Testing

@Suite("Sizes")
struct SizeTests {
    /// Files and functions that may be longer, each with its reason. `path` or `path:function`.
    static let waived: [String: String] = [:]

    @Test("a file has at most 400 lines", arguments: SourceTree.swift)
    func files(file: SourceTree.File) {
        guard Self.waived[file.path] == nil else { return }
        #expect(file.lines.count <= 401)
    }

    @Test("a function has at most 60 lines", arguments: SourceTree.swift)
    func functions(file: SourceTree.File) {
        for function in Self.functions(of: file) where Self.waived["\(file.path):\(function.name)"] == nil {
            #expect(function.length <= 60, "\(function.name), line \(function.line)")
        }
    }

    @Test("what is waived is there")
    func waivers() {
        let paths = Set(SourceTree.swift.map(\.path))
        for name in Self.waived.keys {
            #expect(paths.contains(String(name.prefix { $0 != ":" })), "\(name)")
        }
    }

    struct Function {
        var name: String
        var line: Int
        var length: Int
    }

    /// The functions of a file, by the house's layout: a body ends at the first brace indented as its beginning.
    static func functions(of file: SourceTree.File) -> [Function] {
        let lines = file.lines
        return lines.indices.compactMap { start in
            guard let name = name(lines[start]) else { return nil }
            let indent = lines[start].prefix { $0 == " " }
            if lines[start].hasSuffix("}") { return nil }
            // The end of what it is in comes first where it has no body, as in a protocol.
            let end = lines[(start + 1)...].firstIndex { line in
                let isCloser = line.drop { $0 == " " }.hasPrefix("}") && line.prefix { $0 == " " }.count <= indent.count
                return isCloser && !line.hasPrefix(indent + "} ")
            }
            guard let end, lines[end].hasPrefix(indent) else { return nil }
            return Function(name: name, line: start + 1, length: end - start + 1)
        }
    }

    private static func name(_ line: Substring) -> String? {
        let words = line.split { " (<".contains($0) }
        guard let keyword = words.firstIndex(where: { $0 == "func" || $0 == "init" || $0 == "init?" }),
            !line.drop(while: { $0 == " " }).hasPrefix("//"), keyword < 6
        else { return nil }
        return words[keyword] == "func" && keyword + 1 < words.count ? String(words[keyword + 1]) : "init"
    }
}
