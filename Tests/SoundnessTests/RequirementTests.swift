import Testing

@Suite("Requirements of WebSocket")
struct RequirementTests {
    /// What the Autobahn suite does not prove, by its letter and number: opening handshake (H a client's, S a server's),
    /// framing, masking, fragments, text, pings, closing, compression, limits.
    static let own: [Character: [Int]] = [
        "h": Array(1...18), "s": Array(1...9), "f": Array(4...9), "m": Array(1...4), "g": [5, 6, 7], "u": [5],
        "p": [1, 3, 4, 5], "c": [3, 4, 5, 6, 7, 8, 10], "d": [1, 2, 3, 5, 7, 8, 9, 10, 11], "l": Array(1...6),
    ]
    /// How many requirements there are of each letter, those that the Autobahn suite proves included.
    static let counts: [(letter: Character, count: Int)] = [
        ("h", 18), ("s", 9), ("f", 10), ("m", 4), ("g", 7), ("u", 6), ("p", 5), ("c", 10), ("d", 11), ("l", 6),
    ]
    static let page = "Sources/SocketKit/SocketKit.docc/WebSocketRequirements.md"

    @Test("each has a test that carries its name")
    func coverage() {
        let tested = Set(Self.functions.compactMap(Self.name))
        for (letter, numbers) in Self.own {
            for number in numbers { #expect(tested.contains("\(letter)\(number)")) }
        }
    }

    @Test("the page states each of them once, and each one has a test")
    func pages() {
        let stated = SourceTree.file(Self.page).lines.compactMap { line -> String? in
            guard line.hasPrefix("- **") else { return nil }
            return line.dropFirst(4).prefix { $0 != "*" }.lowercased()
        }
        #expect(stated == Self.counts.flatMap { part in (1...part.count).map { "\(part.letter)\($0)" } })
        #expect(Set(Self.functions.compactMap(Self.name)) == Set(stated))
    }

    /// The functions of all tests of WebSocket.
    private static var functions: [Substring] {
        SourceTree.swift.filter { $0.path.hasPrefix("Tests/") && $0.path.contains("/WebSocket/") }.flatMap { file in
            file.lines.compactMap(function)
        }
    }

    private static func function(_ line: Substring) -> Substring? {
        let words = line.split(separator: " ")
        guard let keyword = words.firstIndex(of: "func"), keyword + 1 < words.count else { return nil }
        return words[keyword + 1]
    }

    /// The requirement in `h6RefusedOpen()`, as `h6`; `nil` if the function is called differently.
    private static func name(_ function: Substring) -> String? {
        guard let letter = function.first, own.keys.contains(letter) else { return nil }
        let digits = function.dropFirst().prefix { $0.isNumber }
        guard !digits.isEmpty, function.dropFirst(1 + digits.count).first?.isUppercase == true else { return nil }
        return "\(letter)\(digits)"
    }
}
