import InspectorCore
import SocketCore
import SocketWorkshop

/// One line typed after `:`, bound to a key or written in a script: an action's name, as shown in the help, or a verb
/// with its arguments.
package struct Instruction: Sendable {
    /// The action's name.
    package let verb: String
    /// What it does with its arguments, or `nil` if there are none. It then does what its own key does.
    let body: Action.Body?

    package typealias Failure = InstructionText.Failure
    package typealias Arguments = InstructionText.Arguments

    /// Parses a line.
    package static func parse(_ line: String) -> Result<Instruction, Failure> {
        let line = line.drop { $0 == " " }
        let verb = String(line.prefix { $0 != " " })
        let rest = String(line.dropFirst(verb.count).drop { $0 == " " })
        do throws(Failure) {
            guard let action = Action.named(verb) else {
                if verb.isEmpty { throw Failure("", "type a command; Tab completes it") }
                throw Failure(verb, "no such command" + Spelling.suggestion(for: verb, among: Action.names))
            }
            if let syntax = action.syntax, !rest.isEmpty || action.uses.isEmpty {
                return .success(Instruction(verb: verb, body: try syntax.read(Arguments(verb: verb, text: rest))))
            }
            guard rest.isEmpty else { throw Failure(rest, "\(verb) takes no arguments") }
            return .success(Instruction(verb: verb, body: nil))
        } catch {
            return .failure(error)
        }
    }
}
