import SocketCore

extension Action {
    /// What an action takes after `:`, and what it does with that.
    package struct Syntax: Sendable {
        /// As the help writes it: `ADDRESS [timeout 10s]`.
        package let usage: String
        /// The sentence in the help.
        package let help: String
        /// Words that can stand as an argument.
        let words: [String]
        /// Further arguments that make sense now, offered before the words.
        let offers: @Sendable (Model) -> [String]
        /// Reads the arguments.
        let read: @Sendable (Instruction.Arguments) throws(Instruction.Failure) -> Body

        /// - Parameters:
        ///   - read: Reads the arguments. It throws a sentence for what is not allowed.
        ///   - perform: Does what they ask for.
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

        /// One of these words.
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

    /// As the help writes it: `select ID`.
    package var usage: String { syntax.map { $0.usage.isEmpty ? name : "\(name) \($0.usage)" } ?? name }
}
