import Testing

@Suite("House rules")
struct HouseTests {
    /// Returns where in these files a pattern occurs, except in this file.
    private static func lines(holding patterns: [String], in files: [SourceTree.File]) -> [String] {
        places(in: files) { line in patterns.contains { line.contains($0) } }
    }

    private static func places(in files: [SourceTree.File], where isOne: (String) -> Bool) -> [String] {
        files.filter { $0.name != "HouseTests.swift" }.flatMap { file in
            file.lines.enumerated().filter { isOne(String($0.element)) }.map { "\(file.path):\($0.offset + 1)" }
        }
    }

    @Test("isolation is checked by the compiler, but for what has its proof in a folder of such")
    func isolation() {
        let places = Self.lines(holding: ["@unchecked Sendable", "nonisolated(unsafe)"], in: SourceTree.swift)
        let (facade, engine) = (places.filter(Self.isFacades), places.filter { !Self.isFacades($0) })
        #expect(engine.count <= 4 && engine.allSatisfy { $0.hasPrefix("Sources/SocketKit/Trusted/") }, "\(engine)")
        #expect(facade.count <= 5, "\(facade)")
    }

    private static func isFacades(_ place: String) -> Bool {
        place.hasPrefix("Sources/CocoaAsyncSocket/Trusted/")
    }

    @Test("counts that the compiler does not keep are kept in one folder of a library")
    func counts() {
        let calls = ["swift_tryRetain", "swift_unowned", "unowned(unsafe)", "_withUnsafeGuaranteedRef"]
        let places = Self.lines(holding: calls, in: SourceTree.swift)
        let (facade, engine) = (places.filter(Self.isFacades), places.filter { !Self.isFacades($0) })
        #expect(engine.count >= 3 && engine.allSatisfy { $0.hasPrefix("Sources/SocketKit/Trusted/") }, "\(engine)")
        #expect(facade.count == 1, "\(facade)")
    }

    @Test("what else the compiler takes on trust is in that folder too, and counted")
    func trust() {
        // Accesses that only debug builds check, uncounted references, unchecked casts, addresses made pointers.
        let counts = [
            "@exclusivity(unchecked)": 25, "Unmanaged": 3, "unsafeDowncast": 1, "unsafeBitCast": 0,
            "unsafelyUnwrapped": 0,
            "withoutActuallyEscaping": 0, "_unsafeBytes:": 0, "_unsafeElements:": 0,
        ]
        let sources = SourceTree.swift.filter { $0.path.hasPrefix("Sources/") }
        for (pattern, count) in counts {
            let places = Self.lines(holding: [pattern], in: sources)
            let (facade, engine) = (places.filter(Self.isFacades), places.filter { !Self.isFacades($0) })
            #expect(engine.count == count && engine.allSatisfy(Self.isTrusted), "\(pattern): \(engine)")
            #expect(facade.count == (pattern == "Unmanaged" ? 2 : 0), "\(pattern): \(facade)")
        }
        let addresses = Self.places(in: sources) { line in
            line.replacing(/(CChar|U?Int(8|16|32|64)?|Double)(\.init)?\(bitPattern:/, with: "").contains("bitPattern:")
        }
        #expect(addresses.count == 6 && addresses.allSatisfy(Self.isTrusted), "\(addresses)")
    }

    @Test("a debug build checks every access")
    func exclusivity() {
        for file in SourceTree.sources("SocketKit") where file.text.contains("@exclusivity(unchecked)") {
            let others = file.lines.drop { $0.trimmingSpaces != "#else" }.drop { $0.trimmingSpaces != "#endif" }
            let checked = file.lines.prefix { $0.trimmingSpaces != "#else" }
            #expect(!(checked + others).contains { $0.contains("@exclusivity(unchecked)") }, "\(file.path)")
            let fields = file.lines.filter { $0.contains(" final var ") }
            #expect(checked.count { $0.contains(" final var ") } * 2 == fields.count, "\(file.path)")
        }
    }

    private static func isTrusted(_ place: String) -> Bool { place.hasPrefix("Sources/SocketKit/Trusted/") }

    @Test("the library asks for the environment in one place, which trusts no caller of a set-uid program")
    func environment() {
        let places = Self.lines(holding: ["getenv("], in: SourceTree.sources("SocketKit"))
        #expect(places.count == 1 && places.first?.contains("/ProcessEnvironment.swift:") == true, "\(places)")
    }

    @Test("tests pause in one place only")
    func pauses() {
        let files = SourceTree.swift.filter { $0.path.hasPrefix("Tests/") }
        let calls = ["sleep(", "usleep(", "nanosleep(", "Task.sleep", ".asyncAfter("]
        let places = Self.lines(holding: calls, in: files.filter { $0.name != "Eventually.swift" })
        #expect(places.isEmpty, "\(places)")
    }

    @Test("a hint names keys in braces, by actions that there are")
    func hints() {
        func words(_ pattern: Regex<(Substring, Substring)>, in files: [SourceTree.File]) -> [Substring] {
            files.flatMap { $0.text.matches(of: pattern).map(\.output.1) }
        }
        let inspector = ["InspectorCore", "InspectorScreen", "InspectorShell", "SockTUI"].flatMap(SourceTree.sources)
        let rows = inspector.filter { $0.path.contains("/Actions/Action+") }
        let actions = Set(words(/Action\(\s*"([a-z-]+)"/, in: rows))
        #expect(actions.count > 60)
        let named = words(/[^u$]\{([a-z]+(?:-[a-z]+)*)\}/, in: inspector)
        #expect(named.count > 20 && named.allSatisfy(actions.contains), "\(Set(named).subtracting(actions))")
    }

    @Test("no test is switched off, nothing is left for later")
    func unfinished() {
        let places = Self.lines(holding: [".disabled(", "TODO", "FIXME", "XXX:"], in: SourceTree.swift)
        #expect(places.isEmpty, "\(places)")
    }

    @Test("no file knows where the package lies")
    func machinePaths() {
        let all = ["Sources", "Tests", "script", "Benchmarks", "Fuzz", "Examples", "docs"].flatMap(SourceTree.files)
        let parent = SourceTree.root.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
        let isShared = ["", "/tmp", "/run", "/var", "/var/tmp", "/usr", "/usr/src"].contains(parent)
        let homes = ["/home/", "/Users/", "/root/", SourceTree.root + "/"] + (isShared ? [] : [parent + "/"])
        let places = Self.lines(holding: homes, in: all)
        #expect(places.isEmpty, "\(places)")
    }

    @Test(
        "scripts can be run",
        arguments: [
            "script/bootstrap", "script/build-release", "script/install", "script/package", "script/picture",
            "script/run", "script/test", ".ci/run", "Fuzz/run", "Tests/Packaging/run",
        ])
    func scripts(path: String) {
        #expect(SourceTree.isExecutable(path))
    }

    @Test("what measures answers --help, with its first comment")
    func measuring() {
        let scripts = SourceTree.files(below: "script").filter { $0.name.hasPrefix("measure-") }
        #expect(scripts.count >= 9)
        let others = scripts.filter { !$0.text.contains("argparse.ArgumentParser(description=__doc__") }
        #expect(others.isEmpty, "\(others.map(\.path))")
    }

    @Test("README's example is code that the tests compile")
    func readmeExample() throws {
        let readme = SourceTree.file("README.md")
        let compiled = try #require(SourceTree.swift.first { $0.name == "ReadmeTests.swift" })
        let own = Set(compiled.lines.map { $0.trimmingSpaces })
        let start = try #require(readme.lines.firstIndex(of: "```swift"))
        let example = readme.lines[(start + 1)...].prefix { $0 != "```" }
        #expect(example.count >= 10)
        for line in example where !line.isEmpty {
            // The example names a port; the test lets the kernel choose one.
            let text = line.trimmingSpaces.split(separator: "7000", omittingEmptySubsequences: false)
            #expect(own.contains(text.joined(separator: "0")), "\(line)")
        }
    }
}

extension StringProtocol {
    fileprivate var trimmingSpaces: String {
        String(drop(while: { $0 == " " }).reversed().drop(while: { $0 == " " }).reversed())
    }
}
