import FoundationEssentials

/// A JSON value that a test looks into.
enum Value: Decodable, Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([Value])
    case object([String: Value])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([Value].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: Value].self))
        }
    }

    subscript(_ name: String) -> Value {
        if case .object(let members) = self { members[name] ?? .null } else { .null }
    }

    var string: String? { if case .string(let value) = self { value } else { nil } }
    var number: Double? { if case .number(let value) = self { value } else { nil } }
    var array: [Value] { if case .array(let values) = self { values } else { [] } }
}

/// What `--json` printed.
struct Report {
    let lines: [Value]

    /// Reads it back. JSONDecoder throws on a line that is not wholly JSON.
    init(_ text: String) throws {
        lines = try text.split(separator: "\n").map { try JSONDecoder().decode(Value.self, from: Data($0.utf8)) }
    }

    /// The lines of one type, in order.
    func lines(_ type: String) -> [Value] { lines.filter { $0["type"].string == type } }

    /// Each session as its last line has it, in the order of ids.
    var sockets: [Value] {
        var latest: [Double: Value] = [:]
        for line in lines("socket") { latest[line["id"].number ?? -1] = line }
        return latest.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The names of the events of one session, in order.
    func events(of id: Double?) -> [String] {
        lines("event").filter { $0["id"].number == id }.compactMap { $0["event"].string }
    }
}
