import Testing

@Suite("Statements")
struct StatementTests {
    /// The numbered statements of the engine's specification.
    static let numbers = Array(1...128)

    @Test("every numbered statement has exactly one test")
    func coverage() {
        let files = SourceTree.swift.filter { $0.path.hasPrefix("Tests/SocketKitTests/") }
        let found = files.flatMap { file in file.lines.compactMap(Self.number) }
        #expect(found.sorted() == Self.numbers)
    }

    @Test("a function that carries a number is a test")
    func attributes() {
        for file in SourceTree.swift where file.path.hasPrefix("Tests/") {
            for (index, line) in file.lines.enumerated() where Self.number(line) != nil {
                let isTest = line.contains("@Test") || file.lines[max(0, index - 1)].contains("@Test(")
                #expect(isTest, "\(file.path):\(index + 1)")
            }
        }
    }

    /// The number in `func statement043_...`; nil where the line declares no such function.
    private static func number(_ line: Substring) -> Int? {
        let words = line.split(separator: " ")
        guard let keyword = words.firstIndex(of: "func"), keyword + 1 < words.count,
            words[keyword + 1].hasPrefix("statement")
        else { return nil }
        return Int(words[keyword + 1].dropFirst("statement".count).prefix { $0 != "_" })
    }
}
