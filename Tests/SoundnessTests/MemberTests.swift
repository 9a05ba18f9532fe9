import Testing

/// The tables of CocoaAsyncSocket's members, and the tests that prove each row.
@Suite("Members of CocoaAsyncSocket")
struct MemberTests {
    /// An article, and where the tests of its rows are.
    static let tables = [
        ("StreamMembers.md", "Stream", 115), ("DatagramMembers.md", "Datagrams", 95),
    ]

    @Test("each row of a table has a test that carries its selector, and each such test has a row", arguments: tables)
    func rows(article: String, folder: String, least: Int) {
        let rows = Self.rows(of: article)
        let tested = Self.selectors(inTestsOf: folder)
        #expect(rows.count >= least)
        #expect(Set(rows.map(\.selector)).subtracting(tested).isEmpty)
        #expect(tested.subtracting(rows.map(\.selector)).isEmpty)
        #expect(Set(rows.map(\.selector)).count == rows.count)
    }

    @Test("each row says as upstream, restricted or not possible, and the last two say why", arguments: tables)
    func words(article: String, folder: String, least: Int) {
        for row in Self.rows(of: article) {
            #expect(["as upstream", "restricted", "not possible"].contains(row.state), "\(row.selector)")
            #expect(row.state == "as upstream" || !row.reason.isEmpty, "\(row.selector)")
        }
    }

    @Test("at least 60 promises of the headers in words are tests")
    func promises() {
        let files = SourceTree.files(below: "Tests/CocoaAsyncSocketTests/Promises")
        let names = files.flatMap(Self.names).filter { $0.contains(" ") }
        #expect(Set(names).count >= 60 && Set(names).count == names.count)
    }

    private struct Row {
        var selector: String
        var state: String
        var reason: String
    }

    private static func rows(of article: String) -> [Row] {
        SourceTree.file("Sources/CocoaAsyncSocket/CocoaAsyncSocket.docc/\(article)").lines.compactMap { line in
            guard line.hasPrefix("| `") else { return nil }
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map { cell in
                String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            }
            return Row(selector: String(cells[1].filter { $0 != "`" }), state: cells[2], reason: cells[3])
        }
    }

    /// The selectors in the names of tests: a name is one, or several with commas between them.
    private static func selectors(inTestsOf folder: String) -> Set<String> {
        let names = SourceTree.files(below: "Tests/CocoaAsyncSocketTests/\(folder)").flatMap(names)
        let lists = names.map { name in
            name.split(separator: ",").map { part in String(part.drop { $0 == " " }) }
        }
        return Set(lists.filter { list in list.allSatisfy { !$0.contains(" ") } }.flatMap(\.self))
    }

    /// The display names of a file's tests.
    private static func names(of file: SourceTree.File) -> [String] {
        file.text.split(separator: "@Test(").dropFirst().compactMap { rest in
            let start = rest.drop { " \n".contains($0) }
            guard start.first == "\"" else { return nil }
            return String(start.dropFirst().prefix { $0 != "\"" })
        }
    }
}
