import Testing

@Suite("Statements")
struct StatementTests {
    /// The numbered statements of the engine.
    static let numbers = Array(1...131)
    static let page = "Sources/SocketKit/SocketKit.docc/Statements.md"

    @Test("every numbered statement has exactly one test")
    func coverage() {
        let files = SourceTree.swift.filter { $0.path.hasPrefix("Tests/SocketKitTests/") }
        let found = files.flatMap { file in file.lines.compactMap(Self.number) }
        #expect(found.sorted() == Self.numbers)
    }

    @Test("the page states each of them once, in order, in a sentence")
    func pages() {
        let items = SourceTree.file(Self.page).lines.compactMap(Self.item)
        #expect(items.map(\.number) == Self.numbers)
        for item in items {
            #expect(item.text.count >= 20, "\(item.number)")
        }
        #expect(Set(items.map(\.text)).count == items.count)
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

    /// The number in `func statement043_...`, or `nil` if the line declares no such function.
    private static func number(_ line: Substring) -> Int? {
        let words = line.split(separator: " ")
        guard let keyword = words.firstIndex(of: "func"), keyword + 1 < words.count,
            words[keyword + 1].hasPrefix("statement")
        else { return nil }
        return Int(words[keyword + 1].dropFirst("statement".count).prefix { $0 != "_" })
    }

    /// The number and first line of an item such as `43. A read ...`, or `nil` for any other line.
    private static func item(_ line: Substring) -> (number: Int, text: Substring)? {
        let digits = line.prefix { $0.isNumber }
        guard let number = Int(digits), line.dropFirst(digits.count).hasPrefix(". ") else { return nil }
        return (number, line.dropFirst(digits.count + 2))
    }
}
