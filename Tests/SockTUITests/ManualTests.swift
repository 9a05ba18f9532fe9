import InspectorScreen
import SocketWorkshop
import Glibc
import InspectorCore
import SocketCore
import Testing

@testable import SockTUI

/// The lists in `docs` and in the page of the inspection wire, which are made from the program's tables. With SOCKTUI_WRITE_DOCS=1 they are written again.
@Suite("The manual", .serialized)
struct ManualTests {
    private static let folder = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/docs"

    /// Each list, by the name that stands in the comment before it, and the page it is in.
    static let lists: [(name: String, page: String, lines: @Sendable () -> [String])] = [
        ("keys", "keys.md", { ManualLists.keys }), ("commands", "keys.md", { ManualLists.instructions }),
        ("filter", "keys.md", { ManualLists.filter }), ("command line", "options.md", { ManualLists.commands }),
        ("options", "options.md", { ManualLists.options }), ("warnings", "options.md", { ManualLists.warnings }),
        ("exit status", "options.md", { ManualLists.exits(ExitRow.all) }),
        ("exit status", "xray.md", { ManualLists.exits(ExitRow.rows(about: ["why", "host --check", "attach"])) }),
        ("metrics", "metrics.md", { ManualLists.metrics }),
        ("faults", "faults.md", { ManualLists.faults }), ("points", "faults.md", { ManualLists.points }),
        ("steps", "automation.md", { ManualLists.steps }), ("events", "json.md", { EventLists.json }),
        ("events", wire, { EventLists.wire }), ("lines", "json.md", { FactPages.lines }),
        ("socket", "json.md", { FactPages.socket }), ("objects", "json.md", { FactPages.objects }),
    ]
    private static let wire = "../Sources/SocketKit/SocketKit.docc/InspectionWire.md"

    @Test("a page's lists are those of the program", arguments: lists.indices)
    func agreement(_ index: Int) throws {
        let list = Self.lists[index]
        let path = "\(Self.folder)/\(list.page)"
        let page = try #require(Self.text(path))
        let opening = "<!-- made from the program's tables: \(list.name) -->\n"
        let start = try #require(page.firstRange(of: opening)).upperBound
        let end = try #require(page[start...].firstRange(of: "<!-- end -->")).lowerBound
        let made = "\n" + list.lines().joined(separator: "\n") + "\n\n"
        if getenv("SOCKTUI_WRITE_DOCS") != nil {
            try Self.write(String(page[..<start]) + made + String(page[end...]), path)
        } else {
            #expect(page[start..<end] == made, "SOCKTUI_WRITE_DOCS=1 swift test --filter ManualTests writes it")
        }
    }

    @Test("the schema of JSON Lines is that of the table of facts")
    func schema() throws {
        let path = "\(Self.folder)/socktui.schema.json"
        let made = FactPages.schema.joined(separator: "\n") + "\n"
        if getenv("SOCKTUI_WRITE_DOCS") != nil { try Self.write(made, path) }
        #expect(Self.text(path) == made, "SOCKTUI_WRITE_DOCS=1 swift test --filter ManualTests writes it")
    }

    /// Programs that use SocketKit read them in its documentation.
    @Test("the comment at a kind of event says what those numbers are that its row names")
    func comments() throws {
        let source = try #require(Self.text("\(Self.folder)/../Sources/SocketCore/Observing/SocketEvent.swift"))
        var comment = ""
        var kinds: Set<String> = []
        for line in source.split(separator: "\n").map({ $0.drop { $0 == " " } }) {
            if line.hasPrefix("///") {
                comment += line
            } else {
                if let kind = SocketEvent.Kind(rawValue: String(line.dropFirst(5))), line.hasPrefix("case ") {
                    kinds.insert(kind.rawValue)
                    let row = EventCatalogue[kind]
                    #expect(comment.contains("`first`") == row.first.isUsed, "\(kind)")
                    #expect(comment.contains("`second`") == row.second.isUsed, "\(kind)")
                }
                comment = ""
            }
        }
        #expect(kinds == Set(SocketEvent.Kind.allCases.map(\.rawValue)))
    }

    @Test("the table of exit statuses has every status, and is about commands that there are")
    func exits() {
        let known = Set(CommandTable.words.map(\.name))
        let named = ExitRow.all.flatMap(\.commands).compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(known.isSuperset(of: named))
        let statuses = Set(ExitRow.all.map(\.status))
        #expect(statuses.isSuperset(of: ExitStatus.allCases.map { "\($0.rawValue)" }))
    }

    private static func text(_ path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func write(_ text: String, _ path: String) throws {
        let file = try #require(fopen(path, "w"))
        defer { fclose(file) }
        #expect(fputs(text, file) >= 0)
    }
}

/// Markdown tables of what the program's own tables say.
enum ManualLists {
    static var keys: [String] {
        let all = KeyContext.allCases
        var rows: [(keys: String, help: String, contexts: [KeyContext])] = []
        for context in all {
            for binding in KeyTable.standard.bindings(in: context) {
                let keys = binding.keys.map { code($0.label) }.joined(separator: " ")
                if let known = rows.firstIndex(where: { $0.keys == keys && $0.help == binding.help }) {
                    rows[known].contexts.append(context)
                } else {
                    rows.append((keys, binding.help, [context]))
                }
            }
        }
        return table(
            ["key", "does", "where"],
            rows.map { row in
                let isEverywhere = row.contexts.count == all.count
                return [
                    row.keys, row.help, isEverywhere ? "everywhere" : row.contexts.map(\.title).joined(separator: ", "),
                ]
            })
    }

    static var instructions: [String] {
        table(["command", "does"], Action.commands.map { [code($0.usage), $0.syntax?.help ?? ""] })
    }

    static var filter: [String] { ["```"] + HelpContents.filter + ["```"] }

    static var commands: [String] {
        table(
            ["command", "does"],
            [["(none)", "a start screen that asks what to open"]]
                + CommandTable.words.map { [code("socktui \($0.usage)"), $0.help] })
    }

    static var options: [String] {
        table(
            ["option", "does", "with"],
            CommandTable.options.compactMap { option in
                guard let help = option.help else { return nil }
                return [code(HelpText.row(option).0), help, option.scope]
            })
    }

    static var metrics: [String] {
        table(
            ["metric", "kind", "labels", "means"],
            MetricFamily.allCases.map { family in
                let row = family.row
                return [code(family.name), row.kind.rawValue, row.labels.map(code).joined(separator: " "), row.help]
            })
    }

    static func exits(_ rows: [ExitRow]) -> [String] {
        table(
            ["with", "status", "means", "on standard error"],
            rows.map {
                [
                    $0.commands.isEmpty ? $0.who : $0.commands.map(code).joined(separator: ", "), $0.status, $0.means,
                    $0.errors,
                ]
            })
    }

    static var warnings: [String] {
        table(
            ["warning", "means", "what to do", "shown"],
            Lint.all.map { lint in
                [
                    code(lint.name), lint.meaning, KeyTable.standard.naming(lint.remedy),
                    lint.isAllowed ? "with `-W`" : "",
                ]
            })
    }

    static var faults: [String] {
        let titles: [(FaultWord.Part, String)] = [
            (.condition, "condition"), (.direction, "direction"), (.effect, "effect"),
            (.datagrams, "effect on datagrams"),
        ]
        return titles.flatMap { part, title in
            words(of: part, title) + (part == .datagrams ? [] : [""])
        }
    }

    static var points: [String] { words(of: .point, "point") }

    private static func words(of part: FaultWord.Part, _ title: String) -> [String] {
        table([title, "means"], FaultWord.all.filter { $0.part == part }.map { [code($0.usage), $0.help] })
    }

    static var steps: [String] {
        table(["step", "does"], Script.steps.map { [code($0.form), $0.help] })
    }

    static func code(_ text: String) -> String {
        let trimmed = String(text.reversed().drop { $0 == " " }.reversed())
        return trimmed.contains("`") ? "`` \(trimmed) ``" : "`\(trimmed)`"
    }

    static func table(_ heads: [String], _ rows: [[String]]) -> [String] {
        let line = { (cells: [String]) in
            let escaped = cells.map {
                $0.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|")
            }
            return "| " + escaped.joined(separator: " | ") + " |"
        }
        return [line(heads), "|" + String(repeating: "---|", count: heads.count)] + rows.map(line)
    }
}
