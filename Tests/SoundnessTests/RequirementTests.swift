import Testing

@Suite("Requirements of WebSocket")
struct RequirementTests {
    /// What the Autobahn suite does not prove, by its letter and number: opening handshake (H a client's, S a server's),
    /// framing, masking, fragments, text, pings, closing, compression, limits.
    static let own: [Character: [Int]] = [
        "h": Array(1...18), "s": Array(1...9), "f": Array(4...9), "m": Array(1...4), "g": [5, 6, 7], "u": [5],
        "p": [1, 3, 4, 5], "c": [3, 4, 5, 6, 7, 8, 10], "d": [1, 2, 3, 5, 7, 8, 9, 10, 11], "l": Array(1...6),
    ]

    @Test("each has a test that carries its name")
    func coverage() {
        let names = SourceTree.swift.filter { $0.path.hasPrefix("Tests/") }.flatMap { file in
            file.lines.compactMap(Self.function)
        }
        for (letter, numbers) in Self.own {
            for number in numbers {
                let name = "\(letter)\(number)"
                #expect(
                    names.contains { $0.hasPrefix(name) && $0.dropFirst(name.count).first?.isUppercase == true },
                    "\(name)")
            }
        }
    }

    private static func function(_ line: Substring) -> Substring? {
        let words = line.split(separator: " ")
        guard let keyword = words.firstIndex(of: "func"), keyword + 1 < words.count else { return nil }
        return words[keyword + 1]
    }
}
