import Testing

/// A snippet of Swift on a page compiles, because the build compiles the same text.
///
/// A fence of `swift` is one of these:
/// - A whole program, with `@main`. `Tests/ArticleTests/Programs` has a file with the same text, except `@main`, of which a
///   module can have only one. `ArticleTests` runs it.
/// - Declarations or statements. They are in a file of `Tests/ArticleTests` in one piece, indented at will: statements are in
///   a function there. So are those of a `main.swift`, whose imports are at the top of that file.
/// - A manifest, which begins with `// swift-tools-version`. `ManifestTests` has SwiftPM read it.
///
/// What can't be compiled there has a plain fence, and is counted in `fragments`.
@Suite("Snippets") struct SnippetTests {
    /// The Swift in plain fences, such as code for products that `ArticleTests` doesn't link.
    private static let fragments = ["docs/attach.md": 1, "docs/embedding.md": 2]

    /// Fences of `swift` that nothing compiles, because `ArticleTests` doesn't link these products.
    private static let uncompiled = [
        "Sources/CocoaAsyncSocket/CocoaAsyncSocket.docc/CocoaAsyncSocket.md": 4,
        "Sources/SocketRocket/SocketRocket.docc/SocketRocket.md": 1,
    ]

    private struct Snippet {
        var place: String
        var language: Substring
        var lines: [Substring]

        var text: String { lines.joined(separator: "\n") + "\n" }
        var isManifest: Bool { lines.first?.hasPrefix("// swift-tools-version") ?? false }
        var isProgram: Bool { lines.contains { $0.hasPrefix("@main ") } }
        var looksLikeSwift: Bool {
            lines.contains { line in
                ["import ", "let ", "var ", "try ", "func ", "for try "].contains { line.hasPrefix($0) }
            }
        }
    }

    private static let pages = [
        [SourceTree.file("README.md")], SourceTree.files(below: "docs"), SourceTree.files(below: "Sources"),
    ].joined().filter { $0.name.hasSuffix(".md") }
    private static let compiled = SourceTree.files(below: "Tests/ArticleTests")
    private static let code = compiled.map { (lines: Set($0.lines), code: unindented($0.lines[...])) }

    private static func snippets(of page: SourceTree.File) -> [Snippet] {
        var snippets: [Snippet] = []
        var current: Snippet?
        for (index, line) in page.lines.enumerated() {
            // In a list, a fence is indented.
            let fence = line.drop { $0 == " " }
            if fence.hasPrefix("```") {
                if let ended = current {
                    snippets.append(ended)
                    current = nil
                } else {
                    current = Snippet(place: "\(page.path):\(index + 1)", language: fence.dropFirst(3), lines: [])
                }
            } else {
                current?.lines.append(line)
            }
        }
        return snippets
    }

    @Test("a fence of swift is text that the build compiles", arguments: pages)
    func swift(page: SourceTree.File) {
        var missing = 0
        for snippet in Self.snippets(of: page) where snippet.language == "swift" && !snippet.isManifest {
            if snippet.isProgram ? Self.isProgram(snippet) : Self.isPart(snippet) { continue }
            missing += 1
            let place = snippet.isProgram ? "/Programs, without @main" : ", in one piece"
            if Self.uncompiled[page.path] == nil {
                Issue.record("\(snippet.place) is not in Tests/ArticleTests\(place)")
            }
        }
        #expect(missing == Self.uncompiled[page.path, default: 0])
    }

    @Test("Swift that is not compiled has a plain fence, and is counted")
    func plain() {
        let counts = Self.pages.map { page in
            (page.path, Self.snippets(of: page).count { $0.language.isEmpty && $0.looksLikeSwift })
        }
        #expect(Dictionary(uniqueKeysWithValues: counts.filter { $0.1 > 0 }) == Self.fragments)
    }

    @Test("there are snippets of every kind, and each program is on a page")
    func kinds() {
        let all = Self.pages.flatMap { Self.snippets(of: $0) }.filter { $0.language == "swift" }
        #expect(all.count { $0.isManifest } >= 1 && all.count { !$0.isManifest && !$0.isProgram } > 15)
        let programs = Self.compiled.filter { $0.path.contains("/Programs/") }
        #expect(programs.count >= 2)
        for program in programs {
            #expect(all.contains { Self.withoutMain($0) == program.text }, "\(program.path)")
        }
    }

    @Test("an example that is on a page is the same there")
    func examples() {
        let all = Self.pages.flatMap { Self.snippets(of: $0) }
        let example = SourceTree.file("Examples/Sources/tls-client/TLSClient.swift").text
        #expect(!example.isEmpty && all.contains { $0.text == example })
    }

    @Test("the check finds what is not compiled")
    func itself() {
        func snippet(_ text: String) -> Snippet {
            Snippet(place: "", language: "swift", lines: text.split(separator: "\n", omittingEmptySubsequences: false))
        }
        #expect(Self.isPart(snippet("import SocketKit\n\n// ...\nrecorder.stop()")))
        #expect(!Self.isPart(snippet("import SocketKit\n\n// ...\nrecorder.stop(now)")))
        #expect(!Self.isPart(snippet("import Foundation\n\n// ...\nrecorder.stop()")))
        #expect(!Self.isPart(snippet("")))
        #expect(!Self.isProgram(snippet("import SocketKit\n\n@main struct TLSClient {\n}")))
    }

    /// Whether a file is this program, except `@main`.
    private static func isProgram(_ snippet: Snippet) -> Bool {
        compiled.contains { $0.path.contains("/Programs/") && $0.text == withoutMain(snippet) }
    }

    private static func withoutMain(_ snippet: Snippet) -> String {
        snippet.lines.map { $0.hasPrefix("@main ") ? $0.dropFirst("@main ".count) : $0 }.joined(separator: "\n") + "\n"
    }

    /// Whether the lines are in a file one after the other, and the file has the imports.
    private static func isPart(_ snippet: Snippet) -> Bool {
        let imports = snippet.lines.filter { $0.hasPrefix("import ") }
        let lines = unindented(snippet.lines.filter { !$0.hasPrefix("import ") }.drop { $0.isEmpty })
        guard lines.contains(where: { !$0.isEmpty }) else { return false }
        return code.contains { file in
            imports.allSatisfy(file.lines.contains)
                && file.code.indices.contains { file.code[$0] == lines[0] && file.code[$0...].starts(with: lines) }
        }
    }

    private static func unindented(_ lines: ArraySlice<Substring>) -> [Substring] {
        lines.map { line in line.drop { $0 == " " } }
    }
}
