import SocketCore

/// A tool with its validated arguments.
package enum ToolCall: Equatable, Sendable {
    case why(HostTarget)
    case host(filter: String, limit: Int)
    case connections(program: String)
    case events(program: String, since: UInt64, limit: Int)

    package struct Problem: Error, Equatable, Sendable {
        package var sentence: String
        /// Whether the tool exists, and only its arguments are wrong.
        package var isOfArguments = true
    }

    /// One row for each tool: its name, its description and its arguments.
    package enum Kind: String, CaseIterable, Sendable {
        case why, host, connections, events

        private var help: String {
            switch self {
            case .why:
                "Why a program hangs on its sockets: the verdict, the program at fault, how long, and a command that shows "
                    + "more. Takes 1 to 7 seconds."
            case .host:
                "The sockets of every program on this host: owner, state, unread and unsent bytes, what the program waits "
                    + "for, and warnings. Takes a second or two."
            case .connections:
                "The sockets of one program, from inside if it allows inspection, otherwise from outside."
            case .events:
                "What happened to the sockets of a program that allows inspection: reads, writes, timeouts, errors."
            }
        }

        fileprivate var arguments: [Argument] {
            switch self {
            case .why: [Argument("target", .string, "\(HostTarget.forms)", isRequired: true)]
            case .host:
                [
                    Argument("filter", .string, "as on the screen: program:nginx port:443 state:listen warn:any"),
                    .limit,
                ]
            case .connections: [.program]
            case .events:
                [
                    .program,
                    Argument("since", .integer, "events starting at this sequence number; 0: all that are kept"),
                    .limit,
                ]
            }
        }

        /// Returns the entry in tools/list.
        package func description(in version: ToolServer.Version) -> JSON {
            var members = [
                JSON.Member("name", .string(rawValue)), JSON.Member("description", .string(help)),
                JSON.Member("inputSchema", schema),
            ]
            if version >= .march2025 {
                members.append(
                    JSON.Member("annotations", ["readOnlyHint": .bool(true), "openWorldHint": .bool(false)]))
            }
            return .object(members)
        }

        private var schema: JSON {
            [
                "type": "object", "properties": .object(arguments.map { JSON.Member($0.name, $0.schema) }),
                "required": .array(arguments.filter(\.isRequired).map { .string($0.name) }),
                "additionalProperties": .bool(false),
            ]
        }
    }

    fileprivate struct Argument {
        enum Shape: String { case string, integer }
        var name: String
        var shape: Shape
        var help: String
        var isRequired: Bool

        init(_ name: String, _ shape: Shape, _ help: String, isRequired: Bool = false) {
            (self.name, self.shape, self.help, self.isRequired) = (name, shape, help, isRequired)
        }

        static let limit = Argument("limit", .integer, "at most this many, 1 to 10000; 200 by default")
        static let program = Argument("program", .string, "a PID or a program's name", isRequired: true)

        var schema: JSON { ["type": .string(shape.rawValue), "description": .string(help)] }
    }

    /// Parses the parameters of tools/call.
    init(_ parameters: JSON) throws(Problem) {
        guard let name = parameters["name"]?.string, let kind = Kind(rawValue: name) else {
            let names = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem(
                sentence: "no such tool: \(parameters["name"]?.string ?? "-"); there are \(names)", isOfArguments: false
            )
        }
        let given = parameters["arguments"] ?? .object([])
        guard case .object(let members) = given else { throw Problem(sentence: "arguments must be an object") }
        for member in members where !kind.arguments.contains(where: { $0.name == member.name }) {
            throw Problem(sentence: "\(name) has no argument \(member.name)")
        }
        let arguments = Arguments(kind: kind, given: given)
        switch kind {
        case .why:
            let target = try arguments.text("target")
            do throws(HostTarget.Problem) {
                self = .why(try HostTarget.parse(target))
            } catch {
                throw Problem(sentence: error.sentence)
            }
        case .host: self = .host(filter: try arguments.optionalText("filter"), limit: try arguments.limit())
        case .connections: self = .connections(program: try arguments.text("program"))
        case .events:
            self = .events(
                program: try arguments.text("program"), since: UInt64(try arguments.number("since", 0, 0...(.max))),
                limit: try arguments.limit())
        }
    }

    private struct Arguments {
        var kind: Kind
        var given: JSON

        func text(_ name: String) throws(Problem) -> String {
            guard let text = given[name]?.string, !text.isEmpty else {
                throw Problem(sentence: "\(kind.rawValue) needs \(name), a string")
            }
            return text
        }

        func optionalText(_ name: String) throws(Problem) -> String {
            given[name] == nil || given[name] == .string("") ? "" : try text(name)
        }

        func number(_ name: String, _ otherwise: Int64, _ range: ClosedRange<Int64>) throws(Problem) -> Int64 {
            guard let value = given[name] else { return otherwise }
            guard let number = value.integer, range.contains(number) else {
                let upTo =
                    range.upperBound == .max ? "from \(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
                throw Problem(sentence: "\(name): \(value.text) is not a number \(upTo)")
            }
            return number
        }

        func limit() throws(Problem) -> Int { Int(try number("limit", 200, 1...10_000)) }
    }
}

/// The result of a tool, or the reason why it failed.
package struct ToolResult: Equatable, Sendable {
    package var text: String
    /// The result as JSON, for programs.
    package var content: JSON?
    package var isError = false

    package init(_ text: String, _ content: JSON? = nil) { (self.text, self.content) = (text, content) }

    package static func failure(_ sentence: String) -> ToolResult {
        var result = ToolResult(sentence)
        result.isError = true
        return result
    }

    func json(in version: ToolServer.Version) -> JSON {
        var members = [JSON.Member("content", .array([["type": "text", "text": .string(text)]]))]
        if let content, version >= .june2025 { members.append(JSON.Member("structuredContent", content)) }
        if isError { members.append(JSON.Member("isError", .bool(true))) }
        return .object(members)
    }
}
