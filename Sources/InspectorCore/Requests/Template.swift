import SocketCore
import SocketWorkshop

/// A named message from a file: the text, its mode, and the read after it.
package struct Template: Equatable, Sendable {
    package var name: String
    package var mode: LineMode
    package var body: String
    package var ending: LineEnding
    /// The read queued after the message, or `nil` for none.
    package var readAfter: ReadRequest.Kind?

    package init(
        name: String, mode: LineMode, body: String, ending: LineEnding, readAfter: ReadRequest.Kind? = nil
    ) {
        self.name = name
        self.mode = mode
        self.body = body
        self.ending = ending
        self.readAfter = readAfter
    }

    /// Parses the templates of a document: a table each, with `body` and optionally `mode`, `eol` and `read-after`.
    /// - Returns: the templates or the first mistake.
    package static func all(in text: String) -> Result<[Template], TOML.Failure> {
        do throws(TOML.Failure) {
            var templates: [Template] = []
            var bodiless: [String: TOML.Position] = [:]
            for entry in try TOML.parse(text).get().entries {
                guard entry.path.count == 2 else {
                    throw TOML.Failure(entry.key, "each template is a table: [name], then body = \"...\"")
                }
                let index = templates.firstIndex { $0.name == entry.path[0] } ?? templates.count
                if index == templates.count {
                    templates.append(Template(name: entry.path[0], mode: .escapes, body: "", ending: .crlf))
                    bodiless[entry.path[0]] = entry.key
                }
                try templates[index].set(entry)
                if entry.path[1] == "body" { bodiless[entry.path[0]] = nil }
            }
            if let (name, position) = bodiless.min(by: { $0.value.line < $1.value.line }) {
                throw TOML.Failure(position, "the template \(name) has no body")
            }
            return .success(templates)
        } catch {
            return .failure(error)
        }
    }

    private mutating func set(_ entry: TOML.Entry) throws(TOML.Failure) {
        guard case .string(let value) = entry.value else {
            throw TOML.Failure(entry.position, "\(entry.path[1]) must be text in quotes")
        }
        switch entry.path[1] {
        case "body": body = value
        case "mode":
            guard let mode = LineMode(rawValue: value) else {
                let known = Spelling.alternatives(LineMode.allCases.map(\.rawValue))
                throw TOML.Failure(entry.position, "mode must be \(known), not \(value)")
            }
            self.mode = mode
        case "eol":
            guard let ending = LineEnding.allCases.first(where: { $0.word == value }) else {
                let known = Spelling.alternatives(LineEnding.allCases.map(\.word))
                throw TOML.Failure(entry.position, "eol must be \(known), not \(value)")
            }
            self.ending = ending
        case "read-after":
            do throws(ReadTextProblem) {
                readAfter = try Self.read(value)
            } catch {
                throw TOML.Failure(entry.position, "read-after: \(error)")
            }
        default:
            throw TOML.Failure(entry.key, "a template has body, mode, eol and read-after, not \(entry.path[1])")
        }
    }

    /// Parses a kind of read. A delimiter without a limit gets one, because a template is used without checking it.
    private static func read(_ text: String) throws(ReadTextProblem) -> ReadRequest.Kind {
        let kind = try ReadRequest.Kind.parse(text)
        if case .delimiter(let terminator, nil) = kind { return .delimiter(terminator, limit: 1 << 20) }
        return kind
    }
}
