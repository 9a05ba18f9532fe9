import SocketCore

extension Model {
    /// The command line opens above the footer, wherever the cursor is.
    mutating func openCommandLine() {
        field = OpenField(purpose: .command, editor: LineEditor(), before: "")
        field?.editor.remember(commandHistory)
    }

    /// Ends the command line and does what it says; one that means nothing stays to be mended.
    mutating func acceptCommandLine() -> [Effect] {
        guard let line = field?.editor.text, line.contains(where: { $0 != " " }) else {
            field = nil
            return []
        }
        if case .failure(let failure) = Instruction.parse(line) {
            field?.error = failure.message
            return []
        }
        field = nil
        commandHistory.removeAll { $0 == line }
        commandHistory = (commandHistory + [line]).suffix(LineEditor.historyLimit)
        return run(line)
    }

    /// What the word at the end of the command line can become.
    package var commandCandidates: [String] {
        guard let field, field.purpose == .command else { return [] }
        let text = field.editor.text
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.count > 1, let last = words.last else { return Action.names.filter { $0.hasPrefix(text) } }
        guard let syntax = Action.named(words[0])?.syntax else { return [] }
        return (syntax.offers(self) + syntax.words).filter { $0.hasPrefix(last) }
    }

    /// Completes the last word to what all that it can become have in common.
    mutating func completeCommand() {
        guard field?.purpose == .command else { return }
        let candidates = commandCandidates
        guard var common = candidates.first, let text = field?.editor.text else { return }
        for candidate in candidates {
            while !candidate.hasPrefix(common) { common.removeLast() }
        }
        let head = text.lastIndex(of: " ").map { String(text[...$0]) } ?? ""
        field?.editor.set(head + common + (candidates.count == 1 ? " " : ""))
        field?.error = nil
    }
}
