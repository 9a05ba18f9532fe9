import Testing

@Suite("The package from outside")
struct PackageTests {
    /// The version, as the one line that declares it has it.
    private static func version() throws -> String {
        let lines = SourceTree.file("Sources/SockTUI/CommandLine/CommandTable.swift").lines
        let line = try #require(lines.first { $0.contains("static let version = ") })
        return try String(#require(line.split(separator: "\"").dropFirst().first))
    }

    @Test("the change log begins with the version, and says whether it is released")
    func changeLog() throws {
        let version = try Self.version()
        let heading = try #require(SourceTree.file("CHANGELOG.md").lines.first { $0.hasPrefix("## ") })
        let words = heading.split(separator: " ")
        #expect(words[1] == version.prefix { $0 != "-" })
        #expect((words[2] == "(unreleased)") == version.hasSuffix("-dev"))
    }

    @Test("libraries and socktui are the only products")
    func products() throws {
        let manifest = SourceTree.file("Package.swift").lines
        let start = try #require(manifest.firstIndex { $0.hasPrefix("    products: [") })
        let products = manifest[(start + 1)...].prefix { !$0.hasPrefix("    ]") }.map { $0.drop { $0 == " " } }
        #expect(!products.isEmpty)
        for product in products {
            #expect(product.hasPrefix(".library(") || product.hasPrefix(".executable(name: \"socktui\""), "\(product)")
        }
    }

    @Test("Sources has what ships, and a name that other packages may have is not ours")
    func targets() throws {
        let shipped = Set(SourceTree.files(below: "Sources").map(\.target))
        #expect(shipped.isDisjoint(with: ["SocketTestSupport", "SocketSimulation", "SimulateSockets", "AutobahnPeer"]))
        let names = SourceTree.file("Package.swift").text.split(separator: "name: \"").dropFirst().map {
            $0.prefix { $0 != "\"" }
        }
        let foreign: Set<Substring> = [
            "CSystem", "SystemPackage", "CZlib", "COpenSSL", "CNcurses", "CTerminal", "WebSocket",
        ]
        #expect(foreign.isDisjoint(with: names))
    }

    @Test("a checkout is small: the corpus of the fuzzers is an archive")
    func corpus() {
        #expect(SourceTree.exists("Fuzz/Corpus.tar.gz"))
        #expect(SourceTree.files(below: "Fuzz/Corpus").count <= 200)
    }

    @Test("README can be read in a few minutes, and has a picture")
    func readme() {
        let readme = SourceTree.file("README.md")
        #expect(readme.lines.count <= 100)
        #expect(readme.text.contains("](docs/socktui.svg)") && SourceTree.exists("docs/socktui.cast"))
    }

    @Test("a stranger may use it")
    func license() {
        #expect(SourceTree.file("LICENSE").text.contains("Apache License"))
    }

    @Test("no file has a name that a shell would expand")
    func names() {
        let folders = ["Sources", "Tests", "Examples", "Fuzz", "docs", "script"]
        let files = folders.flatMap(SourceTree.files)
        #expect(!files.contains { file in "*?[]{}$ \\'\"".contains { file.path.contains($0) } })
    }

    @Test(
        "links between pages lead to a file",
        arguments: (["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"].map(SourceTree.file)
            + SourceTree.files(below: "docs")).filter { $0.name.hasSuffix(".md") })
    func links(page: SourceTree.File) {
        let folder = page.path.split(separator: "/").dropLast().map(String.init)
        for link in Self.links(in: page.text) where !link.contains("://") && !link.hasPrefix("#") {
            let target = Self.path(String(link.prefix { $0 != "#" }), in: folder)
            #expect(SourceTree.exists(target), "\(link) in \(page.path)")
        }
    }

    /// The targets of `](...)` and of `src="..."`.
    private static func links(in text: String) -> [Substring] {
        ["](", "src=\""].flatMap { opening -> [Substring] in
            var links: [Substring] = []
            var rest = text[...]
            while let start = rest.firstRange(of: opening) {
                rest = rest[start.upperBound...]
                links.append(rest.prefix { !")\"\n".contains($0) })
            }
            return links
        }
    }

    /// A relative path from the package's folder: `../LICENSE` in `docs` is `LICENSE`.
    private static func path(_ relative: String, in folder: [String]) -> String {
        var parts = folder
        for part in relative.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(String(part)) }
        }
        return parts.joined(separator: "/")
    }
}
