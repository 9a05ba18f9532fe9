import InspectorCore
import SocketCore

/// What the catalogue of events says, for the docs and the JSON Schema.
enum EventLists {
    private static let kinds = SocketEvent.Kind.allCases

    /// For JSON: each event's members.
    static var json: [String] {
        ManualLists.table(
            ["event", "members"],
            kinds.map { kind in
                [ManualLists.code(word(kind)), members(kind).map { "`\($0.name)`" }.joined(separator: ", ")]
            })
    }

    /// For the inspection wire: what each event's numbers are.
    static var wire: [String] {
        ManualLists.table(
            ["kind", "*tag*", "*first*", "*second*"],
            kinds.map { kind in
                let row = EventCatalogue[kind]
                return [
                    ManualLists.code(kind.rawValue), row.hasTag ? "yes" : "", row.first.meaning, row.second.meaning,
                ]
            })
    }

    /// What stands before and after the part of the schema that is made from the catalogue.
    static let opening = "        \"event\": {\n          \"enum\": [\n"
    static let closing = "      },\n      \"required\": ["

    /// The words of events, and the form of each member that any of them has.
    static var schema: [String] {
        var lines = list(kinds.map(word)) + ["          ]", "        },"]
        var known: Set<String> = []
        for kind in kinds {
            for member in members(kind) where known.insert(member.name).inserted {
                lines.append("        \"\(member.name)\": {")
                lines += member.form
                lines.append("        },")
            }
        }
        lines[lines.count - 1] = "        }"
        return lines
    }

    private static func word(_ kind: SocketEvent.Kind) -> String { text(SocketJSON.word(kind)) }

    /// A word without its quotes.
    static func text(_ word: JSON) -> String {
        if case .string(let text) = word { text } else { "" }
    }

    private static func members(_ kind: SocketEvent.Kind) -> [Member] {
        let row = EventCatalogue[kind]
        return (row.hasTag ? [Member("tag", ["integer"])] : []) + row.first.forms + row.second.forms
    }

    /// The form of a member, as the lines of a JSON Schema.
    struct Member {
        var name: String
        var form: [String]

        init(_ name: String, _ types: [String], minimum: Int? = nil) {
            self.name = name
            let end = minimum == nil ? "" : ","
            form =
                types.count == 1
                ? ["          \"type\": \"\(types[0])\"\(end)"]
                : ["          \"type\": ["] + list(types) + ["          ]\(end)"]
            if let minimum { form.append("          \"minimum\": \(minimum)") }
        }

        init(_ name: String, words: [String]) {
            self.name = name
            let lines = list(words)
            form = ["          \"enum\": ["] + lines.dropLast() + [lines.last.map { $0 + "," } ?? ""]
            form += ["            null", "          ]"]
        }
    }
}

/// The elements of an array of texts.
private func list(_ texts: [String]) -> [String] {
    texts.enumerated().map { "            \"\($1)\"" + ($0 + 1 < texts.count ? "," : "") }
}

extension EventNumber {
    var isUsed: Bool { !members(0, of: nil).isEmpty }

    fileprivate var forms: [EventLists.Member] {
        switch self {
        case .unused: []
        case .bytes(let name), .size(let name), .count(let name, _, _), .session(let name), .rule(let name):
            [.init(name, ["integer"], minimum: 0)]
        case .total(let name), .offset(let name): [.init(name, ["integer", "null"], minimum: 0)]
        case .milliseconds(let name), .microseconds(let name): [.init(name, ["number"])]
        case .timeout(let name): [.init(name, ["number", "null"])]
        case .errno: [.init("errno", ["integer", "null"]), .init("error", ["string", "null"])]
        case .alert: [.init("alert", ["integer"], minimum: 0), .init("name", ["string"])]
        case .attempt: [.init("address", ["string", "null"])]
        case .operation: [.init("operation", ["integer"], minimum: 0)]
        case .verifyCode: [.init("verify_code", ["integer"])]
        case .choice(let choices): Self.forms(choices)
        }
    }

    private static func forms(_ choices: [EventChoice]) -> [EventLists.Member] {
        choices[0].members.map(\.key).map { name in
            let words = facts(choices, name).compactMap { fact in
                if case .word(let word) = fact { EventLists.text(JSON(word: word)) } else { nil }
            }
            return words.isEmpty ? .init(name, ["boolean", "null"]) : .init(name, words: words)
        }
    }

    private static func facts(_ choices: [EventChoice], _ name: String) -> [EventChoice.Fact] {
        choices.compactMap { choice in choice.members.first { $0.key == name }?.value }
    }

    /// For the page of the wire.
    fileprivate var meaning: String {
        switch self {
        case .unused: ""
        case .bytes(let name), .size(let name), .count(let name, _, _), .session(let name), .rule(let name): "`\(name)`"
        case .total(let name): "`\(name)`, or 0 if it is not known"
        case .offset(let name): "`\(name)`, or a negative number if there is none"
        case .milliseconds(let name): "`\(name)`, in milliseconds"
        case .microseconds(let name): "`\(name)`, in microseconds"
        case .timeout(let name): "`\(name)`, in milliseconds; negative: none"
        case .errno: "`errno`, or 0"
        case .alert: "`alert`"
        case .attempt: "index of the address in the attempts of `Connect`"
        case .operation: "`operation`"
        case .verifyCode: "`verify_code`"
        case .choice(let choices):
            choices.enumerated().map { index, choice in
                let facts = choice.members.map { name, fact in
                    switch fact {
                    case .flag(let isTrue): (isTrue ? "" : "not ") + "`\(name)`"
                    case .word(let word): "`\(name)` is `\(EventLists.text(JSON(word: word)))`"
                    }
                }
                return "\(index): " + facts.joined(separator: ", ")
            }.joined(separator: "; ")
        }
    }
}
