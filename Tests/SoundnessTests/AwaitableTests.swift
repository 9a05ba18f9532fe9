import Testing

@Suite("What can be awaited")
struct AwaitableTests {
    @Test("everything public that can be awaited is cancelled in a test")
    func coverage() throws {
        let known = try #require(SourceTree.swift.first { $0.name == "Awaitable.swift" })
        let tested = known.lines.compactMap { line -> String? in
            let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
            return line.contains(" case ") && parts.count == 3 ? String(parts[1]) : nil
        }
        let found = Set(SourceTree.sources("SocketKit").flatMap(Self.awaitables))
        #expect(found == Set(tested))
        #expect(tested.count == Set(tested).count)
    }

    @Test("only one place waits for an answer, so that each is cancelled the same way; one makes its continuation")
    func continuations() {
        let places = SourceTree.sources("SocketKit").filter { file in
            ["withCheckedContinuation", "withUnsafeContinuation", "withTaskCancellationHandler", "AsyncStream"]
                .contains { file.text.contains($0) }
        }
        #expect(places.map(\.name) == ["Waiting.swift", "AnswerContinuation.swift"])
    }

    /// `Type.function(labels)` of each public function of a file that is `async`. Both forms of `next` count as one.
    static func awaitables(in file: SourceTree.File) -> [String] {
        var types: [(indent: Int, name: Substring)] = []
        var found: [String] = []
        for (index, line) in file.lines.enumerated() {
            let indent = line.prefix { $0 == " " }.count
            let words = line.split { " (<:{".contains($0) }
            if let kind = words.firstIndex(where: { ["extension", "struct", "class", "enum"].contains($0) }),
                line.hasSuffix("{"), kind + 1 < words.count, !line.contains("//")
            {
                types.removeAll { $0.indent >= indent }
                types.append((indent, words[kind + 1]))
            }
            guard words.first == "public", words.contains("func") else { continue }
            let signature = signature(file.lines[index...])
            guard signature.contains(") async") else { continue }
            let type = types.filter { $0.indent < indent }.map(\.name).joined(separator: ".")
            found.append("\(type).\(name(signature))")
        }
        return found
    }

    /// From `public` to the brace of the body, in one line.
    private static func signature(_ lines: ArraySlice<Substring>) -> String {
        var text = ""
        for line in lines {
            text += line.drop { $0 == " " } + " "
            if line.contains("{") { break }
        }
        return text
    }

    /// `send(_:timeout:tag:)`, or `next`.
    private static func name(_ signature: String) -> String {
        let rest = signature.split(separator: "func ", maxSplits: 1)[1]
        let name = rest.prefix { $0 != "(" && $0 != "<" }
        if name == "next" { return "next" }
        var (depth, labels, isLabel) = (0, "", true)
        for character in rest.drop(while: { $0 != "(" }) {
            if "([<".contains(character) { depth += 1 }
            if ")]>".contains(character) { depth -= 1 }
            if depth == 0 { break }
            if depth == 1, character == "," { isLabel = true }
            guard depth == 1, isLabel else { continue }
            if character.isLetter || character == "_" {
                labels.append(character)
            } else if labels.last?.isLetter == true || labels.last == "_" {
                labels += ":"
                isLabel = false
            }
        }
        return "\(name)(\(labels))"
    }
}
