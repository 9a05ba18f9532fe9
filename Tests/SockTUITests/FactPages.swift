import InspectorCore
import SocketCore
import SocketRecords

/// What the table of facts says, as the JSON Schema and as tables of docs/json.md.
enum FactPages {
    /// An object: a line, or what one of its facts has.
    struct Form {
        /// The name in the schema, and those of the facts that have it.
        var noun: String
        var names: [String]
        var facts: [Fact]
    }

    /// The objects in the order in which lines lead to them.
    static var forms: [Form] {
        var forms: [Form] = []
        for kind in LineKind.all { collect(kind.facts, into: &forms) }
        return forms
    }

    private static func collect(_ facts: [Fact], into forms: inout [Form]) {
        for fact in facts {
            guard let type = message(fact.kind) else { continue }
            let noun = noun(type)
            if let known = forms.firstIndex(where: { $0.noun == noun }) {
                if !forms[known].names.contains(fact.name) { forms[known].names.append(fact.name) }
                continue
            }
            let inner = FactTeller(type.blank).facts
            forms.append(Form(noun: noun, names: [fact.name], facts: inner))
            collect(inner, into: &forms)
        }
    }

    private static func message(_ kind: FactKind) -> (any WireMessage.Type)? {
        switch kind {
        case .facts(let type): type
        case .maybe(let kind), .list(let kind, _): message(kind)
        case .flag, .integer, .count, .number, .text, .oneOf, .time, .span: nil
        }
    }

    /// `datagram_peer` for `DatagramPeer`, `queue` for `QueueSnapshot`, `tls` for `TLSSnapshot`.
    private static func noun(_ type: any WireMessage.Type) -> String {
        let name = "\(type)".replacing("Snapshot", with: "")
        guard name.contains(where: \.isLowercase) else { return name.lowercased() }
        return String(name.replacing("TLS", with: "Tls").replacing("HTTP", with: "Http").snakeCased.drop { $0 == "_" })
    }

    // MARK: The schema

    /// The whole file.
    static var schema: [String] {
        let lines = LineKind.all.map { ($0.word, line($0)) }
        let objects = forms.map { ($0.noun, object(members($0.facts), required: $0.facts.map(\.name))) }
        let definitions = lines.map { JSON.Member(lineName($0.0), $0.1) } + objects.map { JSON.Member($0.0, $0.1) }
        return pretty([
            "$schema": "http://json-schema.org/draft-07/schema#", "title": "A line of socktui --json",
            "description": "Version 1. docs/json.md says what the names mean.",
            "oneOf": .array(LineKind.all.map { reference(lineName($0.word)) }), "definitions": .object(definitions),
        ])
    }

    /// `fault_line` if an object has the name of a line.
    private static func lineName(_ word: String) -> String {
        forms.contains { $0.noun == word } ? "\(word)_line" : word
    }

    private static func line(_ kind: LineKind) -> JSON {
        let head = [
            JSON.Member("v", ["const": .integer(Int64(JSONLines.version))]),
            JSON.Member("type", ["const": JSON(kind.word)]), JSON.Member("time", schema(.time)),
        ]
        let numbers = kind.word == "event" ? EventLists.kinds.map { JSON.Member($0.name, schema($0.kind)) } : []
        return object(
            head + members(kind.facts) + numbers, required: head.map(\.name) + kind.facts.map(\.name))
    }

    private static func members(_ facts: [Fact]) -> [JSON.Member] {
        facts.map { fact in
            let form = schema(fact.kind, isInMilliseconds: fact.name.hasSuffix("_ms"))
            guard case .object(let rules) = form else { return JSON.Member(fact.name, form) }
            return JSON.Member(fact.name, .object([JSON.Member("description", JSON(fact.text))] + rules))
        }
    }

    private static func object(_ properties: [JSON.Member], required: [String]) -> JSON {
        [
            "type": "object", "additionalProperties": .bool(false), "properties": .object(properties),
            "required": .array(required.map { JSON($0) }),
        ]
    }

    /// Draft 7 ignores what stands beside a reference.
    private static func reference(_ name: String) -> JSON { ["$ref": JSON("#/definitions/\(name)")] }

    private static func schema(_ kind: FactKind, isInMilliseconds: Bool = false, or others: [JSON] = []) -> JSON {
        func type(_ name: String, _ limits: JSON.Member...) -> JSON {
            let types = [JSON(name)] + others
            return .object([JSON.Member("type", types.count == 1 ? types[0] : .array(types))] + limits)
        }
        let least = JSON.Member("minimum", .integer(0))
        switch kind {
        case .maybe(.facts(let type)): return ["anyOf": .array([reference(noun(type)), ["type": "null"]])]
        case .maybe(.oneOf(let words)): return ["enum": .array(words().map { JSON($0) } + [.null])]
        case .maybe(let kind): return schema(kind, isInMilliseconds: isInMilliseconds, or: ["null"])
        case .flag: return type("boolean")
        case .integer: return type("integer")
        case .count: return type("integer", least)
        case .number: return type("number", least)
        case .text: return type("string")
        case .oneOf(let list):
            let words = list()
            return words.count == 1 ? ["const": JSON(words[0])] : ["enum": .array(words.map { JSON($0) })]
        case .time:
            let pattern = #"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{9}Z$"#
            return ["type": .array(["string", "null"]), "pattern": JSON(pattern)]
        case .span: return isInMilliseconds ? type("number", least) : type("number")
        case .list(let kind, let limit):
            let items = JSON.Member("items", schema(kind))
            return limit.map { type("array", JSON.Member("maxItems", JSON($0)), items) } ?? type("array", items)
        case .facts(let type): return reference(noun(type))
        }
    }

    // MARK: The page

    /// The kinds of lines, then the facts of each but a socket's.
    static var lines: [String] {
        ManualLists.table(["`type`", "what it reports"], LineKind.all.map { [ManualLists.code($0.word), $0.text] })
            + LineKind.all.filter { $0.word != "socket" }.flatMap { section([$0.word], $0.facts) }
    }

    /// The facts of a socket.
    static var socket: [String] {
        table(LineKind.all.first { $0.word == "socket" }?.facts ?? [])
    }

    /// The facts of what a socket has.
    static var objects: [String] { Array(forms.flatMap { section($0.names, $0.facts) }.dropFirst()) }

    private static func section(_ names: [String], _ facts: [Fact]) -> [String] {
        ["", "### " + names.map { "`\($0)`" }.joined(separator: ", "), ""] + table(facts)
    }

    private static func table(_ facts: [Fact]) -> [String] {
        ManualLists.table(
            ["name", "value", "meaning"],
            facts.map { [ManualLists.code($0.name), words($0.kind, $0.name), $0.text] })
    }

    private static func words(_ kind: FactKind, _ name: String) -> String {
        switch kind {
        case .maybe(let kind): words(kind, name) + ", null"
        case .flag: "true, false"
        case .integer, .count: "integer"
        case .number, .span: "number"
        case .text: "text"
        case .oneOf(let words): words().count > 12 ? "word" : words().map { "`\($0)`" }.joined(separator: ", ")
        case .time: "time"
        case .list(let kind, let limit): "list of " + (limit.map { "at most \($0) " } ?? "") + plural(kind, name)
        case .facts: "object"
        }
    }

    private static func plural(_ kind: FactKind, _ name: String) -> String {
        if case .facts = kind { "objects" } else { words(kind, name) + "s" }
    }

    // MARK: Printing

    /// One value or member a line, indented by two spaces.
    private static func pretty(_ json: JSON, _ indent: String = "") -> [String] {
        let inner = indent + "  "
        switch json {
        case .object(let members):
            return block(members.map { (JSON($0.name).text + ": ", $0.value) }, "{", "}", indent, inner)
        case .array(let values): return block(values.map { ("", $0) }, "[", "]", indent, inner)
        case .null, .bool, .integer, .number, .string: return [json.text]
        }
    }

    private static func block(
        _ parts: [(String, JSON)], _ opening: String, _ closing: String, _ indent: String, _ inner: String
    ) -> [String] {
        var lines = [opening]
        for (index, (name, value)) in parts.enumerated() {
            var told = pretty(value, inner)
            told[0] = inner + name + told[0]
            if index + 1 < parts.count { told[told.count - 1] += "," }
            lines += told
        }
        return lines + [indent + closing]
    }
}
