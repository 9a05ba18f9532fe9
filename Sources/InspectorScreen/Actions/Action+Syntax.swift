import InspectorCore
import SocketCore

extension Action {
    /// The arguments of an action after `:`, and their effect.
    package struct Syntax: Sendable {
        /// The usage in the help: `ADDRESS [timeout 10s]`.
        package let usage: String
        /// The sentence in the help.
        package let help: String
        /// The words that are valid arguments.
        let words: [String]
        /// Returns further arguments that are useful now, offered before the words.
        let offers: @Sendable (Model) -> [String]
        /// Parses the arguments.
        let read: @Sendable (Instruction.Arguments) throws(Instruction.Failure) -> Body

        /// - Parameters:
        ///   - read: Parses the arguments. Throws a sentence for invalid ones.
        ///   - perform: Performs the action with them.
        static func arguments<Value>(
            _ usage: String, _ help: String, words: [String] = [],
            offers: @escaping @Sendable (Model) -> [String] = { _ in [] },
            _ read: @escaping @Sendable (Instruction.Arguments) throws(Instruction.Failure) -> Value,
            _ perform: @escaping @Sendable (inout Model, Value) -> [Effect]
        ) -> Syntax where Value: Sendable {
            Syntax(usage: usage, help: help, words: words, offers: offers) {
                (arguments) throws(Instruction.Failure) in
                let value = try read(arguments)
                return .effects { perform(&$0, value) }
            }
        }

        /// A syntax with one of these words as its argument.
        static func word<Value>(
            _ help: String, _ values: [(word: String, value: Value)],
            _ perform: @escaping @Sendable (inout Model, Value) -> Void
        ) -> Syntax where Value: Sendable {
            let words = values.map(\.word)
            return .arguments(
                words.joined(separator: "|"), help, words: words,
                { (arguments) throws(Instruction.Failure) in
                    guard let found = values.first(where: { $0.word == arguments.text }) else {
                        throw arguments.unknown(arguments.text, words)
                    }
                    return found.value
                },
                { model, value in
                    perform(&model, value)
                    return []
                })
        }
    }

    /// The actions that take arguments, in the order of the help.
    package static let commands = all.filter { $0.syntax != nil }

    /// The usage in the help: `select ID`.
    package var usage: String { syntax.map { $0.usage.isEmpty ? name : "\(name) \($0.usage)" } ?? name }
}
