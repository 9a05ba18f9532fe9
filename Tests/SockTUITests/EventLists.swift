import InspectorCore
import SocketCore
import SocketRecords

/// What the catalogue of events says, for the docs and the JSON Schema.
enum EventLists {
    private static let all = SocketEvent.Kind.allCases

    /// For JSON: each event's members.
    static var json: [String] {
        ManualLists.table(
            ["event", "members"],
            all.map { kind in
                [ManualLists.code(word(kind)), members(kind).map { "`\($0.name)`" }.joined(separator: ", ")]
            })
    }

    /// For the inspection wire: what each event's numbers are.
    static var wire: [String] {
        ManualLists.table(
            ["kind", "*tag*", "*first*", "*second*"],
            all.map { kind in
                let row = EventCatalogue[kind]
                return [
                    ManualLists.code(kind.rawValue), row.hasTag ? "yes" : "", row.first.meaning, row.second.meaning,
                ]
            })
    }

    private static func word(_ kind: SocketEvent.Kind) -> String { SocketJSON.word(kind) }

    /// The members that any event has, and their kinds.
    static var kinds: [(name: String, kind: FactKind)] {
        var known: Set<String> = []
        return all.flatMap(members).filter { known.insert($0.name).inserted }
    }

    private static func members(_ kind: SocketEvent.Kind) -> [(name: String, kind: FactKind)] {
        let row = EventCatalogue[kind]
        return (row.hasTag ? [("tag", .integer)] : []) + row.first.kinds + row.second.kinds
    }
}

extension EventNumber {
    var isUsed: Bool { !members(0, of: nil).isEmpty }

    fileprivate var kinds: [(name: String, kind: FactKind)] {
        switch self {
        case .unused: []
        case .bytes(let name), .size(let name), .count(let name, _, _), .session(let name), .rule(let name):
            [(name, .count)]
        case .total(let name), .offset(let name): [(name, .maybe(.count))]
        case .milliseconds(let name), .microseconds(let name): [(name, .span)]
        case .timeout(let name): [(name, .maybe(.span))]
        case .errno: [("errno", .maybe(.integer)), ("error", .maybe(.text))]
        case .alert: [("alert", .count), ("name", .text)]
        case .attempt: [("address", .maybe(.text))]
        case .operation: [("operation", .count)]
        case .verifyCode: [("verify_code", .integer)]
        case .choice(let choices): Self.kinds(choices)
        }
    }

    private static func kinds(_ choices: [EventChoice]) -> [(name: String, kind: FactKind)] {
        choices[0].members.map(\.key).map { name in
            let words = facts(choices, name).compactMap { fact in
                if case .word(let word) = fact { word.snakeCased } else { nil }
            }
            return (name, .maybe(words.isEmpty ? .flag : .words(words)))
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
                    case .word(let word): "`\(name)` is `\(word.snakeCased)`"
                    }
                }
                return "\(index): " + facts.joined(separator: ", ")
            }.joined(separator: "; ")
        }
    }
}
