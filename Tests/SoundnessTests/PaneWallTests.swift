import Testing

/// A pane's state, reducer, layout and view stand in its folder, and the walls between the folders hold.
@Suite("Walls between panes")
struct PaneWallTests {
    private static let files = SourceTree.sources("InspectorScreen")
    private static let panes = "Sources/InspectorScreen/Panes/"

    private static func pane(_ file: SourceTree.File) -> String? {
        guard file.path.hasPrefix(panes) else { return nil }
        return file.path.dropFirst(panes.count).split(separator: "/").first.map(String.init)
    }

    /// The words of a file's code, without comments and texts.
    private static func words(_ file: SourceTree.File) -> Set<Substring> {
        var words: Set<Substring> = []
        for line in file.lines {
            let trimmed = line.drop { $0 == " " }
            guard !trimmed.hasPrefix("//") else { continue }
            words.formUnion(trimmed.split { !$0.isLetter && !$0.isNumber && $0 != "_" })
        }
        return words
    }

    /// The views, by the pane that has each.
    private static let views: [String: String] = {
        var views: [String: String] = [:]
        for file in files {
            guard let pane = pane(file) else { continue }
            for line in file.lines {
                let words = line.split(separator: " ")
                for (kind, name) in zip(words, words.dropFirst())
                where ["enum", "struct"].contains(kind) && name.hasSuffix("View") { views[String(name)] = pane }
            }
        }
        return views
    }()

    @Test("the views are found")
    func found() {
        #expect(Self.views["DetailView"] == "Detail" && Self.views["EventsView"] == "Events" && Self.views.count > 8)
    }

    @Test("no pane knows another pane's view; the frame draws them all")
    func strangers() {
        for file in Self.files {
            guard let pane = Self.pane(file), pane != "Frame" else { continue }
            let strange = Self.words(file).filter { Self.views[String($0)].map { $0 != pane } ?? false }
            #expect(strange.isEmpty, "\(file.path): \(strange)")
        }
    }

    @Test("no reducer knows a view")
    func reducers() {
        for file in Self.files where !file.name.hasSuffix("View.swift") {
            guard file.text.contains("extension Model {") || file.text.contains("mutating func") else { continue }
            let known = Self.words(file).map(String.init).filter { Self.views[$0] != nil }
            #expect(known.isEmpty, "\(file.path): \(known)")
        }
    }

    @Test("what concerns several panes is an extension of Model, in its folder")
    func extensions() {
        for file in Self.files where !file.path.hasPrefix("Sources/InspectorScreen/Model/") {
            #expect(
                !file.lines.contains { $0.hasPrefix("extension Model") && !$0.hasPrefix("extension Model.") },
                "\(file.path)")
        }
    }
}
