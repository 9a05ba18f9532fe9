import Testing

/// Pages that list the members of another library's API, and the tests that prove each row.
@Suite("Tables of members")
struct MemberTableTests {
    private struct Row {
        var selector: Substring
        var verdict: Substring
    }

    private static func rows(_ page: String) -> [Row] {
        SourceTree.file(page).lines.compactMap { line in
            let cells = line.split(separator: "|").map { $0.drop { $0 == " " }.prefix { $0 != "|" } }
            guard line.hasPrefix("| `"), cells.count >= 2 else { return nil }
            return Row(selector: cells[0].split(separator: "`")[0], verdict: cells[1].prefix { $0 != "|" }.trimmed)
        }
    }

    /// The words in the names of all tests of a folder.
    private static func proved(_ tests: String) -> Set<Substring> {
        let files = SourceTree.swift.filter { $0.path.hasPrefix(tests) }
        return Set(files.flatMap { $0.text.split { " \n\"\\(),".contains($0) } })
    }

    @Test(
        "each member is as upstream, restricted or not possible, and the first two have a test that carries its selector",
        arguments: [
            ("Sources/SocketRocket/SocketRocket.docc/Members.md", "Tests/SocketRocketTests/", 37)
        ])
    func table(page: String, tests: String, atLeast count: Int) {
        let (rows, proved) = (Self.rows(page), Self.proved(tests))
        #expect(rows.count >= count)
        #expect(Set(rows.map(\.selector)).count == rows.count)
        for row in rows {
            #expect(["as upstream", "restricted", "not possible"].contains(row.verdict), "\(row.selector)")
            #expect(row.verdict == "not possible" || proved.contains(row.selector), "\(row.selector)")
        }
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
